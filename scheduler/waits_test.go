package scheduler_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
)

// TestStepsWaitAcrossOwners has a run of steps that wait for time, a signal and approval, whose owners die.
func TestStepsWaitAcrossOwners(t *testing.T) {
	run(t, func(w *world) {
		step := func(name, wait string) job.Step {
			s := job.Step{Step: workflow.Step{Name: name}, Wait: &job.Wait{}}
			if err := json.Unmarshal([]byte(wait), s.Wait); err != nil {
				w.t.Fatal(err)
			}
			return s
		}
		w.startNode("a")
		w.put("g/a", job.Schedule{}, func(j *job.Job) {
			j.Task, j.Steps = job.Task{}, []job.Step{
				step("paid", `{"signal":"paid","key":"17"}`), step("ok", `{"approval":{}}`), step("pause", `{"for":"10m"}`), step("odd", `{"signal":"odd"}`),
			}
		})
		time.Sleep(time.Second)
		whole := job.NewRunID(time.Now())
		if _, err := w.trigger(whole, "g/a"); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(time.Second)
		tell := func(r bus.WaitRequest) (bus.TriggerReply, error) {
			r.Job = "g/a"
			return ask[bus.TriggerReply](w, bus.VerbWait, r)
		}
		paid := bus.WaitRequest{ID: job.NewRunID(time.Now()), Act: bus.WaitSignal, Signal: "paid", Key: "17", By: "shop"}
		if got, err := tell(paid); err != nil || got.RunID != whole || got.Step != "paid" || got.Status != job.StatusSucceeded || got.Round != 1 {
			w.t.Errorf("%+v, %v", got, err)
		}
		w.killNode("a")
		w.startNode("b")
		time.Sleep(2 * time.Minute)
		if got, err := tell(paid); err != nil || got.RunID != whole || got.Step != "paid" || got.Status != job.StatusSucceeded { // the answer was lost
			w.t.Errorf("asked again: %+v, %v", got, err)
		}
		paid.ID = job.NewRunID(time.Now())
		if _, err := tell(paid); !errors.Is(err, job.ErrConflict) {
			w.t.Errorf("a second signal: %v", err)
		}
		paid.Key = "18"
		if _, err := tell(paid); !errors.Is(err, job.ErrNotFound) {
			w.t.Errorf("a signal for nobody: %v", err)
		}
		if got, err := tell(bus.WaitRequest{ID: job.NewRunID(time.Now()), RunID: whole, Step: "ok", Act: bus.WaitReject, By: "ann"}); err != nil || got.Status != job.StatusFailed {
			w.t.Errorf("%+v, %v", got, err)
		}
		if got, err := w.cancel(job.StepRunID(whole, "odd")); err != nil || got.Found != job.StatusQueued {
			w.t.Errorf("a step is cancelled: %+v, %v", got, err)
		}
		time.Sleep(10 * time.Minute)
		var ends []string
		w.records(func(_ *journal.Record, d journal.Decided) {
			if d.Status.Final() {
				ends = append(ends, fmt.Sprint(d.Step, " ", d.Status))
			}
		})
		if want := []string{"paid succeeded", "ok failed", "odd cancelled", "pause succeeded", " failed"}; !slices.Equal(ends, want) {
			w.t.Errorf("%q", ends)
		}
	})
}
