package workflow

// End is how a run of a graph has ended.
type End struct {
	// State is Succeeded, Failed, TimedOut, Cancelled or Skipped.
	State State
	// Bad are the steps that make it so: those that ended badly if State is Failed, those that somebody
	// cancelled if it is Cancelled and the run itself was not.
	Bad []int
	// Numbers of steps: Forgiven counts those that ended badly and may fail.
	Well, Skipped, Cancelled, Forgiven int
}

// End says how a run has ended whose steps are all final. cause is Cancelled if the run itself was
// cancelled, TimedOut if its time was over, or Succeeded if neither happened.
func (g *Graph) End(states []State, cause State) End {
	e := End{State: cause}
	var bad, cancelled []int
	for i, s := range states {
		switch {
		case s.EndedWell():
			e.Well++
		case s.EndedBadly() && g.steps[i].MayFail:
			e.Forgiven++
		case s.EndedBadly():
			bad = append(bad, i)
		case s == Cancelled:
			e.Cancelled++
			if !g.steps[i].MayFail {
				cancelled = append(cancelled, i)
			}
		case s == Skipped:
			e.Skipped++
		}
	}
	switch {
	case cause != Succeeded:
	case len(bad) > 0:
		e.State = Failed
	case len(cancelled) > 0:
		e.State, e.Bad = Cancelled, cancelled
	case e.Well+e.Forgiven == 0:
		e.State = Skipped
	}
	if e.State == Failed || cause != Succeeded {
		e.Bad = bad
	}
	return e
}
