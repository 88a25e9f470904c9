package logstoretest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// stepsOfMany shows that the steps of runs of workflows are read together, each with its first beginning and its newest
// attempt, and without the workflows that are beyond the limit.
func stepsOfMany(t *testing.T, s logstore.Store) {
	old, whole, next := newRun(), newRun().at(epoch.Add(time.Hour)), newRun().at(epoch.Add(2*time.Hour))
	of := func(r run, step string, u logstore.Update) logstore.Update {
		u.RunID, u.Cause = job.StepRunID(r.id(), step), job.CauseStep
		if u.Kind == runlog.KindRecorded {
			u.Parent, u.Step = r.id(), step
		}
		return u
	}
	failed, again := whole.finished(job.StatusFailed, "worker-1", time.Second), whole.try(2).recorded(job.StatusPending)
	failed.Retry, again.CommittedAt = true, whole.fire.Add(time.Second)
	wait := whole.record(job.StatusQueued, ms(5), "it waits")
	wait.Wait = &runlog.Wait{Kind: runlog.WaitSignal, Signal: "paid", Since: whole.fire.Add(ms(5))}
	call := whole.of("mail/send")
	called, late, child := call.recorded(job.StatusPending), call.record(job.StatusCancelled, time.Minute, reason.CallTimedOut.With("1m")), whole.of("mail/after").recorded(job.StatusPending)
	for _, u := range []*logstore.Update{&called, &late, &child} {
		u.Cause, u.Parent = job.CauseParent, whole.id()
	}
	called.Step, late.Step = "send", "send"
	writeInTwo(t, s, old.recorded(job.StatusPending), whole.recorded(job.StatusPending), next.recorded(job.StatusPending),
		of(old, "load", old.recorded(job.StatusPending)), of(whole, "load", again), of(whole, "load", failed), of(whole, "load", whole.recorded(job.StatusPending)),
		of(whole, "load", whole.try(2).started("worker-2", 1, 2*time.Second)), of(whole, "tell", whole.record(job.StatusSkipped, time.Second, "its condition is false")),
		of(whole, "paid", wait), of(whole, "ok", wait), of(whole, "ok", whole.record(job.StatusSucceeded, time.Minute, "approved")), called, late, child, of(next, "load", next.recorded(job.StatusPending)),
	)
	step := func(r run, step string, status job.Status, started, finished time.Duration) logstore.StepRun {
		got := logstore.StepRun{RunID: job.StepRunID(r.id(), step), Workflow: r.id(), Job: report, Step: step, Status: status}
		if started > 0 {
			got.StartedAt = r.fire.Add(started)
		}
		if finished > 0 {
			got.FinishedAt = r.fire.Add(finished)
		}
		return got
	}
	sent := step(whole, "send", job.StatusTimedOut, 0, time.Minute)
	sent.RunID, sent.Job = call.id(), "mail/send"
	paid := step(whole, "paid", job.StatusQueued, ms(5), 0)
	paid.Awaits = runlog.WaitSignal
	approved := step(whole, "ok", job.StatusSucceeded, ms(5), time.Minute)
	ofNext, ofOld := step(next, "load", job.StatusPending, 0, 0), step(old, "load", job.StatusPending, 0, 0)
	ofWhole := []logstore.StepRun{
		step(whole, "load", job.StatusRunning, ms(10), 0), step(whole, "tell", job.StatusSkipped, 0, time.Second), paid, approved, sent,
	}
	want := func(limit int, cut job.RunID, workflows []run, expected ...logstore.StepRun) {
		t.Helper()
		f := logstore.StepFilter{Limit: limit}
		for _, w := range workflows {
			f.Workflows = append(f.Workflows, w.id())
		}
		page, err := s.StepRuns(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		byStep := cmp.Transformer("ByRun", func(all []logstore.StepRun) map[job.RunID]logstore.StepRun {
			byRun := map[job.RunID]logstore.StepRun{}
			for i, r := range all {
				if byRun[r.RunID] = r; i > 0 && r.Workflow > all[i-1].Workflow {
					t.Errorf("run %s of %s follows one of %s", r.RunID, r.Workflow, all[i-1].Workflow)
				}
			}
			return byRun
		})
		if d := cmp.Diff(logstore.StepPage{Runs: expected, Cut: cut}, page, byStep); d != "" || len(page.Runs) != len(expected) {
			t.Errorf("%d of at most %d:\n%s", len(page.Runs), limit, d)
		}
	}
	want(0, "", []run{whole, next}, append([]logstore.StepRun{ofNext}, ofWhole...)...)
	want(7, old.id(), []run{next, old, whole}, append([]logstore.StepRun{ofNext}, ofWhole...)...) // load has two attempts
	want(6, whole.id(), []run{old, whole, next}, ofNext)
	want(1, "", []run{old}, ofOld)
	want(1, "", []run{newRun().of("billing/other")})

	for field, f := range map[string]logstore.StepFilter{
		"workflows": {}, "run_id": {Workflows: []job.RunID{"x"}}, "limit": {Workflows: []job.RunID{old.id()}, Limit: logstore.MaxStepAttempts + 1},
	} {
		_, err := s.StepRuns(t.Context(), f)
		wantInvalid(t, err, field)
	}
	_, err := s.StepRuns(t.Context(), logstore.StepFilter{Workflows: make([]job.RunID, logstore.MaxWorkflows+1)})
	wantInvalid(t, err, "workflows")
}
