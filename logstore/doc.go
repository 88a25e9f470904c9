// Package logstore keeps the history of runs and their log lines, and answers
// queries over them.
//
// It declares the [Store] interface, updates and filters. Runs and lines are in job/runlog. Package sqlite keeps a store in
// one file beside the program, package clickhouse in a server that programs share;
// package logstoretest is the suite that every store
// passes; package ingest fills a store from the bus.
//
// # Model
//
// A [runlog.Run] is one attempt of a run, or several fires that share one outcome (skipped,
// missed). A run that is done in pieces has a row of its own for each [runlog.Piece] of each
// attempt, beside the one for the attempt as a whole. Lists and counts have every run
// once: its newest attempt, as a whole.
//
// What the bus says arrives as an [Update]: a line of a shard's record, or an
// executor's event. Updates come late, more than once and in any order, and records
// and events on two streams, so a Run is a merge that does not depend on the order:
//
//	status       queued < pending < running < final; it never goes back
//	final        a record's word counts before an event's: the shard's owner has the
//	             last one. Of two events the first one written stays
//	finished_at  the event's, if it says the same as the record or there is no such
//	             record; else when the record was made
//	running      the highest delivery speaks: an attempt that was redelivered
//	             shows its new instance
//	reason       a final record's, before a pending one's, before a queued one's
//	other fields what is known wins over what is not
//
// An end by an event that is not the run's end is kept as a [runlog.Change], "late". An event
// may say that another attempt follows: the row is Retrying until a record has that
// attempt, or a final status for this one.
//
// Whose a run is never changes: updates about a run of another job are left out.
//
// A Change is a point on the timeline of a run, a [runlog.Line] one line of its log. A [Fact] is
// what happened beside runs: a change in the audit log, an incident and the messages
// about it, a discrepancy of the ledger.
//
// # Order
//
// The time within a run id is the run's fire time, so (run_id, attempt) is the order
// (fire_time, run_id, attempt): the order of lists, and of their cursors. Pieces are in
// the order of their index.
//
// # Guarantees
//
// A write is all or nothing and may be repeated: what is there already stays as it
// is. Reads see every write that returned before them. The store is never in the
// firing path: while it is away, history waits on the bus.
package logstore
