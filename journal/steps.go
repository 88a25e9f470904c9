package journal

import (
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// Steps is how far a run of a workflow has come.
type Steps struct {
	// States has a letter for each step, in the order of the document; see [workflow.State].
	States string `json:"states"`
	// Ending is "cancelled" or "timed_out" once the run is called off, and Reason says why. Finally
	// steps run all the same, unless Force is set.
	Ending job.Status `json:"ending,omitempty"`
	Reason string     `json:"reason,omitempty"`
	Force  bool       `json:"force,omitempty"`
	// Stopped says that a step has ended badly after which no other may begin.
	Stopped bool `json:"stopped,omitempty"`
	// StoppedSteps are the steps that this has cancelled, by their places in States. A retry lifts the stop, and
	// has them decided again.
	StoppedSteps []int `json:"stopped_steps,omitempty"`
	// Rounds are how often steps were begun or decided, by name; see [job.RoundRunID]. Absent is once.
	Rounds map[string]int `json:"rounds,omitempty"`
	// Given are parameters of steps that are retried and have not begun, by name.
	Given map[string]bus.GivenParams `json:"given,omitempty"`
	// Waits are what steps have begun to wait for, by name.
	Waits map[string]runlog.Wait `json:"waits,omitempty"`
	// Hold is who has put the run on hold last; nil if nobody has. No step begins while it is on hold.
	Hold *runlog.Hold `json:"hold,omitempty"`
	// Signalled are the signals that have come, by the step that waits for them in its round, or will. What one brought is
	// kept as what the step has returned.
	Signalled map[string]Signalled `json:"signalled,omitempty"`
}

// Signalled is who has sent a signal, and when.
type Signalled struct {
	By string    `json:"by,omitempty"`
	At time.Time `json:"at"`
}

// check returns an *InvalidError when s is not a state that a machine wrote.
func (s *Steps) check() error {
	if len(s.States) > workflow.MaxSteps {
		return &job.InvalidError{Field: "steps.states", Reason: fmt.Sprintf("is longer than %d bytes", workflow.MaxSteps)}
	}
	for _, letter := range []byte(s.States) {
		if !workflow.State(letter).Known() {
			return &job.InvalidError{Field: "steps.states", Reason: fmt.Sprintf("%q is not valid", letter)}
		}
	}
	for _, i := range s.StoppedSteps {
		if i < 0 || i >= len(s.States) {
			return &job.InvalidError{Field: "steps.stopped_steps", Reason: fmt.Sprintf("%d is not valid", i)}
		}
	}
	return nil
}
