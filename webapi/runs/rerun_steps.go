package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// stepRerun is which steps of a workflow's run a rerun repeats, and why.
type stepRerun struct {
	of      *runlog.Run
	version *job.Version // that the rerun does
	was     *job.Version // that the run did; nil if all steps are repeated
	graph   *workflow.Graph
	rows    []*runlog.Run    // of each step, the newest run in the history; nil: there is none
	states  []workflow.State // in which the rerun begins
	from    []int            // the steps that the caller chose
	all     bool
	changed bool // the parameters are
}

// planSteps returns which steps a rerun of a run repeats.
func (rs *Runs) planSteps(ctx context.Context, of *runlog.Run, v *job.Version, wish *api.RerunRequest) (*stepRerun, error) {
	failed := wish.Steps == api.RerunRequestStepsFailed || wish.Pieces == api.RerunRequestPiecesFailed
	switch {
	case len(v.Steps) == 0 && (wish.Steps == api.RerunRequestStepsFailed || len(wish.From) > 0 || wish.DryRun):
		return nil, job.Invalid("steps", "is for runs of workflows: version %d of job %s has no steps", v.Version, v.Job.Job)
	case len(v.Steps) == 0:
		return nil, nil //nolint:nilnil // it is no workflow
	case failed && len(wish.From) > 0:
		return nil, job.Invalid("from", "names steps to repeat, and steps selects those that failed: give one of them")
	}
	graph, problems := job.Graph(v.Steps)
	if len(problems) > 0 {
		return nil, job.Invalid("steps", "%s %s", problems[0].Field, problems[0].Reason)
	}
	p := &stepRerun{of: of, version: v, graph: graph, rows: make([]*runlog.Run, graph.Len()), all: !failed && len(wish.From) == 0}
	p.changed = len(wish.Params)+len(wish.SetParams) > 0
	if p.states = graph.Start(); p.all {
		return p, nil
	}
	for k, name := range wish.From {
		i, ok := graph.Index(name)
		if !ok {
			return nil, job.Invalid(fmt.Sprintf("from[%d]", k), "%q is no step of version %d of the job", name, v.Version)
		}
		p.from = append(p.from, i)
	}
	if err := rs.addEnded(ctx, p); err != nil {
		return nil, err
	}
	ended := p.ended()
	if failed {
		if p.states = graph.WhatFailed(ended); !p.repeats() {
			return nil, problem.Explain(job.ErrConflict, refusal.AllStepsSucceeded.With(of.RunID))
		}
	} else {
		p.states = graph.From(ended, p.from)
	}
	return p, nil
}

// addEnded reads how the steps of the run ended, and what version it did.
func (rs *Runs) addEnded(ctx context.Context, p *stepRerun) error {
	was, err := rs.versionOf(ctx, p.of, true)
	if err != nil {
		return err
	}
	p.was = &was.Version
	var rows map[string]*runlog.Run
	if err := settle(ctx, p.of, func() (bool, error) {
		rows, err = rs.stepRuns(ctx, p.of)
		return p.haveEnded(rows), err
	}); err != nil {
		return err
	}
	for i := range p.rows {
		p.rows[i] = rows[p.graph.Step(i).Name]
	}
	return nil
}

// haveEnded reports whether rows tell how each step of the run has ended. None has if the run did not come to them.
func (p *stepRerun) haveEnded(rows map[string]*runlog.Run) bool {
	if len(rows) == 0 && p.of.RunStartedAt().IsZero() && p.of.RunStatus() != job.StatusSucceeded && p.of.RunStatus() != job.StatusFailed {
		return true
	}
	for i := range p.was.Steps {
		if row := rows[p.was.Steps[i].Name]; row == nil || !row.StepStatus().Final() {
			return false
		}
	}
	return true
}

// ended returns how the steps ended. One that is not the same in both versions is decided anew.
func (p *stepRerun) ended() []workflow.State {
	states := p.graph.Start()
	for i, row := range p.rows {
		if row != nil && p.same(i) {
			states[i] = stateOf(row.StepStatus())
		}
	}
	return states
}

// same reports whether both versions do the same in step i.
func (p *stepRerun) same(i int) bool {
	now, was := &p.version.Steps[i], p.before(i)
	if was == nil {
		return false
	}
	if now.Call != was.Call {
		return false
	}
	a, errA := json.Marshal([]any{now.Task.ByDigest(), now.Wait, cutOf(now)})
	b, errB := json.Marshal([]any{was.Task.ByDigest(), was.Wait, cutOf(was)})
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// cutOf returns into which pieces a step is cut, but for how many of them are out at once.
func cutOf(s *job.Step) (cut job.Map) {
	if s.Map != nil {
		cut = *s.Map
	}
	cut.AtOnce = 0
	if s.Route == job.RouteBroadcast {
		cut.Over = string(s.Route)
	}
	return cut
}

// before returns step i as the run did it, nil if it had no such step.
func (p *stepRerun) before(i int) *job.Step {
	for k := range p.was.Steps {
		if p.was.Steps[k].Name == p.version.Steps[i].Name {
			return &p.was.Steps[k]
		}
	}
	return nil
}

// repeats reports whether a step is repeated that did not succeed, and was not skipped.
func (p *stepRerun) repeats() bool {
	for i, row := range p.rows {
		if p.states[i] == workflow.Waiting && (row == nil || row.StepStatus() != job.StatusSucceeded && row.StepStatus() != job.StatusSkipped) {
			return true
		}
	}
	return false
}

// list returns what becomes of each step, and why.
func (p *stepRerun) list() []api.RerunStep {
	steps := make([]api.RerunStep, p.graph.Len())
	for i := range steps {
		steps[i] = api.RerunStep{Step: p.graph.Step(i).Name, Action: api.RerunStepActionDecide, Reason: reason.Text(p.why(i))}
		switch {
		case p.states[i] == workflow.Taken:
			steps[i].Action, steps[i].RunID = api.RerunStepActionTake, origin(p.rows[i])
		case p.version.Steps[i].If == "" && p.graph.Decide(i, p.states).Runs:
			steps[i].Action = api.RerunStepActionRun
		}
	}
	return steps
}

// why returns why step i is taken over or repeated.
func (p *stepRerun) why(i int) string {
	s := p.graph.Step(i)
	switch {
	case p.states[i] == workflow.Taken:
		why := reason.StepTaken.With(origin(p.rows[i]))
		if p.changed && readsParams(&p.version.Steps[i]) {
			why = reason.Join(why, reason.StepReadParams.String())
		}
		return why
	case p.all:
		return reason.StepsAllRepeat.String()
	case s.Finally:
		return reason.StepFinallyRepeats.String()
	}
	switch {
	case slices.Contains(p.from, i):
		return reason.StepChosen.String()
	case p.before(i) == nil:
		return reason.StepIsNew.With(p.was.Version)
	case !p.same(i):
		return reason.StepChanged.With(p.was.Version)
	case p.rows[i] == nil:
		return reason.StepNotKept.String()
	}
	if ended := p.rows[i].StepStatus(); ended != job.StatusSucceeded {
		return reason.StepEnded.With(ended)
	}
	for _, e := range s.After {
		if source, _ := p.graph.Index(e.Step); p.states[source] != workflow.Taken && (p.rows[source] == nil || p.rows[source].StepStatus() != job.StatusSkipped) {
			return reason.StepFollows.With(e.Step)
		}
	}
	return reason.StepAlwaysRepeats.String()
}

// origin returns the run of a step that did what a row says: the row's own, or the one it was taken over from.
func origin(row *runlog.Run) job.RunID {
	if said := reason.Read(string(row.Reason)); said.Code == reason.StepTaken.Code {
		return job.RunID(said.Params["run_id"])
	}
	return row.RunID
}

// readsParams reports whether a step has parameters of the run among its own.
func readsParams(s *job.Step) bool {
	if len(s.Params) == 0 && s.Wait == nil || words(s.If)[string(workflow.Params)] {
		return true
	}
	refs, _ := workflow.References(s.Params) // which were checked when it was saved
	return slices.ContainsFunc(append(refs, otherReferences(s)...), func(r workflow.Reference) bool { return r.Root == workflow.Params })
}

// otherReferences returns those of a step beside its parameters.
func otherReferences(s *job.Step) []workflow.Reference {
	refs := s.Wait.References()
	if over, ok, err := s.Map.Overs(); ok && err == nil {
		refs = append(refs, over)
	}
	return refs
}

// words returns the names in a condition, and the words of texts in it.
func words(condition string) map[string]bool {
	found := map[string]bool{}
	for _, w := range strings.FieldsFunc(condition, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		found[w] = true
	}
	return found
}

// needed returns the steps whose results others, or the run itself, may ask for.
func (p *stepRerun) needed() map[string]bool {
	needed := map[string]bool{}
	add := func(value json.RawMessage) {
		refs, _ := workflow.References(value) // which were checked when it was saved
		for _, r := range refs {
			needed[r.Step] = true
		}
	}
	add(p.version.Result)
	for i := range p.version.Steps {
		s := &p.version.Steps[i]
		if p.states[i] == workflow.Taken {
			continue
		}
		add(s.Params)
		for _, r := range otherReferences(s) {
			needed[r.Step] = true
		}
		maps.Copy(needed, words(s.If))
	}
	return needed
}

// maxTakenResults bounds the results that travel with a request, as shard.maxResults.
const maxTakenResults = 1 << 20

// take returns the steps that are taken over, with the results that may be asked for.
func (rs *Runs) take(ctx context.Context, p *stepRerun) (map[string]bus.TakenStep, error) {
	taken, needed, size := map[string]bus.TakenStep{}, p.needed(), 0
	for i, s := range p.states {
		if s != workflow.Taken {
			continue
		}
		name := p.graph.Step(i).Name
		t := bus.TakenStep{RunID: origin(p.rows[i])}
		if needed[name] {
			result, err := resultOf(ctx, rs.history, t.RunID, name)
			if err != nil {
				return nil, err
			}
			t.Result = result
			size += len(result)
		}
		taken[name] = t
	}
	if size > maxTakenResults {
		return nil, problem.Explain(job.ErrConflict, refusal.StepResultsTooLarge.With(size, maxTakenResults))
	}
	return taken, nil
}

// resultOf returns what the run of a step returned: null if that was nothing.
func resultOf(ctx context.Context, history logstore.Store, id job.RunID, step string) (json.RawMessage, error) {
	attempts, err := history.Run(ctx, id)
	switch {
	case errors.Is(err, job.ErrNotFound):
		return nil, problem.Explain(job.ErrConflict, refusal.StepResultGone.With(step))
	case err != nil:
		return nil, problem.StoreAway(err)
	case len(attempts[0].Result) == 0:
		return json.RawMessage(`null`), nil
	}
	return attempts[0].Result, nil
}
