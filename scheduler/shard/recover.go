package shard

import (
	"fmt"
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
)

// Recover takes a request to retry or resolve a step of a run that is alive, as [Requests.Submit] takes one for a
// run. The error is a job.ErrConflict if the step cannot be retried or resolved now.
func (q *Requests) Recover(r bus.RecoverRequest) (done *Asked, err error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if asked, ok := q.recent.runs[r.ID]; ok {
		return &asked, nil
	}
	if q.asked[r.ID] {
		return nil, nil
	}
	if _, _, why := q.recoverable(&r); why != "" {
		return nil, fmt.Errorf("%w: %s", job.ErrConflict, why)
	}
	q.recoveries = append(q.recoveries, r)
	q.asked[r.ID] = true
	return nil, nil
}

// recoverable returns the run and the step that a request is about, or why it cannot be met now.
func (q *Requests) recoverable(r *bus.RecoverRequest) (a *watchedRun, i int, why string) {
	a = q.runs.byID[r.RunID]
	switch {
	case a == nil || a.job != r.Job || a.of != nil:
		return nil, 0, refusal.RunNotAlive.With(r.RunID, r.Job)
	case a.steps == nil:
		return nil, 0, refusal.RunHasNotBegun.With(r.RunID)
	}
	p := a.steps
	i, known := p.def.graph.Index(r.Step)
	switch {
	case p.ending.Ending != "" || p.ending.Force:
		return nil, 0, refusal.RunIsEnding.With(r.RunID)
	case !known:
		return nil, 0, refusal.NoSuchStep.With(r.Step)
	case !p.states[i].EndedBadly() && p.states[i] != workflow.Cancelled:
		return nil, 0, refusal.StepNotRecoverable.With(r.Step, p.states[i].Word())
	case p.kept()+len(r.Result) > maxResults:
		return nil, 0, reason.StepResultTooLarge.With(p.kept()+len(r.Result), maxResults)
	}
	if why := p.mayGive(i, &r.GivenParams); why != "" {
		return nil, 0, why
	}
	if _, busy, ok := p.def.graph.Reset(i, p.ending.StoppedSteps, slices.Clone(p.states)); !ok {
		return nil, 0, refusal.StepFollowerRuns.With(p.def.graph.Step(busy).Name, r.Step)
	}
	return a, i, ""
}

// recover meets the requests to retry or resolve steps.
func (q *Requests) recover(b *builder) {
	for len(q.recoveries) > 0 && b.fits(roomAsked) {
		r := q.recoveries[0]
		q.recoveries = q.recoveries[1:]
		answer := Asked{RunID: r.ID}
		a, i, why := q.recoverable(&r)
		if why != "" { // since it was asked for
			answer.Reason = why
		} else {
			q.runs.steps.recover(b, a, i, &r)
			answer.Version, answer.Status, answer.Round = int(a.version), r.Status(), a.steps.round(i)
		}
		b.note(answer)
	}
}

// recover retries or resolves step i of a run. The steps that follow it are decided again.
func (st *steps) recover(b *builder, a *watchedRun, i int, r *bus.RecoverRequest) {
	p := a.steps
	reset, _, _ := p.def.graph.Reset(i, p.ending.StoppedSteps, p.states)
	p.ending.Stopped, p.ending.StoppedSteps = false, nil
	for _, k := range append(reset, i) {
		if old := p.results[k]; old != nil {
			st.items.release(old.item)
			delete(p.results, k)
		}
		p.nextRound(k)
		p.forgetSignal(k)
	}
	if p.states[i] = workflow.Waiting; r.As != "" {
		p.states[i] = stateOf[r.As]
	}
	p.give(i, &r.GivenParams)
	o := b.record.addRun(a.job, a.stepAttempt(i), r.Status(), r.Text())
	o.By, o.Result = r.By, r.Result
	b.record.size += len(r.Result)
	if len(r.Result) > 0 && p.needed(i) {
		st.keep(b, a, i, r.Result)
	}
	for _, k := range reset {
		b.record.addRun(a.job, a.stepAttempt(k), job.StatusQueued, reason.StepDecidedAgain.With(r.Step))
	}
	st.settle(b, a, nil)
}

// keep keeps what step i has returned. The caller has found room for a message.
func (st *steps) keep(b *builder, a *watchedRun, i int, result []byte) {
	p := a.steps
	d := &journal.Deferred{Kind: journal.DeferredResult, Job: a.job, RunID: a.runID, Step: p.def.graph.Step(i).Name, Result: result}
	p.results[i] = &stepResult{value: result, item: b.deferred(st.cfg.Shard, d)}
}

// round returns how often step i has been begun or decided, from 1 on.
func (p *runSteps) round(i int) int { return max(p.ending.Rounds[p.def.graph.Step(i).Name], 1) }

// nextRound begins a further round of step i.
func (p *runSteps) nextRound(i int) {
	if p.ending.Rounds == nil {
		p.ending.Rounds = map[string]int{}
	}
	name := p.def.graph.Step(i).Name
	p.ending.Rounds[name] = p.round(i) + 1
	delete(p.ending.Given, name)
}
