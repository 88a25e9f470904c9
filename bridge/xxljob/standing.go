package xxljob

import (
	"time"

	"github.com/carillon-scheduler/carillon/job/fleet"
)

// standing is why an instance takes no work. Its lock guards it.
type standing struct {
	gone    bool // it is not served any more
	leaving bool // drains
	removed bool // its executor has said that it leaves
	absent  bool // its executor has not registered for too long
	drainBy time.Time
}

// state returns the state for heartbeats of an instance that people have cordoned, or not.
func (s *standing) state(cordoned bool) fleet.InstanceState {
	switch {
	case s.gone, s.leaving, s.removed, s.absent:
		return fleet.InstanceDraining
	case cordoned:
		return fleet.InstanceCordoned
	}
	return fleet.InstanceOnline
}

// answer returns the answer to a dispatcher that has work.
func (s *standing) answer(cordoned bool) fleet.Answer {
	switch s.state(cordoned) {
	case fleet.InstanceDraining:
		return fleet.AnswerDraining
	case fleet.InstanceCordoned:
		return fleet.AnswerCordoned
	case fleet.InstanceOnline, fleet.InstanceLost, fleet.InstanceIncompatible:
	}
	return fleet.AnswerAccepted
}

// isOverdue reports whether the time is over that a drain gave to runs.
func (s *standing) isOverdue(now time.Time) bool {
	return s.leaving && !s.drainBy.IsZero() && now.After(s.drainBy)
}
