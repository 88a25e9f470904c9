package clickhouse

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/chserver/chtest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// openMigrated opens a new database as a program had it that knew the first n migrations.
func openMigrated(t *testing.T, n int) (s *Store, address string) {
	t.Helper()
	address = chtest.Database(t)
	s, err := Open(address, Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	known, err := database.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.db.Migrate(t.Context(), known[:n], s.cfg.Lock); err != nil {
		t.Fatal(err)
	}
	return s, address
}

// Of what the program before has written, it is not known when it was delivered. What comes
// after the update has all its instants, in all reports.
func TestADatabaseOfTheSeventhMigrationLearnsWhenRunsWereDelivered(t *testing.T) {
	old, address := openMigrated(t, 7)
	day := time.Now().UTC().Truncate(24 * time.Hour).Add(-48 * time.Hour)
	end := func(minute int) logstore.Update {
		fire := day.Add(time.Duration(minute) * time.Minute)
		return logstore.Update{
			Kind: runlog.KindFinished, RunID: job.FireRunID("billing/report", fire.UnixMilli(), job.CauseSchedule), Job: "billing/report", Version: 3, Attempt: 1,
			Cause: job.CauseSchedule, At: fire.Add(time.Second), Status: job.StatusSucceeded, Instance: "w", Delivery: 1, CommittedAt: fire,
			DeliveredAt: fire.Add(10 * time.Millisecond), StartedAt: fire.Add(20 * time.Millisecond), FinishedAt: fire.Add(time.Second),
		}
	}
	before, after := end(0), end(1)
	err := old.conn.Exec(t.Context(), fmt.Sprintf(`INSERT INTO runs (run_id, attempt, group, job, version, status, run_status, cause, fire_time, committed_at, started_at, finished_at, instance, delivery, reported, sign, revision, measured, batch)
		VALUES ('%s', 1, 'billing', 'billing/report', 3, 'succeeded', 'succeeded', 'schedule', fromUnixTimestamp64Milli(%[2]d, 'UTC'), fromUnixTimestamp64Milli(%[2]d, 'UTC'), fromUnixTimestamp64Milli(%[2]d + 20, 'UTC'), fromUnixTimestamp64Milli(%[2]d + 1000, 'UTC'), 'w', 1, 'succeeded', 1, 1, true, 'T:1-1')`,
		before.RunID, day.UnixMilli()))
	if err != nil {
		t.Fatal(err)
	}

	s, err := Open(address, Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	before.DeliveredAt = time.Time{} // a repeat by an older executor
	if err := s.WriteRuns(t.Context(), "T:1-2", []logstore.Update{before, after}); err != nil {
		t.Fatal(err)
	}
	page, err := s.Runs(t.Context(), logstore.RunFilter{From: day})
	if err != nil || len(page.Runs) != 2 || !page.Runs[0].DeliveredAt.Equal(after.DeliveredAt) || !page.Runs[1].DeliveredAt.IsZero() {
		t.Errorf("the history is %+v, with %v", page.Runs, err)
	}
	filters := []logstore.ReportFilter{
		{Step: runlog.StepMinute}, {Step: runlog.StepHour}, {Step: runlog.StepDay}, {Jobs: []job.Name{"billing/report"}}, {By: []runlog.Dimension{runlog.ByInstance}},
	}
	wantTotals := func() {
		t.Helper()
		for _, f := range filters {
			f.From, f.To, f.Total = day, day.Add(24*time.Hour), true
			r, err := s.Report(t.Context(), f)
			if err != nil || r.Total.Runs != 2 || r.Total.Started.Count != 2 || r.Total.Delivered.Count != 1 || r.Total.Delivered.P50 != 10*time.Millisecond {
				t.Errorf("by %s %v the total is %+v, with %v; want two that began, and one delivered after 10 ms", f.Step, f.By, r.Total, err)
			}
		}
	}
	wantTotals()
	if err := s.Repair(t.Context(), day); err != nil {
		t.Fatal(err)
	}
	wantTotals()
}
