package shard

import (
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// wakeQueue begins queued runs of a job, as far as its rule for overlap and b have room, and ends those that waited for too
// long, or whose job is deleted. It returns false when b is full.
func (rs *runs) wakeQueue(b *builder, id uint32, now int64) bool {
	e, jr := rs.jobs.at(id), rs.byJob[id]
	p := e.newest()
	o := &p.Overlap
	for l := jr.next(); l != nil; l = jr.next() {
		if !b.fits(rs.follows(id)) {
			return false
		}
		a := l.first()
		switch {
		case p.Deleted:
			rs.endHere(b, a, job.StatusCancelled, "the job was deleted while the run was queued")
		case a.startBy != 0 && a.startBy <= now:
			rs.endHere(b, a, job.StatusMissed, a.whyLate(p.StartWithin, reason.QueuedTooLong))
		case jr.mayBegin(o, l):
			waited := job.Duration(b.now.Sub(instant(a.since)))
			jr.remove(a)
			f := rs.launch(b, a)
			jr.activate(a)
			jr.offer(jr.pass()) // the other keys come first
			b.record.addRun(e.name, a.attempt, f.status, reason.Join(reason.WasQueued.With(waited), f.reason))
		case o.Policy == job.OverlapReplace:
			was := jr.busy
			if !rs.replace(b, id, l) {
				return false
			}
			if jr.busy < was {
				continue
			}
			if o.Key == "" {
				return rs.expireQueue(b, id, now)
			}
			jr.pass() // until one of its runs ends
		case jr.full(o):
			return rs.expireQueue(b, id, now)
		default:
			jr.pass() // the same
		}
	}
	return rs.expireQueue(b, id, now)
}

// expireQueue ends the queued runs that have waited for too long. It returns false when b is full.
func (rs *runs) expireQueue(b *builder, id uint32, now int64) bool {
	p, jr := rs.jobs.at(id).newest(), rs.byJob[id]
	for len(jr.late) > 0 && jr.late[0].startBy <= now {
		if !b.fits(rs.follows(id)) {
			return false
		}
		rs.endHere(b, jr.late[0], job.StatusMissed, jr.late[0].whyLate(p.StartWithin, reason.QueuedTooLong))
	}
	return true
}

// alive returns how many runs are in the way of a run of the lane, by the limit of its key or of the job.
func (r *jobRuns) alive(o *job.Overlap, l *lane) int {
	if o.Key != "" {
		return l.busy
	}
	return r.busy
}

// whyQueued says for what the next run of the lane waits.
func (r *jobRuns) whyQueued(o *job.Overlap, l *lane) string {
	switch {
	case o.Key == "":
		return reason.WaitsForRuns.With(r.busy + r.queued)
	case l.busy >= o.Limit || l.queue.Len() > 0:
		return reason.WaitsForKey.With(r.ahead(l))
	}
	return reason.WaitsForTotal.String()
}

// whySkipped says why a run of the lane neither begins nor waits.
func (r *jobRuns) whySkipped(o *job.Overlap, l *lane) string {
	switch {
	case o.Key == "":
		return reason.OverlapFull.With(r.busy)
	case l.busy >= o.Limit:
		return reason.Join(reason.OverlapFull.With(l.busy), reason.LimitOfKey.String())
	}
	return reason.Join(reason.OverlapFull.With(r.busy), reason.LimitOfKeys.String())
}

// queueFull says that a queue has no place.
func queueFull(o *job.Overlap) string {
	if o.Key != "" {
		return reason.Join(reason.QueueFull.With(o.Queue), reason.LimitOfKey.String())
	}
	return reason.QueueFull.With(o.Queue)
}
