// Package backfills carries out backfills of many jobs, as package job/backfill decides.
//
//	bucket LEDGER, backfill.<id> ──▶ [Driver] ──▶ the owner of each job: a backfill of it alone
//	          ▲                          │
//	          └── how the job stands ◀───┘◀── runs in the history
//
// # Guarantees
//
// A backfill goes on whichever server dies, and runs no fire twice. A job is marked as working before its owner is
// asked; the owner takes a request once, by its id; and an owner that does not know an id is asked again for a day only,
// as it forgets what ended a day ago. What a round is to run follows from the ledger, without all that the runs of
// earlier rounds have repeated, which the history knows by their ids. Nothing is counted before the history is complete.
//
// One [Driver] of a cluster should be at work; two do no harm.
//
// # Cost
//
// The document is written when a job begins or ends, and not for each run. An owner is asked each second while a
// backfill of its job is at work. While the history or an owner is away, what depends on it waits.
package backfills
