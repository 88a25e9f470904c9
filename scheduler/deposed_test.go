package scheduler_test

import (
	"errors"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// A NATS server that was cut off may believe for a moment that it still leads the stream of triggers,
// and lacks what was stored meanwhile.

func TestATakeoverForgetsNoRunThoughADeposedLeaderDoesNotHaveIt(t *testing.T) {
	runAt(t, start, 1, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{}, func(j *job.Job) { j.Overlap.Policy = job.OverlapQueue })
		time.Sleep(10 * time.Second)
		for range 2 { // one that waits for an executor, and one for that
			if _, err := w.trigger(job.NewRunID(time.Now()), "g/a"); err != nil {
				w.t.Fatal(err)
			}
		}
		w.killNode("a")
		w.broker.DeposeAt("b", `"next_by_subj":"defer.`) // its cursor is written by then
		w.startNode("b")
		time.Sleep(15 * time.Second)
		w.broker.Heal("b")
		w.execute(time.Second)
		time.Sleep(time.Minute)
		if n := len(w.ends()); n != 2 {
			w.t.Errorf("%d runs have ended, want 2", n)
		}
		w.wantNothingLeft()
	})
}

func TestARunIsNotCancelledInNameOnlyThoughADeposedLeaderDoesNotHaveIt(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{})
		time.Sleep(10 * time.Second)
		id := job.NewRunID(time.Now())
		if _, err := w.trigger(id, "g/a"); err != nil {
			w.t.Fatal(err)
		}
		w.broker.Depose("a")
		if _, err := w.cancel(id); !errors.Is(err, job.ErrUnavailable) {
			w.t.Errorf("%v; want that the run is not known to be gone", err)
		}
		w.broker.Heal("a")
		if _, err := w.cancel(id); err != nil {
			w.t.Error(err)
		}
		if ids := w.triggers(); len(ids) != 0 {
			w.t.Errorf("triggers are left: %v", ids)
		}
	})
}
