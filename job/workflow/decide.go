package workflow

// Decision is what the states of a step's sources mean for it.
type Decision struct {
	Runs  bool
	Skips bool  // its join cannot be met any more
	Unmet []int // the edges that are not met, by their place in [Step.After], if it is skipped
}

// Decide says whether step i, which waits, is to run, is to be skipped, or has to wait on. states has
// the states of all steps.
func (g *Graph) Decide(i int, states []State) Decision {
	s := &g.steps[i]
	if s.Finally && !g.mainFinal(states) {
		return Decision{}
	}
	met, open, unskipped := 0, 0, 0
	for k, source := range g.sources[i] {
		switch state := states[source]; {
		case !state.Final():
			open++
		case s.After[k].On.Met(state):
			met++
		case state != Skipped:
			unskipped++
		}
	}
	var runs, skips bool
	switch {
	case s.Join.early():
		runs = met >= s.Join.Least
		skips = met+open < s.Join.Least
	case open > 0: // so that the reason for which it is skipped does not depend on the order of the ends
	case s.Join.Taken:
		runs = met > 0 && unskipped == 0
		skips = !runs
	default:
		runs = met == len(g.sources[i])
		skips = !runs
	}
	d := Decision{Runs: runs, Skips: skips}
	if skips {
		d.Unmet = g.unmet(i, states)
	}
	return d
}

// unmet returns the edges of step i whose sources are final and do not meet them.
func (g *Graph) unmet(i int, states []State) (edges []int) {
	for k, source := range g.sources[i] {
		if state := states[source]; state.Final() && !g.steps[i].After[k].On.Met(state) {
			edges = append(edges, k)
		}
	}
	return edges
}

// mainFinal reports whether all steps are final that are not finally ones.
func (g *Graph) mainFinal(states []State) bool {
	for i, s := range states {
		if !s.Final() && !g.steps[i].Finally {
			return false
		}
	}
	return true
}

// Final reports whether all steps are final.
func (g *Graph) Final(states []State) bool {
	for _, s := range states {
		if !s.Final() {
			return false
		}
	}
	return true
}

// Judge is what happens to a step that is decided.
type Judge interface {
	// Begin is called for a step that is to run. It returns [Ready], or [Skipped] if its condition says
	// no, or [Failed] if its condition or its parameters cannot be computed.
	Begin(step int) State
	// Skip is called for a step whose join cannot be met any more.
	Skip(step int, d Decision)
}

// Settle decides all steps that can be decided, and those that follow from them, and changes states
// accordingly. changed are steps whose states have changed since it was last called; nil has every step
// looked at. A step is judged once, after all that its decision rests on.
func (g *Graph) Settle(states []State, changed []int, judge Judge) {
	look := make([]int, 0, len(g.steps))
	if changed == nil {
		look = append(look, g.order...)
	}
	for _, i := range changed {
		look = append(look, g.next[i]...)
	}
	finally := false
	for {
		for len(look) > 0 {
			i := look[0]
			look = look[1:]
			if states[i] != Waiting {
				continue
			}
			switch d := g.Decide(i, states); {
			case d.Skips:
				states[i] = Skipped
				judge.Skip(i, d)
			case d.Runs:
				states[i] = judge.Begin(i)
			}
			if states[i].Final() {
				look = append(look, g.next[i]...)
			}
		}
		if finally || !g.mainFinal(states) {
			return
		}
		finally = true
		for _, i := range g.order {
			if g.steps[i].Finally {
				look = append(look, i)
			}
		}
	}
}

// Cancel cancels the steps that have not begun and returns them. It cancels finally steps only if force is
// set. Steps that have begun end by themselves, or the caller kills them.
func (g *Graph) Cancel(states []State, force bool) (cancelled []int) {
	for i, s := range states {
		if (s == Waiting || s == Ready || s == Pending) && (force || !g.steps[i].Finally) {
			states[i] = Cancelled
			cancelled = append(cancelled, i)
		}
	}
	return cancelled
}
