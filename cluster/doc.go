// Package cluster keeps the durable state of the servers of a cluster in NATS. It changes when the
// servers keep another thing, or keep a thing in another way.
//
// A [Conn] is the connection of a server. Setup makes what is missing of streams and buckets, and Open
// reads what is fixed. A Conn has a small type for each thing that is kept, in a file of its own:
//
//	[Conn.Jobs], [Conn.Calendars], [Conn.Scripts], [Conn.Secrets]   what should run, and since when
//	[Conn.Groups], [Conn.Instances], [Conn.Attempts]                executors, and the runs that they have
//	[Conn.Whereabouts]                                              what became of a run
//	[Conn.Pauses], [Conn.Retention], [Conn.Overrides]               what people set
//	[Conn.Events], [Conn.DeadLetters], [Conn.Refusals]              what executors report
//	[Conn.Nodes], [Conn.Shards], [Conn.Streams], [Conn.Shares]      the servers, and the room that is left
//	[Conn.Ingest], [Conn.Stores], [Conn.Findings], [Conn.Targets]   the log store, and what is found in it
//	[Conn.Bridges], [Conn.Restore]                                  XXL-JOB, and backups
//
// An [Edit] says who changes something and on what condition; [job.ErrConflict] says that the
// condition does not hold. A Watch method gives what there is, a nil entry, then every change.
//
// Executors link none of this: they use packages bus and bus/jet.
package cluster
