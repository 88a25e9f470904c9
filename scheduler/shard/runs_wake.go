package shard

import (
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// wake schedules a job's runs for the next Step.
func (rs *runs) wake(id uint32) {
	if jr := rs.byJob[id]; jr != nil && !jr.waking {
		jr.waking = true
		rs.wakes = append(rs.wakes, id)
	}
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
	rs.forgetSuccess(id) // of an earlier owner, or kept for a version that has been read since
	e, jr, now := rs.jobs.at(id), rs.byJob[id], b.now.UnixMilli()
	p := e.newest()
	room := rs.follows(id)
	for _, a := range slices.Clone(jr.active) {
		if !b.fits(room) {
			return false
		}
		switch {
		case a.pieces != nil && a.stage == triggered:
			rs.wakePieces(b, a, now)
		case a.expired(now):
			rs.endHere(b, a, job.StatusMissed, reason.NobodyBegan.With(p.StartWithin))
		}
	}
	if !rs.wakeRetrying(b, id, now) {
		return false
	}
	for len(jr.queue) > 0 {
		if !b.fits(room) {
			return false
		}
		a := jr.queue[0]
		switch {
		case p.Deleted:
			rs.endHere(b, a, job.StatusCancelled, "the job was deleted while the run was queued")
		case a.startBy != 0 && a.startBy <= now:
			rs.endHere(b, a, job.StatusMissed, reason.QueuedTooLong.With(p.StartWithin))
		case p.Unreadable: // it may have fewer at once than the version before, by whose rules it goes on
			return rs.expireQueue(b, id, now)
		case p.Overlap.Unlimited() || jr.busy() < p.Overlap.Limit:
			waited := job.Duration(b.now.Sub(instant(a.since)))
			jr.queue = jr.queue[1:]
			f := rs.launch(b, a)
			jr.active = append(jr.active, a)
			b.record.addRun(e.name, a.attempt, f.status, reason.Join(reason.WasQueued.With(waited), f.reason))
		case p.Overlap.Policy == job.OverlapReplace:
			was := jr.busy()
			if !rs.replace(b, id) {
				return false
			}
			if jr.busy() == was {
				return rs.expireQueue(b, id, now)
			}
		default:
			return rs.expireQueue(b, id, now)
		}
	}
	return true
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

// expireQueue ends the runs behind the first that have been queued for too long. It
// returns false when b is full.
func (rs *runs) expireQueue(b *builder, id uint32, now int64) bool {
	within := rs.jobs.at(id).newest().StartWithin
	for _, a := range slices.Clone(rs.byJob[id].queue) {
		if a.startBy == 0 || a.startBy > now {
			continue
		}
		if !b.fits(rs.follows(id)) {
			return false
		}
		rs.endHere(b, a, job.StatusMissed, reason.QueuedTooLong.With(within))
	}
	return true
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

// wakeAt returns when one of the job's runs next needs attention because time passes.
func (r *jobRuns) wakeAt() (at int64, ok bool) {
	at = 1 << 62
	for _, a := range r.active {
		switch {
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
	for _, a := range r.queue {
		if a.startBy != 0 {
			at = min(at, a.startBy)
		}
	}
	return at, at != 1<<62
}
