// Package runnertest runs an executor on a real bus and in real time, for tests of
// those that do runs outside of the process: child processes and the network do not
// live on virtual time.
package runnertest
