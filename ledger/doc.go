// Package ledger proves that jobs fired: it computes anew, from the versions that a job
// had, every fire that it owed in a range of time, and lays beside each what the history
// says became of it.
//
//	versions in JOBS ──▶ fires that were owed ──┐
//	cursors on TRIG ───▶ up to where decided ───┼──▶ Entry for Entry: ran, caught up, skipped,
//	history ───────────▶ what became of them ───┘    missed, pending, or a discrepancy
//
// It shares the schedule's arithmetic with the scheduler, package job, the language of conditions, and
// nothing else: not the state machine, its position, or what it remembers.
//
// # What counts as a discrepancy
//
// A fire of which the history knows nothing, though its shard's position has passed it; a
// run for a fire that no version had; two outcomes for one fire; a fixed-delay job that has
// stopped to fire. Whether a run went well is no matter of the ledger, but for one in pieces: it has to end as the
// share of them says that has to succeed. Of a step's pieces the ledger counts the ends; of a run's it reads the
// tally in its reason, as one look at the pieces of each would cost too much. Runs that no schedule asked
// for are owed to nobody; but if they are runs of a workflow, their steps are judged.
//
// The steps of a workflow's run are judged too: each by its edges, its condition, and how the steps
// before it ended and when, and the run by how its steps did. The rules are written apart from those of package
// workflow, by which the scheduler goes. That a step was cancelled or resolved by a person, or that a
// person ended the run, no graph can say: this is taken as it is recorded. Of the rounds of a step that
// was retried, the newest counts. The end of a wait has to fit what was waited for. What a rerun has taken over must have succeeded in the run that did it.
//
// A schedule that shifts fires from days that its calendars exclude owes a fire on each of its own
// days, which ran or was moved. To where it was moved only the record of that run says, as the
// ledger does not know the calendars of the past.
//
// # What cannot be judged
//
// The ledger says so, instead of guessing:
//
//	undecided   the shard's cursor, as it was read first, has not passed the fire, or
//	            not heard of its version yet
//	unjudged    the fire is older than the history or than the versions that are kept; or
//	            records that were made before the cursor was read are not in the history
//	            yet, and the fire may be in one of them
//
// So there is no time to settle: a fire can be judged as soon as the cursor has passed it
// and ingest has written what was recorded up to then, which takes a second or so.
//
// A discrepancy that a [Patrol] has found is judged again in each round, and marked once it
// has healed: a record may have come late, or been restored. Runs of workflows are judged for eight days by their
// fire times, since they last, and may be repeated.
//
// # The edges of versions
//
// An edit of which its owner heard late holds for fires after the last one that the
// version before had in the meantime; see package shard. The ledger reads that from the
// history: what the version before did after the edit counts as owed by it, if its
// schedule has such a fire. After a fixed delay there is nothing to read it from once the
// cursor has forgotten it; there, fires within [EdgeTolerance] of the edit of which
// nothing is known are unjudged.
//
// The fires of a fixed delay follow from the ends of runs and cannot be computed. Those
// that were recorded are listed; that they have stopped is noticed after
// [DelayTolerance].
package ledger
