package shard

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/internal/condition"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/cron"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
)

// definition is a workflow as one of its versions has it, read for all runs of it that are alive.
type definition struct {
	*journal.WorkflowBody
	graph      *workflow.Graph
	zone       *time.Location
	params     json.RawMessage // of the job
	rules      []job.Reactions // of each step's runs
	conditions []*condition.Condition
	broken     []error // of each step, why its condition or the zone cannot be read here
	asked      [][]int // of each step, the steps that may ask for its result
	returned   []bool  // of each step, whether the result of the run has a part of its own
	uses       int     // by runs that are alive
}

// define reads the workflow of a version.
func define(of body) (*definition, error) {
	var t journal.Body
	if err := json.Unmarshal([]byte(of.text), &t); err != nil {
		return nil, fmt.Errorf("decode trigger body: %w", err)
	}
	d := &definition{WorkflowBody: t.Workflow, params: t.Params, zone: time.UTC}
	zone, unknown := cron.LoadZone(t.Workflow.Zone)
	if unknown == nil {
		d.zone = zone.Location()
	}
	for i := range d.Steps {
		d.broken = append(d.broken, unknown)
		d.rules = append(d.rules, job.Reactions{Retry: d.Steps[i].Body.Retry, StartWithin: d.Steps[i].StartWithin, SucceedsIf: d.Steps[i].SucceedsIf})
	}
	var err error
	if d.graph, err = graphOf(d.WorkflowBody); err != nil {
		return nil, err
	}
	return d, d.link()
}

// graphOf returns the graph of a workflow. The error is an *InvalidError.
func graphOf(w *journal.WorkflowBody) (*workflow.Graph, error) {
	places := make([]workflow.Step, len(w.Steps))
	for i := range w.Steps {
		places[i] = w.Steps[i].Step
	}
	g, problems := workflow.New(places)
	if len(problems) > 0 {
		return nil, &job.InvalidError{Field: problems[0].Field, Reason: problems[0].Reason}
	}
	return g, nil
}

// checkWorkflow returns an *InvalidError for a workflow that [define] cannot read: something has stored it that
// checks less than the API, or a newer program. nil is none. A condition that cannot be read only fails its step.
func checkWorkflow(w *journal.WorkflowBody) error {
	if w == nil {
		return nil
	}
	if _, err := graphOf(w); err != nil {
		return err
	}
	for i := range w.Steps {
		_, err := workflow.References(w.Steps[i].Body.Params)
		if err == nil {
			_, _, err = w.Steps[i].Body.Map.Overs()
		}
		if err != nil {
			return &job.InvalidError{Field: fmt.Sprintf("steps[%d]", i), Reason: err.Error()}
		}
	}
	if _, err := workflow.References(w.Result); err != nil {
		return &job.InvalidError{Field: "result", Reason: err.Error()}
	}
	return nil
}

// link reads the conditions, and notes who may ask for which result.
func (d *definition) link() error {
	n := d.graph.Len()
	d.conditions, d.asked, d.returned = make([]*condition.Condition, n), make([][]int, n), make([]bool, n)
	for i := range d.Steps {
		s := &d.Steps[i]
		refs, err := workflow.References(s.Body.Params)
		if err != nil {
			return err
		}
		var names []string
		for _, r := range append(refs, s.Wait.References()...) {
			names = append(names, r.Step)
		}
		if over, ok, err := s.Body.Map.Overs(); err != nil {
			return err
		} else if ok {
			names = append(names, over.Step)
		}
		if s.If != "" {
			c, err := condition.Parse(s.If)
			if err != nil {
				d.broken[i] = err // it was written by a program that could read it
				continue
			}
			d.conditions[i] = c
			names = append(names, c.Results()...)
		}
		for _, name := range names {
			if source, ok := d.graph.Index(name); ok && !slices.Contains(d.asked[source], i) {
				d.asked[source] = append(d.asked[source], i)
			}
		}
	}
	refs, err := workflow.References(d.Result)
	for _, r := range refs {
		if source, ok := d.graph.Index(r.Step); ok {
			d.returned[source] = true
		}
	}
	return err
}
