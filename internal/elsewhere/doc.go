// Package elsewhere runs a command of another scheduler, such as a line of a crontab, and reports to a server
// when it began and how it ended.
//
// The command comes first. It is started before anything is looked up; what is wrong with the configuration,
// the network or the disk never keeps it from running, nor changes its exit code; and nothing waits for the
// server longer than a patience after the command has ended. A report that cannot be sent is kept in the spool
// of the user, and sent by the next wrapper that reaches its server.
//
// The packages below: ping sends one report, spool keeps them, output reads what the command writes.
package elsewhere
