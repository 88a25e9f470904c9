package shard

import (
	"maps"
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
)

// restoreRun makes a run that an earlier owner has begun one of a workflow. Its steps follow: all of
// their items were stored after its own.
func (st *steps) restoreRun(a *watchedRun) error {
	d, err := st.definition(a.body)
	if err != nil {
		return err
	}
	a.steps = newRunSteps(d, a)
	a.taken = nil
	return nil
}

// restore enters how far a run has come, or what a step of it has returned, from the item at seq. An item of
// a run that is over is released.
func (st *steps) restore(d *journal.Deferred, seq uint64) {
	a := st.byID[d.RunID]
	if a == nil || a.steps == nil {
		st.items.due = append(st.items.due, seq)
		return
	}
	p, i := a.steps, &item{seq: seq}
	if d.Kind == journal.DeferredResult {
		k, ok := p.def.graph.Index(d.Step)
		if !ok {
			st.items.release(i)
			return
		}
		p.results[k] = &stepResult{value: d.Result, item: i}
		return
	}
	if len(d.Steps.States) != len(p.states) { // no machine wrote it
		st.items.release(i)
		return
	}
	st.items.release(p.item)
	p.item, p.ending = i, *d.Steps
	p.ending.StoppedSteps = slices.Clone(d.Steps.StoppedSteps)
	p.ending.States, p.ending.Waits = "", nil
	p.ending.Rounds, p.ending.Given, p.ending.Signalled = maps.Clone(d.Steps.Rounds), maps.Clone(d.Steps.Given), maps.Clone(d.Steps.Signalled)
	for k := range p.states {
		p.states[k] = workflow.State(d.Steps.States[k])
		if r := p.results[k]; r != nil && r.item == nil && p.states[k] != workflow.Taken {
			delete(p.results, k) // it was taken over, and then decided again
		}
	}
	st.restoreWaits(a, d.Steps.Waits)
}

// restoreStep enters the run of a step. A step has one item: the batch that writes a new one releases the old one.
// It returns false if its workflow's run is over.
func (st *steps) restoreStep(s *watchedRun, t *bus.Trigger) bool {
	a := st.byID[t.ParentRun]
	if a == nil || a.steps == nil {
		return false
	}
	i, ok := a.steps.def.graph.Index(t.Step)
	if !ok {
		return false
	}
	s.of, s.index = a, i
	a.steps.out[i] = s
	if !s.calls() {
		st.byID[s.runID] = s
	}
	return true
}
