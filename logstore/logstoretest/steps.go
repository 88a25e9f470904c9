package logstoretest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
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

// countsWorkflowsOnce shows that reports of a job are the same whether its runs have one step or a hundred.
func countsWorkflowsOnce(t *testing.T, s logstore.Store) {
	day, w := reportDay(), &writes{store: s}
	for name, steps := range map[job.Name]int{"billing/one": 1, "billing/many": 100} {
		var all []logstore.Update
		for i, status := range []job.Status{job.StatusSucceeded, job.StatusFailed, job.StatusSucceeded} {
			r := newRun().of(name).at(day.Add(time.Duration(i) * time.Hour))
			all = append(all, r.recorded(job.StatusPending), r.started("", 1, ms(10)), r.finished(status, "", time.Minute))
			for n := range steps {
				step := fmt.Sprintf("step-%d", n)
				for _, u := range []logstore.Update{r.recorded(job.StatusPending), r.finished(status, "worker-1", time.Second)} {
					if u.RunID, u.Cause = job.StepRunID(r.id(), step), job.CauseStep; u.Kind == runlog.KindRecorded {
						u.Parent, u.Step = r.id(), step
					}
					all = append(all, u)
				}
			}
		}
		w.runs(t, all...)
	}
	f := logstore.ReportFilter{From: day, To: day.Add(24 * time.Hour), By: []runlog.Dimension{runlog.ByJob}, Limit: logstore.MaxReportRows}
	rows := reportOf(t, s, f).Rows
	if len(rows) != 2 {
		t.Fatalf("the report has %+v", rows)
	}
	for i := range rows {
		rows[i].Job = ""
	}
	if d := cmp.Diff(rows[0], rows[1]); d != "" {
		t.Errorf("the report differs by the number of steps:\n%s", d)
	}
}

// failedStep shows that a step ends as the scheduler says, which fails it for a result that it cannot keep, though
// its executor has said that it succeeded; and that the result stays that somebody gave whom a record names.
func failedStep(t *testing.T, s logstore.Store) {
	whole := newRun().id()
	of := func(u logstore.Update) logstore.Update {
		u.Cause = job.CauseStep
		if u.Kind == runlog.KindRecorded {
			u.Parent, u.Step = whole, "load"
		}
		return u
	}
	row := func(r run, status job.Status, why reason.Text) runlog.Run {
		want := r.row(status)
		want.Cause, want.Parent, want.Step, want.Reason, want.Result = job.CauseStep, whole, "load", why, json.RawMessage(`{"rows":3}`)
		return want
	}
	cut := reason.StepResultCut.String()
	orders := inAnyOrder(t, s, func(r run) []logstore.Update {
		end := of(r.finished(job.StatusSucceeded, "worker-1", time.Second))
		end.Result = json.RawMessage(`{"rows":3}`)
		return []logstore.Update{of(r.recorded(job.StatusPending)), end, of(r.record(job.StatusFailed, 2*time.Second, cut))}
	}, func(t *testing.T, r run) {
		t.Helper()
		want := row(r, job.StatusFailed, reason.Text(cut))
		want.Instance, want.Delivery, want.StartedAt, want.FinishedAt = "worker-1", 1, r.fire.Add(ms(10)), r.fire.Add(2*time.Second)
		wantRun(t, s, want)
	})
	wantCounts(t, s, logstore.RunFilter{Causes: []job.Cause{job.CauseStep}}, map[job.Status]int{job.StatusFailed: 2 * orders})
	orders = inAnyOrder(t, s, func(r run) []logstore.Update {
		r = r.of("billing/resolved")
		said := of(r.record(job.StatusSucceeded, time.Second, reason.StepResolved.With("ann")))
		said.By = "ann"
		gave := of(r.update(runlog.KindFinished, time.Second))
		gave.Status, gave.FinishedAt, gave.CommittedAt, gave.Result = job.StatusSucceeded, gave.At, time.Time{}, json.RawMessage(`{"rows":3}`)
		return []logstore.Update{said, gave}
	}, func(t *testing.T, r run) {
		t.Helper()
		r = r.of("billing/resolved")
		want := row(r, job.StatusSucceeded, reason.Text(reason.StepResolved.With("ann")))
		want.By, want.CommittedAt, want.FinishedAt = "ann", r.fire.Add(time.Second), r.fire.Add(time.Second)
		wantRun(t, s, want)
	})
	wantCounts(t, s, logstore.RunFilter{Causes: []job.Cause{job.CauseStep}, Jobs: []job.Name{"billing/resolved"}}, map[job.Status]int{job.StatusSucceeded: 2 * orders})
}
