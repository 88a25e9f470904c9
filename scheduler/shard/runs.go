package shard

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
	"unique"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/journal"
)

// stage is how far a run has come.
type stage int

const (
	queued    stage = iota // it waits for others of its job
	triggered              // an attempt of it is with the executors
	retrying               // it waits for its next attempt
	waiting                // a step that waits in the place of a task
	expected               // it is done elsewhere, and has not ended
)

// watchedRun is a run of a watched job, from the moment it is wanted to its final status.
type watchedRun struct {
	attempt
	jobID  uint32
	job    job.Name
	stage  stage
	body   unique.Handle[body]
	item   *item // the trigger, or the deferred item in which it waits
	since  int64 // when it began to wait, or was triggered
	due    int64 // of a retry, a wait or the next ping; 0 is never
	killed bool  // its end has been asked for
	over   bool  // it is watched no longer
	// reported is what pings have reported, if the run is done elsewhere.
	reported journal.PingState

	// cancelled says why the end of its attempt, whatever it is, counts as cancelled; "": it does not.
	cancelled string
	pieces    *runPieces  // nil unless it is done in pieces, and has begun
	steps     *runSteps   // nil unless it is of a workflow, and has begun
	of        *watchedRun // the workflow's run, if this is the run of a step
	index     int         // which, in the order of the document
	queuePlace
}

// runs are the watched runs of the shard: from the moment a run is wanted to its final status.
type runs struct {
	cfg     *Config
	jobs    *jobs
	items   *items
	cluster *Cluster
	pieces  *pieces
	steps   *steps
	watches *watches
	keys    *Keys

	byJob map[uint32]*jobRuns       // by id
	byID  map[job.RunID]*watchedRun // steps of workflows included
	wakes []uint32                  // ids of jobs whose runs need attention in the next step

	arm   func(id uint32)                                                                 // sets when a job needs attention again
	ended func(b *builder, a *watchedRun, s job.Status, result json.RawMessage, at int64) // does what follows from the end of a run elsewhere
}

// of returns the runs of a job, and begins to keep them if there are none.
func (rs *runs) of(id uint32) *jobRuns {
	r := rs.byJob[id]
	if r == nil {
		r = &jobRuns{}
		rs.byJob[id] = r
	}
	return r
}

// add enters a run.
func (rs *runs) add(a *watchedRun) {
	r := rs.of(a.jobID)
	if a.stage == queued {
		r.push(a)
	} else {
		r.activate(a)
	}
	if a.caller != nil {
		r.called++
	}
	a.key.hold()
	rs.byID[a.runID] = a
	rs.arm(a.jobID)
}

// drop removes a run that is over, and releases its items.
func (rs *runs) drop(a *watchedRun) {
	a.over = true
	rs.items.release(a.item)
	if rs.byID[a.runID] == a { // not a step that has called a run of that id
		delete(rs.byID, a.runID)
	}
	if a.of != nil {
		return
	}
	a.key.release()
	r := rs.byJob[a.jobID]
	if a.caller != nil {
		r.called--
	}
	if a.steps != nil {
		rs.steps.drop(a)
	}
	r.remove(a)
	rs.forgetSuccess(a.jobID)
}

// forget drops the runs of a job that is removed.
func (rs *runs) forget(id uint32) {
	jr := rs.byJob[id]
	if jr == nil {
		return
	}
	for _, a := range slices.AppendSeq(slices.Clone(jr.active), jr.queue()) {
		rs.drop(a)
	}
	jr.putSuccess(rs.items, nil)
	delete(rs.byJob, id)
	rs.wakes = slices.DeleteFunc(rs.wakes, func(other uint32) bool { return other == id })
}

// outside returns the trigger of a run's current attempt, without its body.
func (c *Config) outside(a *watchedRun) *bus.Trigger {
	return &bus.Trigger{
		RunID: a.runID, Job: a.job, Version: int(a.version), Shard: c.Shard, Attempt: a.number,
		Cause: a.cause, FireTime: instant(a.fireTime), CommittedAt: instant(a.since), ParentRun: a.parent, Step: a.step, Split: a.split,
	}
}

// wake schedules a job's runs for the next Step.
func (rs *runs) wake(id uint32) {
	if jr := rs.byJob[id]; jr != nil && !jr.waking {
		jr.waking = true
		rs.wakes = append(rs.wakes, id)
	}
}

// heed has the queued runs of a job judged by its newest version.
func (rs *runs) heed(id uint32) {
	if jr := rs.byJob[id]; jr != nil {
		jr.offerAll()
	}
	rs.wake(id)
}

// wakeUp continues the runs of jobs that were woken, as far as b has room.
func (rs *runs) wakeUp(b *builder) {
	for len(rs.wakes) > 0 {
		id := rs.wakes[0]
		if !rs.wakeJob(b, id) {
			return
		}
		rs.wakes = rs.wakes[1:]
		jr := rs.byJob[id]
		jr.waking = false
		if jr.empty() {
			delete(rs.byJob, id)
		}
		rs.arm(id)
	}
}

// wakeJob continues the runs of one job. It returns false when b is full.
func (rs *runs) wakeJob(b *builder, id uint32) bool {
	rs.forgetSuccess(id) // of an earlier owner
	e, jr, now := rs.jobs.at(id), rs.byJob[id], b.now.UnixMilli()
	p := e.newest()
	room := rs.follows(id)
	for _, a := range slices.Clone(jr.active) {
		if !b.fits(room) {
			return false
		}
		switch {
		case a.stage == expected:
			rs.watches.wake(b, a, now)
		case a.steps != nil:
			if !rs.steps.wake(b, a, p.Deleted, room, rs) {
				return false
			}
		case a.pieces != nil && a.stage == triggered:
			rs.wakePieces(b, a, now)
		case a.expired(now):
			rs.endHere(b, a, job.StatusMissed, a.whyLate(p.StartWithin, reason.NobodyBegan))
		}
	}
	return rs.wakeRetrying(b, id, now) && rs.wakeQueue(b, id, now)
}

// wakeRetrying begins the next attempts of a job's runs that are due, and ends the runs that
// are to have none. It returns false when b is full. It comes after all that can end a run well.
func (rs *runs) wakeRetrying(b *builder, id uint32, now int64) bool {
	e, jr := rs.jobs.at(id), rs.byJob[id]
	isRetrying := func(a *watchedRun) bool { return a.stage == retrying }
	if !slices.ContainsFunc(jr.active, isRetrying) {
		return true
	}
	for _, a := range slices.Clone(jr.active) {
		if !isRetrying(a) {
			continue
		}
		if !b.fits(rs.follows(id)) {
			return false
		}
		stale := rs.stale(a)
		switch {
		case e.newest().Deleted:
			rs.endHere(b, a, job.StatusCancelled, "the job was deleted while the run waited for its next attempt")
		case stale != "":
			rs.endHere(b, a, job.StatusCancelled, stale)
		case a.due <= now:
			f := rs.launch(b, a)
			b.record.addRun(e.name, a.attempt, f.status, f.reason)
		}
	}
	return true
}

// elsewhere returns the runs of a job that are done elsewhere and have not ended, in the order in which they were decided.
func (rs *runs) elsewhere(id uint32) (open []*watchedRun) {
	if jr := rs.byJob[id]; jr != nil {
		for _, a := range jr.active {
			if a.stage == expected {
				open = append(open, a)
			}
		}
	}
	return open
}

// expired reports whether a triggered run has not begun by when it had to.
func (a *watchedRun) expired(now int64) bool {
	return a.stage == triggered && a.startBy != 0 && a.startBy+startMargin.Milliseconds() <= now
}

// mayExpire reports whether it matters when the run, or a piece of it, begins.
func (a *watchedRun) mayExpire() bool {
	if a.pieces != nil {
		return a.pieces.StartWithin > 0
	}
	return a.startBy != 0
}

// wakeAt returns when one of a job's runs next needs attention because time passes.
func (rs *runs) wakeAt(id uint32) (at int64, ok bool) {
	r := rs.byJob[id]
	if r == nil {
		return 0, false
	}
	at = 1 << 62
	for _, a := range r.active {
		switch {
		case a.stage == expected:
			at = min(at, a.due+startMargin.Milliseconds())
		case a.steps != nil:
			if due := a.stepsAt(); due != 0 {
				at = min(at, due)
			}
		case a.stage == retrying:
			at = min(at, a.due)
		case a.pieces != nil:
			if due := a.pieceAt(); due != 0 {
				at = min(at, due)
			}
		case a.startBy != 0:
			at = min(at, a.startBy+startMargin.Milliseconds())
		}
	}
	if len(r.late) > 0 {
		at = min(at, r.late[0].startBy)
	}
	return at, at != 1<<62
}

// pieceAt returns when a run in pieces next needs attention because time passes, 0
// when it does not.
func (a *watchedRun) pieceAt() int64 {
	p := a.pieces
	at := p.overdue()
	if a.lacksInstances() {
		at = a.startBy
	}
	if a.endBy != 0 && p.in(string(bus.PieceWaiting)) > 0 && (at == 0 || a.endBy < at) {
		at = a.endBy
	}
	return at
}

// endAttempt does what follows from the end of an attempt of a watched run. It returns false, and
// leaves everything as it was, when b has no room for it.
func (rs *runs) endAttempt(b *builder, a *watchedRun, e *end) bool {
	if a.stage != triggered || a.number != e.attempt {
		return true // an end of an earlier attempt, once more
	}
	if !b.fits(rs.follows(a.jobID)) {
		return false
	}
	if a.pieces != nil {
		rs.endPiece(b, a, e)
		return true
	}
	if e.begun {
		rs.beginHere(b, a)
		return true
	}
	if a.cancelled != "" {
		rs.endCancelled(b, a, e)
		return true
	}
	if a.split && e.status == job.StatusSucceeded {
		rs.divide(b, a, e)
		return true
	}
	if rs.retry(b, a, e) {
		return true
	}
	if a.of != nil && e.cut && a.of.steps.needed(a.index) {
		rs.endHere(b, a, job.StatusFailed, reason.StepResultCut.String())
		return true
	}
	if e.retry { // the executor has promised what does not come
		b.record.addRun(a.job, a.attempt, e.status, "there is no further attempt")
	}
	rs.end(b, a, e.status, e.result, e.at)
	return true
}

// beginHere notes that a run has begun in time.
func (rs *runs) beginHere(b *builder, a *watchedRun) {
	if a.startBy != 0 {
		a.startBy = 0
		rs.items.release(a.item)
		a.item = b.waitIn(&journal.Deferred{Kind: journal.DeferredAlive, Reason: a.cancelled}, a)
	}
}

// follows returns how many messages the next step of a run of the job may take: to
// trigger it, to say how far it or its pieces are, or to end it, with one for each child or for the caller,
// one for the count of failures, the wish to pause or the success, and one for a fixed delay. The end of
// a step takes fewer: its result, and how far its workflow has come.
func (rs *runs) follows(id uint32) int {
	letters := len(rs.jobs.at(id).newest().Children)
	if r := rs.byJob[id]; r != nil && r.called > 0 {
		letters = max(letters, 1)
	}
	return max(launch, letters+2)
}

// retry schedules another attempt, if the job's rule allows one. It returns false if it does not.
func (rs *runs) retry(b *builder, a *watchedRun, e *end) bool {
	rule := rs.jobs.rules(a).Retry
	if rs.jobs.at(a.jobID).newest().Deleted || a.of != nil && a.stops() != "" || e.final || !rule.Again(e.attempt, e.status, e.exitCode) {
		return false
	}
	wait := cmp.Or(e.after, rule.Wait(a.runID, e.attempt))
	due := e.at + wait.Milliseconds()
	if a.endBy != 0 && due >= a.endBy {
		return false
	}
	rs.items.release(a.item)
	a.stage, a.due, a.startBy = retrying, due, 0
	a.number++
	a.item = b.waitIn(&journal.Deferred{Kind: journal.DeferredRetry, Due: instant(due)}, a)
	b.record.addRun(a.job, a.attempt, job.StatusQueued, reason.NextAttempt.With(e.attempt, e.status, job.Duration(wait)))
	rs.arm(a.jobID)
	if jr := rs.byJob[a.jobID]; a.of == nil {
		jr.offer(jr.lane(a.lane)) // a queued run may replace it
	}
	rs.wake(a.jobID) // the attempt may be stale already
	return true
}

// endHere ends a run that no executor has, and records it. The caller has
// found room for what follows, if anything follows from the status.
func (rs *runs) endHere(b *builder, a *watchedRun, s job.Status, why string) {
	b.record.addRun(a.job, a.attempt, s, why)
	rs.end(b, a, s, nil, b.now.UnixMilli())
}

// end sets the final status of a run, and causes what follows from it.
func (rs *runs) end(b *builder, a *watchedRun, s job.Status, result json.RawMessage, at int64) {
	rs.drop(a)
	rs.ended(b, a, s, result, at)
	if a.of == nil {
		rs.wake(a.jobID)
	}
}

// startMargin is how long after the instant by which it had to begin a run counts as
// not begun: its executor reports a run that has gone on for a second, and the report
// takes its time.
const startMargin = 5 * time.Second
