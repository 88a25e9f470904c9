package shard

import (
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// A fire that is wanted early is skipped, and another run is made in its place. One
// write does both: a version whose skip has the run's id. So there is nothing to finish later:
// the owner of the shard makes the run, once, in the batch whose cursor
// counts the version as known. Whether the run is made follows from the version alone.
// It certainly skips a fire after its beginning, so the run is made,
// however late the owner hears of it. A fire before its beginning belongs to the version before, which
// has decided it; then no run takes its place.

// wantedEarly returns the skips of plan, the job's next version, whose runs no version wanted before.
// Requests for these runs wait for them from now on.
func (vs *versions) wantedEarly(e *entry, plan *job.Plan) []job.Skip {
	if plan.Deleted {
		return nil
	}
	early := plan.WantedEarly()
	if len(e.plans) > 0 {
		early = slices.DeleteFunc(early, func(s job.Skip) bool { return wants(e.newest(), s) })
	}
	for _, s := range early {
		vs.requests.asked[s.RunID] = true
	}
	return early
}

// runEarly makes the runs that v, version i of its job, wants early, as far as b has
// room. It returns false if some are left.
func (vs *versions) runEarly(b *builder, v *lateVersion, i int) bool {
	e := vs.jobs.at(v.id)
	for ; len(v.early) > 0; v.early = v.early[1:] {
		s := v.early[0]
		if _, made := vs.requests.recent.runs[s.RunID]; made {
			// By a predecessor, whose batch had no room for the next one too.
			vs.requests.forget(v.early[:1])
			continue
		}
		if !b.fits(roomAsked) {
			return false
		}
		r := attempt{runID: s.RunID, version: v.version, number: 1, cause: job.CauseManual, fireTime: s.RunID.Time().UnixMilli()}
		f := admission{status: job.StatusSkipped}
		switch {
		case e.newest().Deleted:
			f.reason = reason.JobDeleted.String()
		case s.FireTime.UnixMilli() <= e.plans[i].From:
			f.reason = reason.EarlyTooLate.With(s.FireTime)
		default:
			f = vs.runs.admit(b, v.id, r, e.bodies[i].Value())
		}
		b.answer(r.runID, e.name, r, f, s.By)
	}
	return true
}

// wants reports whether a version wants the run of s early.
func wants(p *job.Plan, s job.Skip) bool {
	return slices.ContainsFunc(p.WantedEarly(), func(w job.Skip) bool { return w.RunID == s.RunID })
}

// forget drops runs that were expected from versions and will not be made.
func (q *Requests) forget(early []job.Skip) {
	for _, s := range early {
		delete(q.asked, s.RunID)
	}
}
