// Package logstore keeps the history of runs and their log lines, and answers
// queries over them.
//
// It declares the model and the [Store] interface. Package sqlite keeps a store in
// one file beside the program, package clickhouse in a server that programs share;
// package logstoretest is the suite that every store
// passes; package ingest fills a store from the bus.
//
// # Model
//
// A [Run] is one attempt of a run, or several fires that share one fate (skipped,
// missed). What the bus says about it arrives as an [Update]: a line of a shard's
// record, or an executor's event. Updates come late, more than once and in any
// order, so a Run is a merge that does not depend on the order:
//
//	status       queued < pending < running < final; it never goes back
//	final        the first one written stays; another is kept as a Change, "late"
//	running      the highest delivery speaks: an attempt that was redelivered
//	             shows its new instance
//	other fields what is known wins over what is not
//
// A [Change] is a point on the timeline of a run, a [Line] one line of its log.
//
// # Order
//
// The time within a run id is the run's fire time, so (run_id, attempt) is the order
// (fire_time, run_id, attempt): the order of lists, and of their cursors.
//
// # Guarantees
//
// A write is all or nothing and may be repeated: what is there already stays as it
// is. Reads see every write that returned before them. The store is never in the
// firing path: while it is away, history waits on the bus.
package logstore
