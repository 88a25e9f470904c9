package workflow

import "slices"

// WhatFailed returns the initial states of a run that repeats the failed part of another, given how the
// steps of the other ended. A step that succeeded is taken over if each of its ancestors is taken over or
// was skipped. All other steps, including skipped ones, are decided again.
func (g *Graph) WhatFailed(ended []State) []State {
	states := g.Start()
	kept := make([]bool, len(g.steps)) // taken over or skipped, and so are all ancestors
	for _, i := range g.order {
		if g.steps[i].Finally {
			continue
		}
		kept[i] = ended[i].EndedWell() || ended[i] == Skipped
		for _, source := range g.sources[i] {
			kept[i] = kept[i] && kept[source]
		}
		if kept[i] && ended[i].EndedWell() {
			states[i] = Taken
		}
	}
	return g.always(states)
}

// From returns the initial states of a run that repeats the steps of first and their descendants. All other
// steps that succeeded are taken over; steps that did not succeed are decided again.
func (g *Graph) From(ended []State, first []int) []State {
	states := g.Start()
	again := make([]bool, len(g.steps))
	for _, i := range first {
		again[i] = true
	}
	for _, i := range g.order {
		for _, source := range g.sources[i] {
			again[i] = again[i] || again[source]
		}
		if !again[i] && ended[i].EndedWell() && !g.steps[i].Finally {
			states[i] = Taken
		}
	}
	return g.always(states)
}

// always takes out of what is taken over the steps that are repeated whenever a descendant is.
func (g *Graph) always(states []State) []State {
	repeated := make([]bool, len(g.steps)) // it or a descendant is repeated
	for _, i := range slices.Backward(g.order) {
		for _, n := range g.next[i] {
			repeated[i] = repeated[i] || repeated[n]
		}
		if repeated[i] && g.steps[i].Rerun == RerunAlways {
			states[i] = Waiting
		}
		repeated[i] = repeated[i] || states[i] == Waiting && !g.steps[i].Finally
	}
	return states
}

// Reset puts the steps of also, and the final descendants of them and of step i, back to Waiting, finally steps
// included, and returns them. If one of them has begun and not ended, it changes nothing and returns that
// one as busy.
func (g *Graph) Reset(i int, also []int, states []State) (reset []int, busy int, ok bool) {
	after := make([]bool, len(g.steps))
	after[i] = true
	for _, k := range also {
		after[k] = true
	}
	for _, k := range g.order {
		for _, source := range g.sources[k] {
			after[k] = after[k] || after[source]
		}
		after[k] = after[k] || g.steps[k].Finally && !g.steps[i].Finally
	}
	after[i] = false
	for _, k := range g.order {
		switch {
		case !after[k]:
		case states[k].Final():
			reset = append(reset, k)
		case states[k] != Waiting:
			return nil, k, false
		}
	}
	for _, k := range reset {
		states[k] = Waiting
	}
	return reset, 0, true
}
