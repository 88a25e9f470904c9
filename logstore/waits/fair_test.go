package waits_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// However many steps of one group wait in vain, those of another are judged.
func TestAGroupThatWaitsInVainStarvesNoOther(t *testing.T) {
	run(t, midnight, func(w *world) {
		w.save(nil)
		time.Sleep(3 * time.Hour)
		w.decided(time.Now())
		w.ran(hour(1), job.StatusSucceeded)
		var never []logstore.Update
		for n := range 5000 {
			never = append(never, waiting("hostile/day", midnight.Add(time.Duration(n)*time.Millisecond), runlog.AwaitedRuns{From: midnight, To: hour(1)}))
		}
		w.write(never...)
		id := w.waits(hour(2), runlog.AwaitedRuns{From: hour(1), To: hour(2)})
		if n := w.look(); n != 1 || w.told[0].RunID != id {
			w.Errorf("told %d times: %+v", n, w.told)
		}
	})
}

// A look may end before all steps are judged.
func TestGroupsTakeTurnsAtBeingJudged(t *testing.T) {
	run(t, midnight, func(w *world) {
		w.save(nil)
		time.Sleep(3 * time.Hour)
		w.decided(time.Now())
		w.ran(hour(1), job.StatusSucceeded)
		of := runlog.AwaitedRuns{From: hour(1), To: hour(2)}
		for n := range 3 {
			w.write(waiting("many/day", midnight.Add(time.Duration(n)*time.Minute), of))
		}
		w.write(waiting("few/day", hour(1), of))
		w.look()
		w.write(waiting("third/day", hour(2), of))
		time.Sleep(5 * time.Second)
		w.look()
		var order []string
		for _, r := range w.told {
			order = append(order, r.Job.Group())
		}
		if d := cmp.Diff([]string{"many", "few", "many", "many", "third", "many", "few", "many", "many"}, order); d != "" {
			w.Error(d)
		}
	})
}
