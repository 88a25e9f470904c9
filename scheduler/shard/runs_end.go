package shard

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

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
		a.item = b.waitIn(&bus.Deferred{Kind: bus.DeferredAlive, Reason: a.cancelled}, a)
	}
}

// follows returns how many messages the next step of a run of the job may take: to
// trigger it, to say how far it or its pieces are, or to end it, with one for each child,
// one for the count of failures, the wish to pause or the success, and one for a fixed delay.
func (rs *runs) follows(id uint32) int {
	return max(launch, len(rs.jobs.at(id).newest().Children)+2)
}

// retry schedules another attempt, if the job's rule allows one. It returns false if it does not.
func (rs *runs) retry(b *builder, a *watchedRun, e *end) bool {
	p := rs.jobs.at(a.jobID).newest()
	if p.Deleted || e.final || !p.Retry.Again(e.attempt, e.status, e.exitCode) {
		return false
	}
	wait := cmp.Or(e.after, p.Retry.Wait(a.runID, e.attempt))
	due := e.at + wait.Milliseconds()
	if a.endBy != 0 && due >= a.endBy {
		return false
	}
	rs.items.release(a.item)
	a.stage, a.due, a.startBy = retrying, due, 0
	a.number++
	a.item = b.waitIn(&bus.Deferred{Kind: bus.DeferredRetry, Due: instant(due)}, a)
	b.record.addRun(a.job, a.attempt, job.StatusQueued, reason.NextAttempt.With(e.attempt, e.status, job.Duration(wait)))
	rs.arm(a.jobID)
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
	rs.wake(a.jobID)
}

// startMargin is how long after the instant by which it had to begin a run counts as
// not begun: its executor reports a run that has gone on for a second, and the report
// takes its time.
const startMargin = 5 * time.Second
