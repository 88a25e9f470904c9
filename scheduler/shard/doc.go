// Package shard is the state machine at the heart of the scheduler: it decides which runs a
// shard owes, and what to publish for them.
//
// A [Machine] is a value without goroutine, lock, clock or I/O. Its owner feeds it
// job versions, calendars, events and commands, calls [Machine.Step] with the time,
// publishes the [Batch] that Step returns as one atomic batch, and reports that it is stored:
//
//	Put, Cluster.PutCalendar, Cluster.PutHold ─┐
//	Event, Requests.Submit ────────────────────┼──▶ Machine ── Step(now) ──▶ Batch
//	Committed(first sequence) ─────────────────┘                  cursor, triggers, deferred items, record
//
// # Parts
//
// The machine is a root with parts. Each part has its own state and a file or two that bear its name;
// all of them write to the one batch that Step passes to them. A part refers only to parts above it:
//
//	jobs        which jobs the shard has, with the versions that still matter
//	items       the deferred items on the stream, and which of them to delete
//	Cluster     calendars, pauses, instances, and room for runs
//	pieces      triggers pieces of runs (piece_states.go: the state of one run)
//	steps       begins the steps of workflows (definition.go: a version's; run_steps.go: the state of one run)
//	watches     jobs whose runs are done elsewhere, and their early pings (expected.go: their runs)
//	runs        watched runs: admission, attempts, retries, overlap (lanes.go: queues by key), time limits
//	fires       judges due fires, by pauses and calendars, and enacts the verdicts
//	delays      what fixed-delay jobs wait for
//	pings       reports of runs that are done elsewhere (matcher.go: which run a ping reports)
//	sweep       the position in time, and what is due up to now
//	Relay       ends of parents whose children are in another partition
//	children    ends of parents: tells children, runs jobs of this shard (call.go: those that steps call)
//	Failures    runs in a row that ended badly, and jobs to pause for it
//	Events      the position in EVT, and ends of attempts without effect yet
//	waiting     runs that were asked for at an instant
//	Cancels     wishes to end runs
//	Requests    runs asked for by people and programs
//	Backfills   fires of the past asked for by people
//	versions    what the machine has heard of JOBS, and fires behind the position
//
// Where a part has to cause something in a later one, it gets a func: runs calls [Machine.runEnded],
// which lists what follows from the end of a run. A new part gets a field of Machine, a line in [New],
// a line in Step, one in the list of what follows, its kinds of item in [Machine.PutDeferred], and,
// if a successor has to know more than its items, a line for the cursor in seal.
//
// # Guarantees
//
// The batch begins with the shard's cursor, which JetStream stores only if the
// machine wrote the one before it. Triggers, deferred items, the position in time
// and the position in the shard's events therefore move together or not at all. A
// machine whose batch was refused has lost the shard and is thrown away; its
// successor starts from the cursor and the deferred items on the stream, and
// decides what this one did not. So each fire is decided exactly once, whatever
// crashes in between, and no clock or lease takes part in that.
//
// # Time
//
// A sweep decides everything that is due in (done, to], job by job in the order of
// the jobs' hashes. When a batch cannot hold all of it, the cursor records how far the
// sweep has come: jobs that it has passed are done up to "to", the others up to
// "done". The owner's clock may stand or step back: then nothing is due until it
// has caught up with the cursor.
//
// Fires noticed late (misfires) are judged by the job's newest version: its misfire
// policy, and whether the job is paused or deleted by now. When they were due follows
// from the version that was effective at each fire.
//
// # Late versions
//
// A version is written first and heard of later, and time does not wait: the position
// may have passed the instant from which the version is effective. The fires in between
// are still owed. The cursor records up to which revision of JOBS versions are
// known; a later one that begins before the position is late. Its fires up to the
// position are decided before any sweep goes on, version by version in the order of
// their revisions. A successor finds the same versions late, because everything that decides this
// is stored: the cursor, and the version with its revision. So a new job gets its fires
// from the instant at which it was saved, whatever crashes before its owner hears of it.
//
// What is decided stays decided. If the version before has fired in the time of a late
// one, those fires stand, and the late version's own fires begin after the last of
// them. After a fixed delay, which may have fired at any instant, they begin at the position. The
// cursor keeps such a beginning for as long as it matters.
// It also lists the last fires that calendars moved to another day: calendars change, so these
// cannot be computed again. So no fire time ever has two outcomes, however an edit changes the kind
// of schedule or the spread.
//
// # Runs in pieces
//
// A run that is done in pieces is one deferred item with a letter for each piece:
// it waits, is with the executors, or has ended and how. Deciding the run costs this item
// alone. Later steps trigger its pieces, as the batch has room and the job allows, and
// update the item; so they do with pieces that an attempt repeats:
//
//	waiting ── triggered ── (begun) ── ended well
//	   ▲                       └────── ended badly ──┐
//	   └── next attempt, once all have ended ────────┘ if the rule allows, and it could be enough
//
// # Workflows
//
// A run of a workflow does the steps of its version as their graph says; package workflow has the rules.
// It has two items. One is written once; the other has the state of each step, and each batch that
// changes a state writes it again. A step that has begun is a run of its own, with the item of any watched
// run. Its id follows from the workflow's run and the step's name, its cause is "step", and its parent is
// the workflow's run. The job's overlap, children, failures and delays count the workflow's run alone.
// The result of a step is an item, too, for as long as another step may ask for it.
//
// A step may call another job, of any shard. The called run has the id of the step, and its owner answers with
// its end. Calls, answers and call-offs are letters, as the ends of parents are.
//
// The end of a step decides in the same batch what follows in the graph. Steps begin as batches
// have room, as pieces do. When a run is called off, steps that have not begun are cancelled and those that have
// are killed; then finally steps run, and then it ends.
//
// # Runs elsewhere
//
// A run that is done elsewhere has no trigger. It is an item that waits for pings, which report its start, its end, or
// both. Pings are events that name a job. The machine finds the run of each, and records the outcome. So pings may come
// late, early and in any order, while the shard has no owner, and from clocks that are wrong.
//
//	expected ──(start)── begun ──(end)── ended
//	    └── missed            └── timed out
//
// # Backfills
//
// A backfill runs fires of the past that somebody asked for. It is two deferred items: the list of
// the fires, written once, and how many have begun. A step begins its runs last, when
// nothing due is left to decide, and as many as may be alive at once. Such a run is
// watched, so that its end lets the next one begin, and counts for nothing else.
//
// # Instances
//
// The owner reports with [Machine.PutInstances] which instances are online. A run that every instance
// does reads this list once, when it begins; its item lists the instances.
//
// # Partitions
//
// In a cluster with several partitions, the end of a parent whose child is in another one is an item
// of the parent's shard. The owner relays it: [Relay.Next] returns what waits, in order. The child's
// machine keeps a mark of the last such end from each shard, and passes over repeats.
package shard
