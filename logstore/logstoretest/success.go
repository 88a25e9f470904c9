package logstoretest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// successOfSchedules has runs of all causes that end in all ways, some of them twice, and
// compares the success that reports tell with the runs of what a schedule asked for.
func successOfSchedules(t *testing.T, s logstore.Store) {
	day := reportDay()
	w := &writes{store: s}
	var ends, given []logstore.Update
	for i, cause := range job.CountedCauses {
		for k, status := range []job.Status{
			job.StatusSucceeded, job.StatusSucceeded, job.StatusFailed, job.StatusTimedOut, job.StatusCancelled, job.StatusLost, job.StatusMissed, job.StatusSkipped,
		} {
			r := newRun().of(job.Name(fmt.Sprintf("billing/job-%d", k%2))).at(day.Add(time.Duration(8*i+k) * 15 * time.Minute))
			u := r.record(status, time.Second, "")
			if slices.Contains([]job.Status{job.StatusSucceeded, job.StatusFailed, job.StatusTimedOut}, status) {
				u = r.finished(status, "worker-1", time.Second)
			}
			if status == job.StatusMissed {
				u.Count, u.Until = 3, r.fire.Add(2*time.Minute)
			}
			u.Cause = cause
			ends = append(ends, u)
			if k == 1 { // its shard has given it up before
				lost := r.record(job.StatusLost, 5*time.Second, "its executor vanished")
				lost.Cause = cause
				given = append(given, lost)
			}
		}
	}
	w.runs(t, ends...)
	w.runs(t, given...)
	compareSuccess(t, s, day)
	whole := logstore.ReportFilter{From: day, To: day.Add(24 * time.Hour)}
	row := reportOf(t, s, whole).Rows[0]
	if row.Scheduled != 16 || row.ScheduledSucceeded != 2 || row.SuccessRate == nil || *row.SuccessRate != 0.125 {
		t.Errorf("%d of %d fires that a schedule asked for succeeded, a share of %v; want 2 of 16", row.ScheduledSucceeded, row.Scheduled, row.SuccessRate)
	}
	if err := s.Repair(t.Context(), day); err != nil {
		t.Fatal(err)
	}
	compareSuccess(t, s, day)

	alone := newRun().of("paper/by-hand").at(day).finished(job.StatusSucceeded, "worker-1", time.Second)
	off := newRun().of("paper/called-off").at(day).record(job.StatusCancelled, time.Second, "")
	alone.Cause = job.CauseManual
	w.runs(t, alone, off)
	whole.By, whole.Group = []runlog.Dimension{runlog.ByJob}, "paper"
	for _, row := range reportOf(t, s, whole).Rows {
		if row.Scheduled != 0 || (row.SuccessRate != nil) != (row.Job == alone.Job) || row.SuccessRate != nil && *row.SuccessRate != 1 {
			t.Errorf("of %s, which no schedule asked for, %d fires count, and %v succeeded", row.Job, row.Scheduled, row.SuccessRate)
		}
	}
}

// leavesTestsOut writes tests of drafts and steps of workflows, which lists return if asked, and
// which reports and the standing of jobs leave out. Searches leave tests out.
func leavesTestsOut(t *testing.T, s logstore.Store) {
	day := reportDay()
	w := &writes{store: s}
	for i, status := range []job.Status{job.StatusSucceeded, job.StatusFailed} {
		ran, tried := newRun().of("draft/pay").at(day.Add(time.Duration(i)*time.Hour)), newRun().of("draft/pay-draft").at(day.Add(time.Duration(i)*time.Hour))
		a, b := ran.finished(status, "worker-1", time.Second), tried.finished(status, "worker-1", time.Second)
		b.Cause = job.CauseTest
		w.runs(t, a, b)
		lost := tried.record(job.StatusLost, 5*time.Second, "its executor vanished")
		lost.Cause = job.CauseTest
		step := newRun().of("draft/pay").at(day.Add(time.Duration(i)*time.Hour+10*time.Minute)).finished(status, "worker-1", time.Second)
		step.Cause = job.CauseStep
		w.runs(t, lost, step)
		w.lines(t, ran.said(1, "paid"), tried.said(1, "paid"))
	}
	want := func() {
		t.Helper()
		for _, f := range []logstore.ReportFilter{
			{Step: runlog.StepMinute, Total: true},
			{Step: runlog.StepHour, Total: true},
			{Step: runlog.StepDay, Total: true},
			{By: []runlog.Dimension{runlog.ByJob}, Total: true},
			{By: []runlog.Dimension{runlog.ByGroup, runlog.ByInstance}, Total: true},
		} {
			f.From, f.To, f.Group = day, day.Add(24*time.Hour), "draft"
			r := reportOf(t, s, f)
			if n := r.Total.Runs; n != 2 || r.Total.Attempts != 2 {
				t.Errorf("the report %+v counts %d runs and %d attempts, want 2", f, n, r.Total.Attempts)
			}
		}
	}
	want()
	if err := s.Repair(t.Context(), day); err != nil {
		t.Fatal(err)
	}
	want()
	list := func(causes []job.Cause, want int) {
		t.Helper()
		page, err := s.Runs(t.Context(), logstore.RunFilter{Group: "draft", Causes: causes, From: day, To: day.Add(24 * time.Hour)})
		if err != nil || len(page.Runs) != want {
			t.Errorf("%d runs with the causes %v, %v; want %d", len(page.Runs), causes, err, want)
		}
	}
	list(nil, 6)
	list(job.CountedCauses, 2)
	list([]job.Cause{job.CauseTest}, 2)
	list([]job.Cause{job.CauseStep}, 2)
	standOnRealRuns(t, s)
	findNoTests(t, s, day)
}

// standOnRealRuns wants the tests of leavesTestsOut to be no job's newest runs.
func standOnRealRuns(t *testing.T, s logstore.Store) {
	t.Helper()
	names := []job.Name{"draft/pay", "draft/pay-draft"}
	last, err := s.LastRuns(t.Context(), names, 5)
	if err != nil || len(last) != 1 || len(last["draft/pay"]) != 2 {
		t.Errorf("the last runs are %+v, %v; want two of draft/pay", last, err)
	}
	stand, err := s.Standings(t.Context(), names)
	if err != nil || len(stand) != 1 || stand["draft/pay"].Status != job.StatusFailed {
		t.Errorf("the jobs stand as %+v, %v; want draft/pay alone, as failed", stand, err)
	}
}

// findNoTests wants a search to find the lines of tests only by their run.
func findNoTests(t *testing.T, s logstore.Store, day time.Time) {
	t.Helper()
	want := func(what string, f logstore.SearchFilter, want int) {
		t.Helper()
		f.From, f.To, f.Group = day, day.Add(24*time.Hour), "draft"
		if n := len(findLines(t, s, f).Lines); n != want {
			t.Errorf("%s: a search finds %d lines, want %d", what, n, want)
		}
		c, err := s.CountHits(t.Context(), logstore.HitCountFilter{SearchFilter: f, Parts: 1})
		if err != nil || len(c.Buckets) != 1 {
			t.Fatalf("%s: %+v, %v", what, c, err)
		}
		if n := c.Buckets[0].Info; n != want {
			t.Errorf("%s: a histogram counts %d lines, want %d", what, n, want)
		}
	}
	want("of all", logstore.SearchFilter{}, 2)
	want("of a word", logstore.SearchFilter{Text: "paid"}, 2)
	want("of the tested job", logstore.SearchFilter{Jobs: []job.Name{"draft/pay-draft"}}, 0)
	want("of a test by its id", logstore.SearchFilter{RunID: newRun().of("draft/pay-draft").at(day).id()}, 1)
}

// compareSuccess compares the success that the reports of a day tell with the runs that the
// store lists.
func compareSuccess(t *testing.T, s logstore.Store, day time.Time) {
	t.Helper()
	for _, f := range []logstore.ReportFilter{
		{},
		{Step: runlog.StepMinute},
		{Step: runlog.StepHour},
		{Step: runlog.StepDay},
		{Step: runlog.StepDay, Zone: time.FixedZone("Kathmandu", 20700)},
		{By: []runlog.Dimension{runlog.ByGroup}},
		{By: []runlog.Dimension{runlog.ByJob, runlog.ByVersion}},
		{By: []runlog.Dimension{runlog.ByJob}, Order: runlog.OrderRatio},
		{By: []runlog.Dimension{runlog.ByGroup, runlog.ByInstance}},
		{Jobs: []job.Name{"billing/job-1"}},
	} {
		f.From, f.To, f.Limit = day, day.Add(24*time.Hour), logstore.MaxReportRows
		scheduled, succeeded := 0, 0
		for _, row := range reportOf(t, s, f).Rows {
			scheduled, succeeded = scheduled+row.Scheduled, succeeded+row.ScheduledSucceeded
		}
		of := logstore.RunFilter{From: f.From, To: f.To, Jobs: f.Jobs, Causes: job.ScheduledCauses}
		if slices.Contains(f.By, runlog.ByInstance) {
			of.Instance, of.AllAttempts = "worker-1", true
		}
		counts, err := s.Counts(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		judged := 0
		for status, n := range counts {
			if runlog.Judged(status) {
				judged += n
			}
		}
		if scheduled != judged || succeeded != counts[job.StatusSucceeded] || judged == 0 {
			t.Errorf("by %v and %q, %d of %d fires that a schedule asked for succeeded; the runs say %d of %d", f.By, f.Step, succeeded, scheduled, counts[job.StatusSucceeded], judged)
		}
	}
}
