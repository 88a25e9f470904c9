package runs

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
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
		Step: "book", Task: "handler", Detail: "book", Join: "all", Attempts: 1, State: "waiting",
		After: []api.StepEdge{{Step: "full", On: workflow.OnSuccess}, {Step: "check", On: workflow.OnSuccess}},
	}
	if d := cmp.Diff(want, book); d != "" {
		t.Error(d)
	}
}
