package executor

import (
	"context"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/recent"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// attemptKey names an attempt, or one piece of it.
type attemptKey struct {
	run     job.RunID
	attempt int
	piece   int
}

func keyOf(t *bus.Trigger) attemptKey { return attemptKey{t.RunID, t.Attempt, t.Index} }

// attempt is one attempt as the loop knows it, from delivery to acknowledgement. Handlers and the
// goroutines of attempts have only its Run.
type attempt struct {
	*Run

	receipt     *receipt                // how its trigger is answered
	begun       bool                    // has a goroutine
	cancelWith  context.CancelCauseFunc // set when begun
	done        <-chan struct{}         // closed when the attempt's context is
	cause       error                   // with which the loop cancelled it; nil when its timeout did
	cancelledAt time.Time               // when the loop saw that
	started     jetstream.PubAckFuture  // of the started event; nil before it is published
	startedOK   bool
	progressAt  time.Time // when progress was last published
	warned      bool      // that it takes long
}

// cancel cancels the attempt's context, unless the loop has done so.
func (a *attempt) cancel(cause error) {
	if a.cause == nil && a.cancelWith != nil {
		a.cause = cause
		a.cancelWith(cause)
	}
}

// release ends the attempt's timer. Nobody listens to its context any more.
func (a *attempt) release() {
	if a.cancelWith != nil {
		a.cancelWith(context.Canceled)
	}
}

// isCancelled reports whether the attempt's context is done, and for how long the loop has known it.
func (a *attempt) isCancelled(now time.Time) (bool, time.Duration) {
	select {
	case <-a.done:
	default:
		return false, 0
	}
	if a.cancelledAt.IsZero() {
		a.cancelledAt = now
	}
	return true, now.Sub(a.cancelledAt)
}

// attempts is which attempts an instance has and had.
type attempts struct {
	observers observers
	live      map[attemptKey]*attempt // from delivery to acknowledgement
	waiting   []*attempt              // delivered beyond the free slots, not begun
	sole      []*attempt              // live ones that no other may begin beside for a while; most often none
	slots     int
	bounds    map[string]int          // slots of handlers that have a bound of their own
	reported  *recent.Set[attemptKey] // attempts that ended here
	killed    *recent.Set[attemptKey] // runs that were killed before they came
	lastLong  time.Time               // when a run was seen last that has taken long
}

func newAttempts(e *Executor) attempts {
	return attempts{
		observers: e.observers, bounds: e.registry.slots,
		live:     make(map[attemptKey]*attempt, e.cfg.Slots),
		reported: recent.New[attemptKey](doneFor, recentMax), killed: recent.New[attemptKey](killedFor, recentMax),
	}
}

// noteLong notes whether an attempt has taken long.
func (s *attempts) noteLong(a *attempt, now time.Time) {
	if now.Sub(a.startedAt) >= longRun {
		s.lastLong = now
	}
}

// put adds an attempt.
func (s *attempts) put(a *attempt) {
	s.live[keyOf(a.trigger)] = a
	if a.aloneFor > 0 {
		s.sole = append(s.sole, a)
	}
	s.observers.countSlots(len(s.live), s.slots)
}

// remove removes an attempt.
func (s *attempts) remove(a *attempt) {
	delete(s.live, keyOf(a.trigger))
	if i := slices.Index(s.sole, a); i >= 0 {
		s.sole = slices.Delete(s.sole, i, i+1)
	}
	s.observers.countSlots(len(s.live), s.slots)
}

// resize sets how many attempts there may be.
func (s *attempts) resize(slots int) {
	s.slots = slots
	s.observers.countSlots(len(s.live), s.slots)
}

// unqueue removes a from those that wait for a slot, and reports whether it was one of them.
func (s *attempts) unqueue(a *attempt) bool {
	i := slices.Index(s.waiting, a)
	if i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	return i >= 0
}

// next removes and returns the attempt that has waited longest for a slot; nil if none may begin.
func (s *attempts) next(now time.Time) *attempt {
	if len(s.waiting) == 0 || s.active() >= s.slots || s.alone(now) {
		return nil
	}
	a := s.waiting[0]
	s.waiting = s.waiting[1:]
	return a
}

// active is how many attempts occupy a slot.
func (s *attempts) active() int { return len(s.live) - len(s.waiting) }

// isFull reports whether as many runs of a handler are here as it may have.
func (s *attempts) isFull(handler string) bool {
	most, limited := s.bounds[handler]
	if !limited {
		return false
	}
	n := 0
	for _, a := range s.live {
		if a.trigger.Task.Handler == handler {
			n++
		}
	}
	return n >= most
}

// alone reports whether there is an attempt beside which no other may begin yet.
func (s *attempts) alone(now time.Time) bool {
	return slices.ContainsFunc(s.sole, func(a *attempt) bool { return now.Sub(a.came) < a.aloneFor })
}

// mayBegin reports whether there is a slot for a, and no attempt that must be alone.
func (s *attempts) mayBegin(a *attempt, now time.Time) bool {
	return s.active() <= s.slots && (a.aloneFor > 0 || !s.alone(now))
}

// runs reports whether a run of a job is here.
func (s *attempts) runs(name job.Name) bool {
	for _, a := range s.live {
		if a.Job() == name {
			return true
		}
	}
	return false
}

// custody returns what this instance knows of an attempt.
func (s *attempts) custody(key attemptKey) fleet.Custody {
	switch {
	case s.live[key] != nil:
		return fleet.CustodyHeld
	case s.reported.Has(key):
		return fleet.CustodyReported
	}
	return fleet.CustodyNone
}
