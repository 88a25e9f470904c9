package runs

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

func TestAStepIsAsItsRunIsOrWaits(t *testing.T) {
	step := func(name string, after ...workflow.Edge) job.Step {
		return job.Step{Step: workflow.Step{Name: name, After: after}, Task: job.Task{Handler: name}}
	}
	on := func(name string, on workflow.On) workflow.Edge { return workflow.Edge{Step: name, On: on} }
	cleanup := step("cleanup")
	cleanup.Finally = true
	j := &job.Job{Job: "billing/close", Steps: []job.Step{
		step("check"), step("full", on("check", workflow.OnSuccess)), step("tell", on("check", workflow.OnFailure)),
		step("book", on("full", ""), on("check", "")), cleanup,
	}}
	of := &runlog.Run{RunID: job.FireRunID(j.Job, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC).UnixMilli(), job.CauseSchedule), Job: j.Job, Version: 1, Status: job.StatusRunning}
	// states returns the states of the steps, with what has become of some of them.
	states := func(status job.Status, known map[string]job.Status) (all []string) {
		rows := map[string]*runlog.Run{}
		for name, s := range known {
			rows[name] = &runlog.Run{RunID: job.StepRunID(of.RunID, name), Job: j.Job, Attempt: 1, Status: s}
		}
		whole := *of
		whole.Status = status
		for _, s := range stepsOf(j, &whole, rows).Steps {
			all = append(all, string(s.State))
		}
		return all
	}
	same := func(got []string, want ...string) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	const running, succeeded, skipped = job.StatusRunning, job.StatusSucceeded, job.StatusSkipped
	same(states(job.StatusQueued, nil), "waiting", "waiting", "waiting", "waiting", "waiting")
	same(states(job.StatusPending, nil), "ready", "waiting", "waiting", "waiting", "waiting")
	same(states(running, map[string]job.Status{"check": running}), "running", "waiting", "waiting", "waiting", "waiting")
	same(states(running, map[string]job.Status{"check": succeeded, "tell": skipped}), "succeeded", "ready", "skipped", "waiting", "waiting")
	ended := map[string]job.Status{"check": succeeded, "full": job.StatusTimedOut, "tell": skipped, "book": skipped}
	same(states(running, ended), "succeeded", "timed_out", "skipped", "skipped", "ready")
	same(states(job.StatusFailed, ended), "succeeded", "timed_out", "skipped", "skipped", "unknown")

	book := stepsOf(j, of, nil).Steps[3]
	want := api.RunStep{
		Step: "book", Task: "handler", Join: "all", State: "waiting",
		After: workflow.Edges{{Step: "full"}, {Step: "check"}},
	}
	if d := cmp.Diff(want, book); d != "" {
		t.Error(d)
	}
}

func TestAStepThatIsDecidedAgainWaits(t *testing.T) {
	step := func(name string, after ...workflow.Edge) job.Step {
		return job.Step{Step: workflow.Step{Name: name, After: after}, Task: job.Task{Handler: name}}
	}
	j := &job.Job{Job: "billing/close", Steps: []job.Step{step("load"), step("clean", workflow.Edge{Step: "load"}), step("book", workflow.Edge{Step: "clean"})}}
	of := &runlog.Run{RunID: job.FireRunID(j.Job, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC).UnixMilli(), job.CauseSchedule), Job: j.Job, Version: 1, Status: job.StatusRunning}
	// row is of the second round of a step.
	row := func(step string, status job.Status, why string) *runlog.Run {
		return &runlog.Run{RunID: job.RoundRunID(of.RunID, step, 2), Job: j.Job, Cause: job.CauseStep, Step: step, Attempt: 1, Status: status, Reason: reason.Text(why)}
	}
	again := reason.StepDecidedAgain.With("load")
	for _, tt := range []struct {
		load *runlog.Run
		want []string
	}{
		{row("load", job.StatusQueued, reason.Join(reason.StepRetried.With("ada"), "disk is back")), []string{"ready", "waiting", "waiting"}},
		{row("load", job.StatusQueued, "attempt 2 follows"), []string{"queued", "waiting", "waiting"}},
		{row("load", job.StatusRunning, ""), []string{"running", "waiting", "waiting"}},
		{row("load", job.StatusSucceeded, ""), []string{"succeeded", "ready", "waiting"}},
	} {
		rows := map[string]*runlog.Run{"load": tt.load, "clean": row("clean", job.StatusQueued, again), "book": row("book", job.StatusQueued, again)}
		steps := stepsOf(j, of, rows).Steps
		var got []string
		for _, s := range steps {
			got = append(got, string(s.State))
			if s.Round != 2 || s.RunID == "" {
				t.Errorf("step %s is shown in round %d, with the run %q", s.Step, s.Round, s.RunID)
			}
		}
		if d := cmp.Diff(tt.want, got); d != "" || string(steps[2].Reason) != again {
			t.Errorf("%s; book: %s", d, steps[2].Reason)
		}
	}
}
