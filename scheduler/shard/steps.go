package shard

import (
	"encoding/json"
	"maps"
	"slices"
	"unique"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
)

// steps begins the steps of workflows as their graphs say, and says on the stream how far runs have come.
type steps struct {
	cfg         *Config
	jobs        *jobs
	items       *items
	cluster     *Cluster
	pieces      *pieces
	byID        map[job.RunID]*watchedRun // of all runs
	definitions map[unique.Handle[body]]*definition
	idle        []unique.Handle[body] // of definitions that no run uses, the one that was used last at the end
	sending     []*watchedRun         // runs with steps that may begin, or whose end is to be seen
	unwritten   []*watchedRun         // runs that have come further than the stream knows
	callingOff  []callingOff          // steps whose calls or pieces are to end

	post func(b *builder, d *journal.Deferred)                                           // leaves a letter for the owner of a job
	arm  func(id uint32)                                                                 // sets when a job needs attention again
	end  func(b *builder, a *watchedRun, s job.Status, result json.RawMessage, at int64) // sets the final status of a run
}

// maxIdle bounds the text of the definitions that are kept although no run uses them, in bytes.
const maxIdle = 512 << 10

// definition returns the workflow of a body.
func (st *steps) definition(of unique.Handle[body]) (*definition, error) {
	if d := st.definitions[of]; d != nil {
		if d.uses == 0 {
			st.idle = slices.DeleteFunc(st.idle, func(other unique.Handle[body]) bool { return other == of })
		}
		return d, nil
	}
	d, err := define(of.Value())
	if err == nil {
		st.definitions[of] = d
	}
	return d, err
}

// begin starts a run of a workflow. It takes two messages, for its items; steps begin as there is room.
func (st *steps) begin(b *builder, a *watchedRun) admission {
	d, err := st.definition(a.body)
	if err != nil {
		st.cfg.bug("run %s: %v", a.runID, err)
	}
	a.steps, a.startBy = newRunSteps(d, a), 0
	a.item = b.waitIn(&journal.Deferred{Kind: journal.DeferredWorkflow}, a)
	st.takeOver(b, a)
	st.settle(b, a, nil)
	return admission{status: job.StatusPending}
}

// takeOver records the steps that are taken over from an earlier run.
func (st *steps) takeOver(b *builder, a *watchedRun) {
	for i, s := range a.steps.states {
		if s == workflow.Taken {
			r := a.stepAttempt(i)
			b.record.addRun(a.job, r, job.StatusSucceeded, reason.StepTaken.With(a.taken[r.step].RunID))
		}
	}
	a.taken = nil // the item has them
}

// settle decides what follows from the states of steps that have changed; nil stands for all. The caller
// has found room for a message.
func (st *steps) settle(b *builder, a *watchedRun, changed []int) {
	p := a.steps
	p.def.graph.Settle(p.states, changed, &stepJudge{st, b, a})
	st.changed(b, a)
	st.sendLater(a)
}

// stepJudge decides the steps of one run.
type stepJudge struct {
	*steps
	b *builder
	a *watchedRun
}

// Begin is called for a step that is to run.
func (j *stepJudge) Begin(i int) workflow.State {
	p := j.a.steps
	switch holds, err := p.holds(i); {
	case err != nil:
		j.b.record.addRun(j.a.job, j.a.stepAttempt(i), job.StatusFailed, reason.StepConditionError.With(err))
		p.states[i] = workflow.Failed
		j.stopAfter(j.b, j.a, i)
		return workflow.Failed
	case !holds:
		j.b.record.addRun(j.a.job, j.a.stepAttempt(i), job.StatusSkipped, reason.StepCondition.With(p.def.Steps[i].If))
		return workflow.Skipped
	}
	return workflow.Ready
}

// Skip is called for a step that cannot run any more.
func (j *stepJudge) Skip(i int, d workflow.Decision) {
	var why []string
	s := &j.a.steps.def.Steps[i]
	for _, k := range d.Unmet {
		e := s.After[k]
		source, _ := j.a.steps.def.graph.Index(e.Step)
		why = append(why, reason.StepNeeds.With(e.On, e.Step, j.a.steps.states[source].Word()))
	}
	j.b.record.addRun(j.a.job, j.a.stepAttempt(i), job.StatusSkipped, reason.Join(why...))
}

// stepAttempt returns the first attempt of the run of a step, in its newest round.
func (a *watchedRun) stepAttempt(i int) attempt {
	name := a.steps.def.graph.Step(i).Name
	r := attempt{
		runID: job.RoundRunID(a.runID, name, a.steps.round(i)), version: a.version, number: 1, cause: job.CauseStep, fireTime: a.fireTime,
		parent: a.runID, depth: a.depth, step: name,
	}
	if !a.steps.def.graph.Step(i).Finally {
		r.endBy = a.endBy
	}
	return r
}

// ended does what follows from the end of the run of a step. The caller has found room.
func (st *steps) ended(b *builder, s *watchedRun, status job.Status, result json.RawMessage) {
	a, i := s.of, s.index
	p := a.steps
	delete(p.out, i)
	delete(p.waits, i)
	p.states[i] = stateOf[status]
	if status == job.StatusCancelled && p.kills(i) && s.cancelled == "" { // no person has
		p.ending.StoppedSteps = append(p.ending.StoppedSteps, i)
	}
	if status == job.StatusSucceeded && len(result) > 0 && p.needed(i) {
		if n := p.kept() + len(result); n > maxResults {
			p.states[i] = workflow.Failed
			b.record.addRun(a.job, s.attempt, job.StatusFailed, reason.StepResultTooLarge.With(n, maxResults))
		} else {
			st.keep(b, a, i, result)
		}
	}
	st.react(b, a, i)
}

// react does what follows from the new final state of step i in the graph.
func (st *steps) react(b *builder, a *watchedRun, i int) {
	if st.stopAfter(b, a, i) {
		st.settle(b, a, nil)
	} else {
		st.settle(b, a, []int{i})
	}
}

// stopAfter does to the other steps what the bad end of step i does to them. It reports whether it stops the run.
func (st *steps) stopAfter(b *builder, a *watchedRun, i int) bool {
	p := a.steps
	stops := p.def.OnFailure == job.FailureStops || p.def.OnFailure == job.FailureCancels
	if !stops || p.ending.Stopped || !p.states[i].EndedBadly() || p.def.graph.Step(i).MayFail {
		return false
	}
	p.ending.Stopped = true
	why := reason.StepStopped.With(p.def.graph.Step(i).Name)
	p.ending.StoppedSteps = st.callOffWaiting(b, a, why)
	if p.def.OnFailure == job.FailureCancels {
		st.kill(b, a, why)
	}
	return true
}

// wake looks after a run of a workflow as time passes, or after its owner has changed. It returns false when b
// is full; room is how many messages an end may take.
func (st *steps) wake(b *builder, a *watchedRun, deleted bool, room int, rs *runs) bool {
	p, now := a.steps, b.now.UnixMilli()
	switch {
	case p.item == nil && !p.changed: // somebody has deleted it from the stream
		b.record.addRun(a.job, a.attempt, job.StatusLost, reason.WorkflowUnknown.String())
		st.end(b, a, job.StatusLost, nil, now)
		return true
	case deleted && !p.ending.Force:
		p.ending.Force = true // finally steps, too, need a job
		st.callOffWaiting(b, a, reason.WorkflowDeleted.String())
		st.settle(b, a, nil)
	case a.endBy != 0 && a.endBy <= now && p.ending.Ending == "":
		st.callOff(b, a, job.StatusTimedOut, reason.WorkflowTimedOut.With(job.Duration(instant(a.endBy).Sub(instant(a.since)))), false)
	case p.ending.Ending != "":
		st.kill(b, a, p.ending.Reason) // an earlier owner may have died in between
	case p.ending.Stopped && p.def.OnFailure == job.FailureCancels:
		st.kill(b, a, reason.Cancelled.String())
	}
	for i := range p.states {
		s := p.out[i]
		if !b.fits(room) {
			return false
		}
		switch {
		case a.over:
			return true
		case p.waits[i] != nil:
			st.wakeWait(b, s)
		case p.states[i] != workflow.Begun && p.states[i] != workflow.Pending:
		case s == nil: // the stream has lost its end
			p.states[i] = workflow.Lost
			b.record.addRun(a.job, a.stepAttempt(i), job.StatusLost, reason.StepUnknown.String())
			st.react(b, a, i)
		case s.stage == retrying && s.stops() != "":
			rs.endHere(b, s, job.StatusCancelled, s.stops())
		case s.stage == retrying && s.due <= now:
			f := rs.launch(b, s)
			b.record.addRun(s.job, s.attempt, f.status, f.reason)
		case s.pieces != nil:
			rs.wakePieces(b, s, now)
		case s.calls():
			if s.endBy != 0 && s.endBy <= now && !s.killed {
				st.callOffLater(s, reason.CallTimedOut.With(p.def.Steps[i].Body.Timeout))
			}
		case s.expired(now):
			rs.endHere(b, s, job.StatusMissed, reason.NobodyBegan.With(p.def.rules[i].StartWithin))
		}
	}
	st.sendLater(a)
	return true
}

// finish ends a run whose steps are all final. The caller has found room for what follows.
func (st *steps) finish(b *builder, a *watchedRun) {
	p := a.steps
	status, why := p.outcome()
	var result json.RawMessage
	if status == job.StatusSucceeded {
		var err error
		if result, err = p.result(a); err != nil {
			status, why = job.StatusFailed, reason.WorkflowResult.With(err)
		}
	}
	b.record.addRun(a.job, a.attempt, status, why).Result = result
	b.record.size += len(result)
	st.end(b, a, status, result, b.now.UnixMilli())
}

// drop releases what a run of a workflow has on the stream beside its item.
func (st *steps) drop(a *watchedRun) {
	p := a.steps
	st.items.release(p.item)
	for _, i := range slices.Sorted(maps.Keys(p.results)) {
		st.items.release(p.results[i].item)
	}
	for _, i := range slices.Sorted(maps.Keys(p.out)) { // of a job that is removed
		p.out[i].over = true
		st.items.release(p.out[i].item)
		if st.byID[p.out[i].runID] == p.out[i] {
			delete(st.byID, p.out[i].runID)
		}
	}
	if p.def.uses--; p.def.uses == 0 {
		st.rest(a.body)
	}
}

// rest keeps a definition that no run uses, for the next run of its job, and forgets others if that is too much.
func (st *steps) rest(of unique.Handle[body]) {
	st.idle = append(st.idle, of)
	size := 0
	for i, kept := range slices.Backward(st.idle) {
		if size += len(kept.Value().text); size > maxIdle {
			for _, old := range st.idle[:i+1] {
				delete(st.definitions, old)
			}
			st.idle = slices.Delete(st.idle, 0, i+1)
			return
		}
	}
}

// changed marks a run's progress as unwritten; write writes it once per batch. The caller has found room
// for a message.
func (st *steps) changed(b *builder, a *watchedRun) {
	if !a.steps.changed {
		a.steps.changed = true
		st.unwritten = append(st.unwritten, a)
		b.promised++
	}
}

// write adds the items of runs whose progress is unwritten.
func (st *steps) write(b *builder) {
	b.promised -= len(st.unwritten)
	for _, a := range st.unwritten {
		a.steps.changed = false
		if !a.over {
			b.items.release(a.steps.item)
			a.steps.item = b.deferred(st.cfg.Shard, a.steps.deferred(a))
		}
	}
	st.unwritten = st.unwritten[:0]
}
