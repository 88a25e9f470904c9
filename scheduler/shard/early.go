package shard

import (
	"fmt"
	"slices"
	"time"

	"carillon/job"
)

// A fire that is wanted early is called off, and another run is made in its place. One
// write says both: a version whose skip has the run's id. So nobody has to come back to
// finish it, and whoever owns the shard makes the run, once: in the batch whose cursor
// says that the version is known. Whether the run is made follows from what the version
// rules. A fire after its beginning is skipped by it, for certain, and the run is made,
// however late the owner hears. One before that is the version before's, which has
// decided it; then there is no run in its place.

// wantedEarly returns the skips of plan whose runs it is the first to want: plan is to be
// e's newest. Those who ask for the runs wait for them from now on.
func (m *Machine) wantedEarly(e *entry, plan *job.Plan) []job.Skip {
	if plan.Deleted {
		return nil
	}
	early := plan.WantedEarly()
	if n := len(e.plans); n > 0 && len(early) > 0 {
		was := e.plans[n-1].WantedEarly()
		early = slices.DeleteFunc(early, func(s job.Skip) bool {
			return slices.ContainsFunc(was, func(w job.Skip) bool { return w.RunID == s.RunID })
		})
	}
	for _, s := range early {
		m.asked[s.RunID] = true
	}
	return early
}

// runEarly makes the runs that v wants, which is version i of its job, as far as b has
// room. It returns false when there are some left.
func (m *Machine) runEarly(b *builder, v *lateVersion, i int) bool {
	e := &m.jobs[v.id]
	for ; len(v.early) > 0; v.early = v.early[1:] {
		s := v.early[0]
		if _, made := m.recent.runs[s.RunID]; made {
			// By a predecessor, whose batch had no room for the next one too.
			m.forgetEarly(v.early[:1])
			continue
		}
		if !b.fits(roomAsked) {
			return false
		}
		r := run{id: s.RunID, version: v.version, attempt: 1, cause: job.CauseManual, fireTime: s.RunID.Time().UnixMilli()}
		f := admission{status: job.StatusSkipped}
		switch {
		case e.newest().Deleted:
			f.reason = "the job was deleted"
		case s.FireTime.UnixMilli() <= e.plans[i].From:
			f.reason = fmt.Sprintf("the fire of %s, in whose place it was wanted, was decided before that was known", s.FireTime.UTC().Format(time.RFC3339))
		default:
			f = m.want(b, v.id, r, e.bodies[i].Value())
		}
		b.answer(e.name, r, f, s.By)
	}
	return true
}

// forgetEarly has nobody wait any longer for runs of which nothing will be told.
func (m *Machine) forgetEarly(early []job.Skip) {
	for _, s := range early {
		delete(m.asked, s.RunID)
	}
}
