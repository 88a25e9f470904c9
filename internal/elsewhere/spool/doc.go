// Package spool keeps pings on disk while their server is away.
//
// Each ping is a file of its own: a line of JSON, and the output behind it. A file is written under another
// name, synced and renamed, so a crash never shows half of one. The ages of pings are computed when they are
// sent: by the boot clock until the machine is booted again, by the wall clock after.
//
//	0001764571200000000000-5f3a….ping     is sent by the next wrapper that reaches a server
//	0001764571200000000000-5f3a….refused  was refused; is tried again until it is 24 h old
//	lost                                  how many pings had to go because the spool was full
//
// Several wrappers may use a spool at once.
package spool
