// Package cluster is what the servers of a cluster keep in NATS: its streams and buckets, and
// what is in them. Everything durable that the system knows while it runs is here.
//
// A [Conn] is a connection of a server. Setup makes what is missing, Open reads what is fixed
// and the keys of tokens. Then there is a file for each thing that is kept: jobs, groups,
// calendars, scripts, secrets, the switch for everything (hold.go), retention, what runs were
// given, dead letters, findings of the ledger, and what one server measures for all
// (measured.go).
//
// An [Edit] says who changes something and on what condition; [job.ErrConflict] says that the
// condition does not hold. A Watch method gives what there is, a nil entry, then every change.
//
// Executors link none of this: they live on packages bus and bus/jet.
package cluster
