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
// What is decided stays decided. A machine that hears of a version when its position
// has passed the instant from which that is effective has given the fires in between
// the fate of the version before, and of the new one's owes none that was due by
// then. What is not promised: if such a version has a greater spread offset, or is
// the first with a fixed delay or without one, a fire time that the version before
// has run may be due once more, under the same run id.
package shard
