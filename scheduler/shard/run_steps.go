package shard

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/carillon-scheduler/carillon/internal/condition"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
)

// runSteps is how far a run of a workflow has come.
type runSteps struct {
	def     *definition
	params  json.RawMessage // of the run
	states  []workflow.State
	results map[int]*stepResult  // of steps, if somebody may ask for them
	out     map[int]*watchedRun  // the runs of steps that have begun
	waits   map[int]*runlog.Wait // of those that wait, what for
	ending  journal.Steps        // but for States and Waits: whether the run is called off, or no step may begin

	item    *item // with the states
	sending bool  // it is among those that have steps to begin, or whose end is to be seen
	changed bool  // the stream does not know yet how far it has come
}

// stepResult is what a step has returned.
type stepResult struct {
	value json.RawMessage
	item  *item // nil if it was taken over: the item of the run has it
}

// maxResults bounds the results that a run keeps at one time, in bytes.
const maxResults = 1 << 20

// newRunSteps returns the steps of a run that is about to begin.
func newRunSteps(d *definition, a *watchedRun) *runSteps {
	d.uses++
	p := &runSteps{def: d, states: d.graph.Start(), results: map[int]*stepResult{}, out: map[int]*watchedRun{}, waits: map[int]*runlog.Wait{}}
	params := d.params
	if len(a.given) > 0 {
		params = a.given
	}
	for name, s := range a.taken {
		i, ok := d.graph.Index(name)
		if !ok || d.graph.Step(i).Finally {
			continue
		}
		p.states[i] = workflow.Taken
		if len(s.Result) > 0 {
			p.results[i] = &stepResult{value: s.Result}
		}
	}
	var err error
	if p.params, err = job.ParamsAt(params, instant(a.fireTime), d.zone); err != nil {
		p.params = params // it was checked when it was saved
	}
	return p
}

// begun reports whether a step has begun.
func (p *runSteps) begun() bool {
	return len(p.ending.Rounds) > 0 || slices.ContainsFunc(p.states, func(s workflow.State) bool {
		return s != workflow.Waiting && s != workflow.Ready && s != workflow.Skipped && s != workflow.Taken
	})
}

// calledOff reports whether step i must not begin, or begin again, because the run is to end.
func (p *runSteps) calledOff(i int) bool {
	return p.ending.Force || p.ending.Ending != "" && !p.def.graph.Step(i).Finally
}

// cause returns why the run ends, as [workflow.Graph.End] takes it.
func (p *runSteps) cause() workflow.State {
	switch p.ending.Ending { //nolint:exhaustive // "" is the other
	case job.StatusCancelled:
		return workflow.Cancelled
	case job.StatusTimedOut:
		return workflow.TimedOut
	}
	return workflow.Succeeded
}

// needed reports whether the result of step i may be asked for. Even if all that ask have ended, they may be retried.
func (p *runSteps) needed(i int) bool { return p.def.returned[i] || len(p.def.asked[i]) > 0 }

// kept returns how many bytes the results have that are kept.
func (p *runSteps) kept() (n int) {
	for _, r := range p.results {
		n += len(r.value)
	}
	return n
}

// holds evaluates the condition of step i. The error says why it cannot be computed.
func (p *runSteps) holds(i int) (bool, error) {
	if err := p.def.broken[i]; err != nil {
		return false, err
	}
	c := p.def.conditions[i]
	if c == nil {
		return true, nil
	}
	v := condition.Values{Params: p.params, Results: map[string]json.RawMessage{}, Status: map[string]string{}}
	for _, name := range c.Steps() {
		k, ok := p.def.graph.Index(name)
		if !ok || !p.states[k].Final() {
			continue
		}
		v.Status[name] = p.states[k].Word()
		if r := p.results[k]; r != nil && p.states[k].EndedWell() {
			v.Results[name] = r.value
		} else if p.states[k] == workflow.Succeeded {
			v.Results[name] = nil
		}
	}
	return c.Holds(v)
}

// body returns what the trigger of step i carries.
func (p *runSteps) body(a *watchedRun, i int) (body, error) {
	t := p.def.Steps[i].Body
	t.Map = withoutList(t.Map)
	fire := instant(a.fireTime)
	var err error
	if t.Task, err = t.Task.At(fire, p.def.zone); err != nil {
		return body{}, err
	}
	if t.Params, err = p.stepParams(a, i); err != nil {
		return body{}, err
	}
	if n := len(t.Params); n > job.MaxParams {
		return body{}, errors.New(reason.StepParamsTooLarge.With(n, job.MaxParams))
	}
	of, err := encodeBody(&journal.Body{TriggerBody: t})
	of.timed = false
	return of, err
}

// fill replaces the references in parameters; without any, they are those of the run.
func (p *runSteps) fill(a *watchedRun, params json.RawMessage) (json.RawMessage, error) {
	if len(params) == 0 {
		return p.params, nil
	}
	params, err := job.ParamsAt(params, instant(a.fireTime), p.def.zone)
	if err != nil {
		return nil, errors.New(reason.StepParams.With(err))
	}
	filled, err := workflow.Fill(params, func(r workflow.Reference) (json.RawMessage, error) { return p.lookUp(a, r) })
	if err != nil {
		return nil, errors.New(reason.StepParams.With(err))
	}
	return filled, nil
}

// lookUp returns the value at the root of a reference.
func (p *runSteps) lookUp(a *watchedRun, r workflow.Reference) (json.RawMessage, error) {
	switch r.Root {
	case workflow.Params:
		return p.params, nil
	case workflow.Workflow:
		if r.Name == "run_id" {
			return json.Marshal(a.runID)
		}
		status, _ := p.outcome()
		return json.Marshal(status)
	case workflow.Results:
	}
	k, ok := p.def.graph.Index(r.Step)
	switch {
	case !ok:
		return nil, fmt.Errorf("there is no step %s", r.Step)
	case p.results[k] != nil && p.states[k].EndedWell(): // a signal may have come before its step has begun to wait
		return p.results[k].value, nil
	case p.states[k] == workflow.Succeeded, r.Optional:
		return nil, nil
	case p.states[k] == workflow.Taken:
		return nil, fmt.Errorf("%s was not taken over from the earlier run", r)
	}
	return nil, fmt.Errorf("%s has no result: step %s is %s", r, r.Step, p.states[k].Word())
}

// outcome returns how the run has ended, or would if the steps that are not final were none of it, and why.
func (p *runSteps) outcome() (job.Status, string) {
	e := p.def.graph.End(p.states, p.cause())
	total := p.def.graph.Len()
	why := ""
	switch {
	case e.State == workflow.Skipped:
		return job.StatusSkipped, reason.StepsSkipped.With(total)
	case e.State == workflow.Failed:
		why = reason.StepsFailed.With(len(e.Bad), total, p.named(e.Bad))
	case e.State == workflow.Cancelled && p.ending.Ending == "":
		why = reason.StepsCancelled.With(len(e.Bad), total, p.named(e.Bad))
	case p.ending.Ending != "":
		why = p.ending.Reason
	case e.Skipped+e.Forgiven > 0:
		why = tally(e, total)
	}
	return statusOf[e.State], why
}

// tally says how many steps succeeded, and how many did not though the run did.
func tally(e workflow.End, total int) string {
	said := []string{reason.StepsTally.With(e.Well, total)}
	if e.Skipped > 0 {
		said = append(said, reason.StepsPassed.With(e.Skipped))
	}
	if e.Forgiven > 0 {
		said = append(said, reason.StepsForgiven.With(e.Forgiven))
	}
	return reason.Join(said...)
}

// statusOf maps the letter of a step, or of a run, to its final status.
var statusOf = map[workflow.State]job.Status{
	workflow.Succeeded: job.StatusSucceeded, workflow.Taken: job.StatusSucceeded, workflow.Failed: job.StatusFailed,
	workflow.TimedOut: job.StatusTimedOut, workflow.Lost: job.StatusLost, workflow.Missed: job.StatusMissed,
	workflow.Cancelled: job.StatusCancelled, workflow.Skipped: job.StatusSkipped,
}

// stateOf is the inverse of statusOf.
var stateOf = map[job.Status]workflow.State{
	job.StatusSucceeded: workflow.Succeeded, job.StatusFailed: workflow.Failed, job.StatusTimedOut: workflow.TimedOut,
	job.StatusLost: workflow.Lost, job.StatusMissed: workflow.Missed, job.StatusCancelled: workflow.Cancelled,
	job.StatusSkipped: workflow.Skipped,
}

// maxNamed is how many steps a reason names.
const maxNamed = 5

// named returns the names of steps, the first of them.
func (p *runSteps) named(steps []int) string {
	text := ""
	for n, i := range steps {
		if n == maxNamed {
			return text + ", …"
		}
		if n > 0 {
			text += ", "
		}
		text += p.def.graph.Step(i).Name
	}
	return text
}

// result returns what the run returns, or why that cannot be computed.
func (p *runSteps) result(a *watchedRun) (json.RawMessage, error) {
	if len(p.def.Result) == 0 {
		return nil, nil
	}
	value, err := p.fill(a, p.def.Result)
	if err == nil && len(value) > job.MaxParams {
		err = errors.New(reason.TooManyBytes.With(len(value), job.MaxParams))
	}
	return value, err
}

// deferred returns the item that says how far the run has come.
func (p *runSteps) deferred(a *watchedRun) *journal.Deferred {
	p.dropGiven()
	s := p.ending
	letters := make([]byte, len(p.states))
	for i, state := range p.states {
		letters[i] = byte(state)
	}
	s.States = string(letters)
	for i, w := range p.waits {
		if s.Waits == nil {
			s.Waits = map[string]runlog.Wait{}
		}
		s.Waits[p.def.graph.Step(i).Name] = *w
	}
	return &journal.Deferred{Kind: journal.DeferredSteps, Job: a.job, RunID: a.runID, Steps: &s}
}

// stepsAt returns when a step next needs attention because time passes, or the run because its time is
// over; 0 if none does.
func (a *watchedRun) stepsAt() int64 {
	at := int64(0)
	sooner := func(t int64) {
		if t != 0 && (at == 0 || t < at) {
			at = t
		}
	}
	if a.steps.ending.Ending == "" {
		sooner(a.endBy)
	}
	for _, s := range a.steps.out {
		switch {
		case s.stage == retrying && s.stops() != "":
			return 1 // at once: it has no further attempt
		case s.stage == retrying, s.stage == waiting:
			sooner(s.due)
		case s.pieces != nil:
			sooner(s.pieceAt())
		case s.calls():
			if !s.killed {
				sooner(s.endBy)
			}
		case s.startBy != 0:
			sooner(s.startBy + startMargin.Milliseconds())
		}
	}
	return at
}
