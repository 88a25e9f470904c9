// Package shard is the state machine at the heart of the scheduler: which runs a
// shard owes, and what to publish for them.
//
// A [Machine] is a value without goroutine, lock, clock or I/O. Its owner feeds it
// job versions, calendars, events and commands, calls [Machine.Step] with the time,
// publishes the [Batch] that comes back as one atomic batch, and says how that went:
//
//	PutVersion, PutCalendar, PutHold ─┐
//	Event, Command ───────────────────┼──▶ Machine ── Step(now) ──▶ Batch
//	Committed(first sequence) ────────┘                  cursor, triggers, deferred items, record
//
// # Guarantees
//
// The batch begins with the shard's cursor, which JetStream stores only if the
// machine wrote the one before it. Triggers, deferred items, the position in time
// and the position in the shard's events therefore move together or not at all. A
// machine whose batch was refused has lost the shard and is thrown away; its
// successor is made from the cursor and the deferred items on the stream, and
// decides what this one did not. So each fire is decided exactly once, whatever
// crashes in between, and no clock or lease takes part in that.
//
// # Time
//
// A sweep decides everything that is due in (done, to], job by job in the order of
// the jobs' hashes. When a batch cannot hold all of it, the cursor says how far the
// sweep has come, and jobs that it has passed are done up to "to", the others up to
// "done". The owner's clock may stand or step back: then nothing is due until it
// has caught up with the cursor.
//
// Fires that are noticed late are judged by the job's newest version: its misfire
// policy, and whether the job is paused or deleted by now. When they were due is a
// matter of the version that was effective at each fire.
//
// # Versions heard late
//
// A version is written first and heard of later, and time does not wait: the position
// may have passed the instant from which the version is effective. The fires in between
// are owed all the same. The cursor says up to which revision of JOBS versions are
// known; a later one that begins before the position is late, and its fires up to the
// position are decided before any sweep goes on, version by version in the order of
// their revisions. A successor finds the same versions late, as all that decides on it
// is stored: the cursor, and the version with its revision. So a new job gets its fires
// from the instant at which it was saved, whatever crashes before its owner hears of it.
//
// What is decided stays decided. If the version before has fired in the time of a late
// one, that stands, and the late version's own fires begin after the last of those
// fires; after a fixed delay, or a version that the owner cannot read, which may have fired at any
// instant, they begin at the position. The cursor keeps such a beginning for as long as it matters.
// It also lists the last fires that calendars have moved to another day: calendars change, so these
// cannot be computed again. So no fire time ever has two outcomes, however an edit changes the kind
// of schedule or the spread.
//
// # Runs in pieces
//
// A run that is done in pieces is one deferred item, which has a letter for each piece:
// it waits, is with the executors, or has ended and how. Deciding the run costs the item
// alone. Its pieces are triggered by the steps that follow, with an item that says so,
// as there is room and as the job allows; so are those that an attempt repeats:
//
//	waiting ── triggered ── (begun) ── ended well
//	   ▲                       └────── ended badly ──┐
//	   └── next attempt, once all have ended ────────┘ if the rule allows, and it could be enough
//
// # Backfills
//
// Fires of the past that somebody wants to run are two deferred items: the list of
// them, written once, and how many have begun. A step begins runs of them last, when
// nothing due is left to decide, and as many as may be alive at once. Such a run is
// watched, so that its end lets the next one begin, and counts for nothing else.
//
// # Instances
//
// Which instances are online is told by [Machine.PutInstances] and looked at once, when
// the run begins; its item says what came of it.
//
// # Partitions
//
// In a cluster with several partitions, word of a parent's end for a child in another one is an item
// of the parent's shard. The owner relays it: [Relay.Next] has what waits, in order. The child's
// machine has a mark of the last word that it has had from each shard, and passes over repeats.
package shard
