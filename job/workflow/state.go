package workflow

// State is what a step is doing, or how it has ended. It is one byte, so that the states of a run of
// 1,000 steps are a text of 1,000 bytes.
type State byte

// The states of a step.
const (
	Waiting   State = '.' // for its sources
	Ready     State = 'r' // it is to run, and has not begun
	Begun     State = 't' // with an executor, between two attempts, in pieces, or called
	Pending   State = 'w' // a wait that has begun
	Succeeded State = 's'
	Failed    State = 'f'
	TimedOut  State = 'o'
	Lost      State = 'l'
	Missed    State = 'm' // it did not begin in time
	Cancelled State = 'c'
	Skipped   State = 'k' // its edges or its condition said no
	Taken     State = 'S' // it succeeded in the run that this one repeats
)

// Known reports whether s is one of the states above.
func (s State) Known() bool {
	switch s {
	case Waiting, Ready, Begun, Pending, Succeeded, Failed, TimedOut, Lost, Missed, Cancelled, Skipped, Taken:
		return true
	}
	return false
}

// Final reports whether the step has ended, or will never run.
func (s State) Final() bool {
	switch s {
	case Succeeded, Failed, TimedOut, Lost, Missed, Cancelled, Skipped, Taken:
		return true
	case Waiting, Ready, Begun, Pending:
	}
	return false
}

// EndedWell reports whether the step succeeded, in this run or in the one that this run repeats.
func (s State) EndedWell() bool { return s == Succeeded || s == Taken }

// EndedBadly reports whether the step failed, timed out, was lost, or did not begin in time. A step
// that somebody cancelled has ended neither well nor badly.
func (s State) EndedBadly() bool {
	switch s {
	case Failed, TimedOut, Lost, Missed:
		return true
	case Waiting, Ready, Begun, Pending, Succeeded, Cancelled, Skipped, Taken:
	}
	return false
}

// Word returns the name that conditions and people have for the state.
func (s State) Word() string {
	switch s {
	case Waiting:
		return "waiting"
	case Ready:
		return "ready"
	case Begun:
		return "running"
	case Pending:
		return "queued"
	case Succeeded, Taken:
		return "succeeded"
	case Failed:
		return "failed"
	case TimedOut:
		return "timed_out"
	case Lost:
		return "lost"
	case Missed:
		return "missed"
	case Cancelled:
		return "cancelled"
	case Skipped:
		return "skipped"
	}
	return "unknown"
}
