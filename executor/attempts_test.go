package executor

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// An attempt leaves the queue once: who goes through those that wait must not give back one that has
// begun meanwhile.
func TestAnAttemptLeavesTheQueueOnce(t *testing.T) {
	s := attempts{live: map[attemptKey]*attempt{}, slots: 2}
	for _, id := range []job.RunID{"first", "second"} {
		a := &attempt{Run: &Run{delivery: delivery{trigger: &bus.Trigger{RunID: id, Attempt: 1}}}}
		s.put(a)
		s.waiting = append(s.waiting, a)
	}
	first, second := s.waiting[0], s.waiting[1]
	if !s.unqueue(first) || s.unqueue(first) {
		t.Error("the first one has to leave the queue once")
	}
	s.remove(first)
	if next := s.next(time.Now()); next != second {
		t.Fatalf("%+v is next", next)
	}
	if s.unqueue(second) {
		t.Error("the second one has a slot, and waits no more")
	}
}
