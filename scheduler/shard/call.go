package shard

import (
	"encoding/json"
	"errors"
	"unique"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
)

// A step that calls another job has the item of a watched run, without a trigger on the stream. The called
// run has the same id. Its owner gets a call, answers with its end, and may get a call-off in between.

// called returns the job that a step calls; "" if it has a task.
func (p *runSteps) called(i int) job.Name { return p.def.Steps[i].Call }

// calls reports whether the run is a step that waits for a run of another job.
func (a *watchedRun) calls() bool { return a.of != nil && a.of.steps.called(a.index) != "" }

// isCalled reports whether a step has called the run of a trigger: it has the fire time of the workflow's
// run, and its id is not that of a child. A run that code has started has a later fire time.
func isCalled(t *bus.Trigger) bool {
	return t.Cause == job.CauseParent && t.FireTime.Equal(t.ParentRun.Time()) && t.RunID != job.ChildRunID(t.Job, t.ParentRun, t.FireTime.UnixMilli())
}

// call begins step i of a run, which calls another job.
func (st *steps) call(b *builder, a *watchedRun, i int) {
	p, r := a.steps, a.stepAttempt(i)
	params, err := p.callParams(a, i)
	nested := 1
	if a.caller != nil {
		nested += a.caller.Nested
	}
	if err == nil && nested > job.MaxCalls {
		err = errors.New(reason.CallsTooDeep.With(nested, job.MaxCalls))
	}
	if err != nil {
		p.states[i] = workflow.Failed
		b.record.addRun(a.job, r, job.StatusFailed, err.Error())
		st.react(b, a, i)
		return
	}
	if most := p.def.Steps[i].Body.Timeout; most > 0 {
		if by := b.now.Add(most.Std()).UnixMilli(); r.endBy == 0 || by < r.endBy {
			r.endBy = by
		}
	}
	nothing, err := encodeBody(&journal.Body{})
	if err != nil {
		st.cfg.bug("%v", err)
	}
	s := &watchedRun{
		attempt: r, jobID: a.jobID, job: a.job, stage: triggered, body: unique.Make(nothing), since: b.now.UnixMilli(), of: a, index: i,
	}
	if !p.begun() {
		b.record.addRun(a.job, a.attempt, job.StatusRunning, "")
	}
	p.states[i], p.out[i] = workflow.Begun, s
	st.changed(b, a)
	s.item = b.waitIn(&journal.Deferred{Kind: journal.DeferredAlive}, s)
	st.post(b, &journal.Deferred{Job: p.called(i), Call: &journal.Call{
		RunID: s.runID, FireTime: instant(a.fireTime), Params: params, Depth: a.depth + 1,
		Caller: journal.Caller{Job: a.job, RunID: a.runID, Step: s.step, Nested: nested},
	}})
}

// callParams returns the parameters that step i passes to the job that it calls; none if it has none.
func (p *runSteps) callParams(a *watchedRun, i int) (json.RawMessage, error) {
	if g := p.ending.Given[p.def.graph.Step(i).Name]; len(p.def.Steps[i].Body.Params) == 0 && g.Nothing() {
		return nil, nil
	}
	params, err := p.stepParams(a, i)
	if err == nil && len(params) > job.MaxParams {
		err = errors.New(reason.StepParamsTooLarge.With(len(params), job.MaxParams))
	}
	return params, err
}

// callingOff is a step that is to end, which has called a run or is done in pieces.
type callingOff struct {
	*watchedRun
	reason string
}

// callOffLater notes that the run which a step has called, or its pieces, are to end.
func (st *steps) callOffLater(s *watchedRun, why string) {
	s.killed = true
	st.callingOff = append(st.callingOff, callingOff{s, why})
}

// sendCallOffs tells the owners of called runs that these are to end, and ends pieces, as far as b has room.
func (st *steps) sendCallOffs(b *builder, rs *runs) {
	for len(st.callingOff) > 0 {
		s := st.callingOff[0]
		if !s.over && !b.fits(rs.follows(s.jobID)) {
			return
		}
		st.callingOff = st.callingOff[1:]
		switch {
		case s.over:
		case s.pieces != nil:
			rs.callOff(b, s.watchedRun, s.reason)
		default:
			st.post(b, &journal.Deferred{Job: s.of.steps.called(s.index), CallOff: &journal.CallOff{RunID: s.runID, Reason: s.reason}})
		}
	}
}

// answer ends the step whose call has ended, or has been refused.
func (st *steps) answer(b *builder, e *journal.CallEnd) {
	a := st.byID[e.Caller.RunID]
	if a == nil || a.steps == nil {
		return
	}
	i, ok := a.steps.def.graph.Index(e.Caller.Step)
	s := a.steps.out[i]
	if !ok || s == nil || s.runID != e.RunID {
		return
	}
	status, at := e.Status, e.At.UnixMilli()
	switch {
	case e.Refused != "":
		status = job.StatusFailed
		b.record.addRun(a.job, s.attempt, status, e.Refused)
	case status == job.StatusSkipped: // nobody has chosen that this step does nothing
		status = job.StatusFailed
	case status == job.StatusCancelled && a.steps.ending.Ending == "" && s.endBy != 0 && s.endBy <= at:
		status = job.StatusTimedOut
	}
	st.end(b, s, status, e.Result, at)
}

// answer reports the end of a called run to its caller.
func (ch *children) answer(b *builder, a attempt, s job.Status, result json.RawMessage, at int64) {
	ch.post(b, &journal.Deferred{Job: a.caller.Job, CallEnd: &journal.CallEnd{
		RunID: a.runID, Caller: *a.caller, Status: s, Result: result, At: instant(at),
	}})
}

// called runs a job that a step of a workflow calls, or tells the caller why it does not.
func (ch *children) called(b *builder, name job.Name, c *journal.Call) {
	refuse := func(why string) {
		ch.post(b, &journal.Deferred{Job: c.Caller.Job, CallEnd: &journal.CallEnd{
			RunID: c.RunID, Caller: c.Caller, Status: job.StatusSkipped, Refused: reason.Join(reason.CallRefused.With(name), why), At: b.now,
		}})
	}
	id, ok := ch.jobs.find(name)
	if !ok || ch.jobs.at(id).newest().Deleted {
		refuse(reason.CalledUnknown.String())
		return
	}
	e := ch.jobs.at(id)
	if why := ch.cluster.whyPaused(name.Group(), e.newest(), b.now.UnixMilli()); why != "" {
		refuse(why)
		return
	}
	r := attempt{
		runID: c.RunID, version: e.newest().Version, number: 1, cause: job.CauseParent, fireTime: c.FireTime.UnixMilli(),
		parent: c.Caller.RunID, depth: c.Depth, caller: &c.Caller,
	}
	body := e.newestBody()
	if len(c.Params) > 0 {
		with, given, err := body.withResult(c.Params, r.fireTime)
		if err != nil {
			refuse(reason.StepParams.With(err))
			return
		}
		body, r.given = with, given
	}
	f := ch.runs.admit(b, id, r, body)
	if f.status == job.StatusSkipped {
		refuse(f.reason)
		return
	}
	r.total = f.total
	b.record.addRun(name, r, f.status, f.reason)
}

// callOff ends a called run at its caller's wish.
func (ch *children) callOff(b *builder, o *journal.CallOff) {
	a := ch.runs.byID[o.RunID]
	switch {
	case a == nil || a.caller == nil:
	case a.stage != triggered:
		ch.runs.endHere(b, a, job.StatusCancelled, o.Reason)
	case a.steps != nil:
		ch.runs.steps.callOff(b, a, job.StatusCancelled, o.Reason, false)
	case a.pieces != nil:
		ch.runs.callOff(b, a, o.Reason)
	default: // its end, whatever it is, counts as cancelled
		ch.items.release(a.item)
		a.cancelled, a.killed = o.Reason, true
		a.item = b.waitIn(&journal.Deferred{Kind: journal.DeferredAlive, Reason: a.cancelled}, a)
		b.Kills = append(b.Kills, Kill{Job: a.job, RunID: a.runID, Reason: o.Reason})
	}
}
