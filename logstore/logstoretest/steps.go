package logstoretest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// stepsOfWorkflow shows that runs of steps keep which steps they are, and are found by their workflow's run
// and its fire time.
func stepsOfWorkflow(t *testing.T, s logstore.Store) {
	whole, next := newRun(), newRun().at(epoch.Add(time.Millisecond))
	of := func(whole run, name string, u logstore.Update) logstore.Update {
		u.RunID, u.Cause = job.StepRunID(whole.id(), name), job.CauseStep
		if u.Kind == runlog.KindRecorded {
			u.Parent, u.Step = whole.id(), name
		}
		return u
	}
	skip := whole.record(job.StatusSkipped, time.Second, "its condition is false")
	write(t, s, whole.recorded(job.StatusPending), next.recorded(job.StatusPending),
		of(whole, "load", whole.finished(job.StatusSucceeded, "worker-1", time.Second)), // its record comes later
		of(whole, "load", whole.recorded(job.StatusPending)), of(whole, "tell", skip), of(next, "load", next.recorded(job.StatusPending)),
	)
	load, tell := whole.row(job.StatusSucceeded), whole.row(job.StatusSkipped)
	load.Instance, load.Delivery, load.StartedAt, load.FinishedAt = "worker-1", 1, epoch.Add(ms(10)), epoch.Add(time.Second)
	tell.CommittedAt, tell.FinishedAt, tell.Reason = epoch.Add(time.Second), epoch.Add(time.Second), "its condition is false"
	want := map[string]runlog.Run{}
	for name, r := range map[string]runlog.Run{"load": load, "tell": tell} {
		r.RunID, r.Cause, r.Parent, r.Step = job.StepRunID(whole.id(), name), job.CauseStep, whole.id(), name
		wantRun(t, s, r)
		want[name] = r
	}
	page, err := s.Runs(t.Context(), logstore.RunFilter{
		Parent: whole.id(), Causes: []job.Cause{job.CauseStep}, From: epoch, To: epoch.Add(time.Millisecond), Limit: logstore.MaxRuns,
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]runlog.Run{}
	for _, r := range page.Runs {
		got[r.Step] = r
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}
