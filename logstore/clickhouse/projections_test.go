package clickhouse_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/internal/chserver/chtest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// The projections of reports tell the same of few rows, also when parts are merged.
func TestReportsOfGroupsAndOfOneJobReadFewRows(t *testing.T) {
	address := chtest.Database(t)
	s := open(t, address)

	const jobs, hours = 600, 5
	day := time.Now().UTC().Add(-48 * time.Hour).Truncate(24 * time.Hour)
	write := func(token string, status job.Status) {
		t.Helper()
		updates := make([]logstore.Update, hours*jobs)
		for i := range updates {
			u, at := end(0), day.Add(time.Duration(i/jobs)*time.Hour)
			u.Job = job.Name(fmt.Sprintf("billing/job-%d", i%jobs))
			u.RunID = job.FireRunID(u.Job, at.UnixMilli(), job.CauseSchedule)
			u.At, u.CommittedAt, u.StartedAt, u.FinishedAt, u.Status = at.Add(3*time.Second), at, at.Add(time.Second), at.Add(3*time.Second), status
			if u.Kind = runlog.KindFinished; status == job.StatusCancelled {
				u.Kind = runlog.KindRecorded
			}
			updates[i] = u
		}
		if err := s.WriteRuns(t.Context(), token, updates); err != nil {
			t.Fatal(err)
		}
	}
	write("EVT:1-3000", job.StatusFailed)

	few := open(t, address+"?max_rows_to_read=1500")
	reports := func() (all []logstore.Report) {
		t.Helper()
		for _, f := range []logstore.ReportFilter{{Step: runlog.StepHour}, {Step: runlog.StepDay}, {Groups: []string{"billing"}}, {Jobs: []job.Name{"billing/job-7"}, Step: runlog.StepHour}} {
			f.From, f.To, f.Total = day, day.Add(24*time.Hour), true
			r, err := few.Report(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
		return all
	}
	want := func(status job.Status) {
		t.Helper()
		var got []map[job.Status]int
		for _, r := range reports() {
			got = append(got, r.Total.Statuses)
		}
		all := map[job.Status]int{status: hours * jobs}
		if diff := cmp.Diff([]map[job.Status]int{all, all, all, {status: hours}}, got); diff != "" {
			t.Errorf("the reports differ (-want +got):\n%s", diff)
		}
	}
	want(job.StatusFailed)
	write("TRIG:1-3000", job.StatusCancelled)
	want(job.StatusCancelled)
	before := reports()
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, reports()); diff != "" {
		t.Errorf("after a merge the reports differ (-want +got):\n%s", diff)
	}
	if err := s.Repair(t.Context(), day); err != nil {
		t.Fatal(err)
	}
	want(job.StatusCancelled)
}
