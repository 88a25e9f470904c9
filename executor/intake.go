package executor

import (
	"time"

	"github.com/carillon-scheduler/carillon/job/fleet"
)

// intake is whether an instance takes new work.
type intake struct {
	cordoned bool      // takes no work, on request
	leaving  bool      // takes no work and ends when it has none, on request
	draining bool      // is stopping
	drainBy  time.Time // when it stops though it has runs, on request; zero: never
}

// open reports whether the instance takes new work.
func (i *intake) open() bool { return !i.draining && !i.leaving && !i.cordoned }

// reopen ends what was requested.
func (i *intake) reopen() { i.cordoned, i.leaving, i.drainBy = false, false, time.Time{} }

// state returns the state for heartbeats.
func (i *intake) state() fleet.InstanceState {
	switch {
	case i.draining, i.leaving:
		return fleet.InstanceDraining
	case i.cordoned:
		return fleet.InstanceCordoned
	}
	return fleet.InstanceOnline
}

// answer returns the answer to a dispatcher that has work.
func (i *intake) answer() fleet.Answer {
	switch {
	case i.draining, i.leaving:
		return fleet.AnswerDraining
	case i.cordoned:
		return fleet.AnswerCordoned
	}
	return fleet.AnswerAccepted
}

// overdue reports whether the grace period of a draining instance is over.
func (i *intake) overdue(now time.Time) bool {
	return !i.draining && !i.drainBy.IsZero() && !now.Before(i.drainBy)
}
