package shard

import (
	"slices"
	"unique"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/journal"
)

// admission is the outcome of a request for a run.
type admission struct {
	status job.Status // pending, queued or skipped; missed, if it is a fire for which there is no room
	reason string
	total  int // in how many pieces it is done, if that is known
}

// admit triggers, queues or skips a run that is wanted now, by its job's rule for
// overlap. It takes one message, or two where b has room for them beside
// what is reserved, and one more when another run of a fixed-delay job gives way.
func (rs *runs) admit(b *builder, id uint32, r attempt, body body) admission {
	if body.elsewhere {
		return rs.watches.expect(b, id, r, body)
	}
	if why := rs.cluster.noRoom(rs.jobs.at(id).name.Group()); why != "" {
		if r.cause.Scheduled() {
			return admission{status: job.StatusMissed, reason: why}
		}
		return admission{status: job.StatusSkipped, reason: why}
	}
	rules := &rs.jobs.at(id).newest().Reactions
	body, err := body.at(r.fireTime)
	if err != nil { // by a zone that only the server that saved the job knows
		return admission{status: job.StatusSkipped, reason: err.Error()}
	}
	if !rules.Watched() && !body.inPieces && !body.inSteps && r.caller == nil && r.startBy == 0 && r.key == nil {
		r.setEndBy(b, rules)
		body.repeats = false // by an older version it may be; but nobody follows the run, so nobody may say that another attempt comes
		t := b.encode(rs.jobs.at(id).name, r)
		if !rs.jobs.at(id).isFixedDelay() { // else the next fire waits for the end
			t.Report = b.endsOf(t.Job.Group())
		}
		b.sendPacked(t, body)
		return admission{status: job.StatusPending}
	}
	if by := b.now.Add(rules.StartWithin.Std()).UnixMilli(); rules.StartWithin > 0 && (r.startBy == 0 || by < r.startBy) {
		r.startBy = by
	}
	a := &watchedRun{attempt: r, jobID: id, job: rs.jobs.at(id).name, body: unique.Make(body), since: b.now.UnixMilli()}
	if r.earlier != nil {
		rs.pieces.take(a)
	}
	if rules.Overlap.Key == "" {
		return rs.enter(b, a, &rules.Overlap)
	}
	a.lane = r.laneOf(rules.Overlap.Key, body)
	f := rs.enter(b, a, &rules.Overlap)
	if a.lane == "" {
		f.reason = reason.Join(f.reason, reason.NoOverlapKey.String())
	}
	return f
}

// enter triggers, queues or skips a run by its job's rule for overlap.
func (rs *runs) enter(b *builder, a *watchedRun, o *job.Overlap) admission {
	jr := rs.of(a.jobID)
	l := jr.lane(a.lane)
	mayBegin := jr.mayBegin(o, l) && !jr.precedes(o, l)
	switch {
	case mayBegin && !b.fits(launch+b.reserved):
		rs.enqueue(b, a)
		rs.wake(a.jobID)
		return admission{status: job.StatusQueued, reason: reason.NoRoomInBatch.String()}
	case mayBegin:
		f := rs.launch(b, a)
		rs.add(a)
		return f
	case o.Policy == job.OverlapQueue:
		if jr.waiting(o, l) >= o.Queue {
			if o.WhenFull != job.SkipOldest {
				return admission{status: job.StatusSkipped, reason: queueFull(o)}
			}
			rs.endHere(b, jr.oldest(o, l), job.StatusSkipped, reason.Displaced.String())
		}
		why := jr.whyQueued(o, l)
		rs.enqueue(b, a)
		return admission{status: job.StatusQueued, reason: why}
	case o.Policy == job.OverlapReplace:
		for jr.waiting(o, l) > 0 {
			rs.endHere(b, jr.oldest(o, l), job.StatusSkipped, reason.ReplacedBefore.String())
		}
		busy := jr.alive(o, l)
		rs.enqueue(b, a)
		rs.wake(a.jobID) // which has the others cancelled
		return admission{status: job.StatusQueued, reason: reason.WaitsToReplace.With(busy)}
	default:
		return admission{status: job.StatusSkipped, reason: jr.whySkipped(o, l)}
	}
}

// launch is how many messages it takes to trigger a watched run.
const launch = 2

// launch triggers the run's current attempt, and returns its status: pending, or queued if no
// instance is online for its pieces.
func (rs *runs) launch(b *builder, a *watchedRun) admission {
	rs.items.release(a.item)
	a.setEndBy(b, rs.jobs.rules(a))
	a.stage, a.since, a.due = triggered, b.now.UnixMilli(), 0
	if a.body.Value().inSteps {
		return rs.steps.begin(b, a)
	}
	if a.body.Value().inPieces {
		if f, done := rs.pieces.begin(b, a); done {
			f.total = a.total
			return f
		}
	}
	a.item = b.waitIn(&journal.Deferred{Kind: journal.DeferredAlive}, a)
	b.send(b.encode(a.job, a.attempt), a.body.Value())
	return admission{status: job.StatusPending}
}

// setEndBy sets the instant by which the run must end, when it is triggered for the first time.
func (r *attempt) setEndBy(b *builder, rules *job.Reactions) {
	if rules.TotalTimeout > 0 && r.endBy == 0 {
		r.endBy = b.now.Add(rules.TotalTimeout.Std()).UnixMilli()
	}
}

// enqueue puts a run into the queue of its job.
func (rs *runs) enqueue(b *builder, a *watchedRun) {
	a.stage = queued
	d := &journal.Deferred{Kind: journal.DeferredQueued}
	if a.pieces != nil {
		d.Pieces = a.pieces.deferred(0).Pieces
	}
	a.item = b.waitIn(d, a)
	rs.add(a)
}

// Kill is a run that is to end because another takes its place.
type Kill struct {
	Job    job.Name
	RunID  job.RunID
	Reason string
}

// replace cancels the job's runs that keep the first in the queue of a lane from running. It
// returns false when b is full.
func (rs *runs) replace(b *builder, id uint32, l *lane) bool {
	jr := rs.byJob[id]
	keyed := rs.jobs.at(id).newest().Overlap.Key != ""
	why := reason.ReplacedBy.With(l.first().runID)
	for _, a := range slices.Clone(jr.active) {
		switch {
		case !a.counts(), keyed && a.lane != l.key: // it is in nobody's way
		case a.stage == retrying:
			if !b.fits(rs.follows(id)) {
				return false
			}
			rs.endHere(b, a, job.StatusCancelled, why)
		case a.steps != nil:
			if !b.fits(rs.follows(id)) {
				return false
			}
			if a.steps.ending.Ending == "" {
				rs.steps.callOff(b, a, job.StatusCancelled, why, false)
			}
		case a.pieces != nil:
			if !b.fits(rs.follows(id)) {
				return false
			}
			if a.pieces.Cancelled == "" {
				rs.callOff(b, a, why)
			}
		case !a.killed: // a new owner says it again, as the old one may have died in between
			a.killed = true
			b.Kills = append(b.Kills, Kill{Job: rs.jobs.at(id).name, RunID: a.runID, Reason: why})
		}
	}
	return true
}
