package shard

import (
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/journal"
)

// success is the run of the latest fire that has succeeded. It is stored in the batch that ends
// that run, so a successor knows which attempts are stale; the runs that it makes so may be too
// many for one batch, and end in those that follow.
type success struct {
	run  job.RunID
	item *item
}

// outdates reports whether another attempt of a run of the same job would be stale. Only the
// schedule gives runs an order: those that somebody asks for are outside it.
func (s *success) outdates(a *watchedRun) bool {
	return a.cause.Scheduled() && a.fireTime < s.fire()
}

// fire returns the fire time of the run that has succeeded.
func (s *success) fire() int64 { return s.run.Time().UnixMilli() }

// outdatesAny reports whether another attempt of any of the job's runs would be stale.
func (s *success) outdatesAny(of *jobRuns) bool {
	if slices.ContainsFunc(of.active, s.outdates) {
		return true
	}
	for a := range of.queue() {
		if s.outdates(a) {
			return true
		}
	}
	return false
}

// stale returns why a run that waits for its next attempt is to have none, or "". One that fails
// when this is so already waits all the same, and ends with the same batch if that has room: so
// its failed attempt is seen, and it makes no difference which run of the two ended first.
func (rs *runs) stale(a *watchedRun) string {
	s := rs.byJob[a.jobID].succeeded
	if s == nil || !rs.jobs.at(a.jobID).newest().Retry.DropStale || !s.outdates(a) {
		return ""
	}
	return reason.StaleRetry.With(s.run)
}

// noteSuccess remembers that a run has succeeded, if that makes attempts of others stale: of runs
// that are alive. The caller has found room
// for a message.
func (rs *runs) noteSuccess(b *builder, a *watchedRun) {
	jr, s := rs.byJob[a.jobID], &success{run: a.runID}
	switch {
	case !a.cause.Scheduled() || !rs.jobs.at(a.jobID).newest().Retry.DropStale:
	case jr.succeeded != nil && jr.succeeded.fire() >= s.fire():
	case s.outdatesAny(jr):
		s.item = b.deferred(rs.cfg.Shard, &journal.Deferred{Kind: journal.DeferredSucceeded, Job: a.job, RunID: s.run})
		jr.putSuccess(rs.items, s)
	}
}

// restoreSuccess enters what an earlier owner has noted.
func (rs *runs) restoreSuccess(id uint32, run job.RunID, seq uint64) {
	rs.of(id).putSuccess(rs.items, &success{run: run, item: &item{seq: seq}})
	rs.wake(id)
}

// putSuccess replaces the success of a job; nil removes it.
func (r *jobRuns) putSuccess(of *items, s *success) {
	if r.succeeded != nil {
		of.release(r.succeeded.item)
	}
	r.succeeded = s
}

// forgetSuccess forgets it once there is no run left that it could concern, and none of an earlier
// fire may begin.
func (rs *runs) forgetSuccess(id uint32) {
	jr := rs.byJob[id]
	if jr == nil || jr.succeeded == nil {
		return
	}
	if !jr.succeeded.outdatesAny(jr) {
		jr.putSuccess(rs.items, nil)
	}
}
