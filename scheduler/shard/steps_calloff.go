package shard

import (
	"cmp"
	"maps"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// callOff ends a run: steps that have not begun are cancelled, those that have are killed. Finally steps run
// all the same, unless force is set. The caller has found room for what follows from the end of the run.
func (st *steps) callOff(b *builder, a *watchedRun, status job.Status, why string, force bool) {
	p := a.steps
	if p.ending.Ending == "" {
		p.ending.Ending, p.ending.Reason = status, why
	}
	p.ending.Force = p.ending.Force || force
	st.callOffWaiting(b, a, why)
	st.kill(b, a, p.ending.Reason)
	st.settle(b, a, nil)
}

// callOffWaiting cancels the steps that have not begun, and returns them.
func (st *steps) callOffWaiting(b *builder, a *watchedRun, why string) (cancelled []int) {
	p := a.steps
	cancelled = p.def.graph.Cancel(p.states, p.ending.Force)
	for _, i := range cancelled {
		st.leaveWait(a, i)
		b.record.addRun(a.job, a.stepAttempt(i), job.StatusCancelled, why)
	}
	st.changed(b, a)
	return cancelled
}

// kill has the steps killed that are with the executors, but for finally steps that may go on. Those that
// wait for their next attempt are woken, to end.
func (st *steps) kill(b *builder, a *watchedRun, why string) {
	p := a.steps
	for _, i := range slices.Sorted(maps.Keys(p.out)) {
		s := p.out[i]
		if p.def.graph.Step(i).Finally && !p.ending.Force {
			continue
		}
		switch {
		case s.stage != triggered || s.killed:
		case s.calls(), s.pieces != nil:
			st.callOffLater(s, why)
		default:
			s.killed = true
			b.Kills = append(b.Kills, Kill{Job: a.job, RunID: s.runID, Reason: why})
		}
	}
	st.arm(a.jobID)
}

// kills reports whether the bad end of another step ends step i, although it has begun.
func (p *runSteps) kills(i int) bool {
	return p.ending.Stopped && p.def.OnFailure == job.FailureCancels && !p.def.graph.Step(i).Finally
}

// stops returns why the run of a step is to have no further attempt, or "".
func (a *watchedRun) stops() string {
	p := a.of.steps
	switch {
	case p.calledOff(a.index):
		return cmp.Or(p.ending.Reason, reason.WorkflowDeleted.String())
	case p.kills(a.index):
		return reason.Cancelled.String()
	}
	return ""
}
