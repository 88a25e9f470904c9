package executor

import (
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// settings are what may change while an executor runs.
type settings struct {
	changed chan struct{} // holds a token while the loop has not seen a change

	mu     sync.Mutex
	slots  int
	labels job.Labels
}

func newSettings(cfg Config) settings {
	return settings{changed: make(chan struct{}, 1), slots: cfg.Slots, labels: maps.Clone(cfg.Labels)}
}

func checkSlots(n int) error {
	if n < 1 || n > MaxSlots {
		return &job.InvalidError{Field: "slots", Reason: fmt.Sprintf("%d must be between 1 and %d", n, MaxSlots)}
	}
	return nil
}

// SetSlots changes how many runs there may be at once. When there are more, they go
// on, and no new ones are taken until there are fewer. It may be called at any time.
// The error is an *job.InvalidError.
func (e *Executor) SetSlots(n int) error { return e.set(fleet.SetRequest{Slots: n}, checkSlots(n)) }

// SetLabels changes the labels of this instance, all of them. It may be called at any
// time. The error is an *job.InvalidError.
func (e *Executor) SetLabels(l job.Labels) error {
	return e.set(fleet.SetRequest{Labels: &l}, l.Validate())
}

// set changes what r has, unless it is wrong.
func (e *Executor) set(r fleet.SetRequest, wrong error) error {
	if wrong != nil {
		return wrong
	}
	s := &e.settings
	s.mu.Lock()
	if r.Slots != 0 {
		s.slots = r.Slots
	}
	if r.Labels != nil {
		s.labels = maps.Clone(*r.Labels)
	}
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return nil
}

// setAsked is set for a request from outside.
func (e *Executor) setAsked(r fleet.SetRequest) error {
	var wrong []error
	if r.Slots != 0 {
		wrong = append(wrong, checkSlots(r.Slots))
	}
	if r.Labels != nil {
		wrong = append(wrong, r.Labels.Validate())
	}
	return e.set(r, errors.Join(wrong...))
}

// current returns what holds. The labels must not be changed.
func (s *settings) current() (slots int, labels job.Labels) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.slots, s.labels
}
