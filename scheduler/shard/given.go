package shard

import (
	"encoding/json"
	"errors"
	"maps"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// mayGive says why step i cannot get parameters in the place of its own, "" if it can. All that steps are still
// to get is in one item.
func (p *runSteps) mayGive(i int, g *bus.GivenParams) string {
	if len(g.SetParams) > 0 && p.called(i) != "" && len(p.def.Steps[i].Body.Params) == 0 {
		return refusal.StepPassesNone.With(p.def.graph.Step(i).Name)
	}
	if !g.Nothing() && p.def.Steps[i].Wait != nil {
		return refusal.StepTakesNone.With(p.def.graph.Step(i).Name)
	}
	p.dropGiven()
	size := g.Size()
	for _, other := range p.ending.Given {
		size += other.Size()
	}
	if !g.Nothing() && size > job.MaxParams {
		return refusal.StepsGivenTooLarge.With(size, job.MaxParams)
	}
	return ""
}

// give keeps what step i gets in its next round, until it begins.
func (p *runSteps) give(i int, g *bus.GivenParams) {
	if g.Nothing() {
		return
	}
	if p.ending.Given == nil {
		p.ending.Given = map[string]bus.GivenParams{}
	}
	p.ending.Given[p.def.graph.Step(i).Name] = *g
}

// stepParams returns the parameters of step i as it gets them.
func (p *runSteps) stepParams(a *watchedRun, i int) (json.RawMessage, error) {
	g := p.ending.Given[p.def.graph.Step(i).Name]
	if len(g.Params) > 0 {
		return g.Params, nil
	}
	own, err := p.fill(a, p.def.Steps[i].Body.Params)
	if err != nil {
		return nil, err
	}
	params, ok := g.Of(own)
	if !ok {
		return nil, errors.New(reason.StepParams.With("they are no object, so no field of them can be changed"))
	}
	return params, nil
}

// dropGiven drops what steps were given that have begun, or will not.
func (p *runSteps) dropGiven() {
	maps.DeleteFunc(p.ending.Given, func(name string, _ bus.GivenParams) bool {
		i, ok := p.def.graph.Index(name)
		return !ok || p.states[i] != workflow.Waiting && p.states[i] != workflow.Ready
	})
}
