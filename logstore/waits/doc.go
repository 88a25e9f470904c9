// Package waits finds out whether the runs are there for which steps of workflows wait.
//
//	steps that wait, in the history ──┐
//	fires that a job owed, the ledger ┼──▶ [Judge] ──▶ "met", with the runs, to the owner of the step's job
//	their runs, and repeats of these ─┘
//
// A fire is met by a run of it that succeeded: the schedule's own, one that a backfill made, or a rerun. Fires that
// a calendar excluded are not owed. All others are: one that was missed or skipped, or whose run failed, keeps the step
// waiting, until somebody repeats it or the wait expires.
//
// The owner of the step alone decides; it is told again until it has. So one [Finder] of a cluster should be at work,
// and two do no harm.
//
// # Cost
//
// A look for steps that wait is one look into an index of the history: each second, or each five if there are none. To
// judge one costs two queries of the history and three of the bus, and some 0.1 ms for each fire: 2 ms for a day of
// hours, 80 ms for a day of minutes, on a busy machine of two cores with SQLite. Steps that wait for the same are judged
// together. All of it takes a fifth of a core at most, whatever waits; then steps are told later. The groups whose jobs
// wait share it, and the 4,000 steps that are looked at: many waits of one group hold up no other group.
//
// While the history is away nothing is found, and steps wait longer.
package waits
