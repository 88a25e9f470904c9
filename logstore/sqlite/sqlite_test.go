package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/logstoretest"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
)

func TestStoreKeepsTheContract(t *testing.T) {
	logstoretest.Run(t, openEmpty)
}

func openEmpty(t *testing.T) logstore.Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "log.db"))
}

func open(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestFileOfANewerProgramIsRefusedAndLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	version := schemaVersion(t, path)
	setVersion(t, path, 99)
	_, err := sqlite.Open(t.Context(), path)
	if !errors.Is(err, job.ErrInvalid) || !strings.Contains(err.Error(), "schema version 99") {
		t.Errorf("the error is %v; want job.ErrInvalid that tells the version", err)
	}
	setVersion(t, path, version)
	open(t, path)
}

func TestAStoreKeepsItsIdentity(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	logstoretest.Identity(t, open(t, path), open(t, path), openEmpty(t))
}

func schemaVersion(t *testing.T, path string) (version int) {
	t.Helper()
	withFile(t, path, func(db *sql.DB) error {
		return db.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&version)
	})
	return version
}

func setVersion(t *testing.T, path string, version int) {
	t.Helper()
	execute(t, path, fmt.Sprintf("PRAGMA user_version = %d", version))
}

func execute(t *testing.T, path, script string) {
	t.Helper()
	withFile(t, path, func(db *sql.DB) error {
		_, err := db.ExecContext(t.Context(), script)
		return err
	})
}

func withFile(t *testing.T, path string, f func(*sql.DB) error) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := f(db); err != nil {
		t.Fatal(err)
	}
}

func TestHistoryIsThereAfterReopening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a folder?", "log #1.db")
	s := open(t, path)
	fire := time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)
	u := logstore.Update{
		Kind: runlog.KindRecorded, RunID: job.FireRunID("billing/report", fire.UnixMilli(), job.CauseSchedule), Job: "billing/report",
		Version: 1, Attempt: 1, Cause: job.CauseSchedule, At: fire, Status: job.StatusPending,
	}
	if err := s.WriteRuns(t.Context(), "TEST:1-1", []logstore.Update{u}); err != nil {
		t.Fatal(err)
	}
	// A second program reads the file while the first, which may have died, has it open.
	for range 2 {
		again := open(t, path)
		runs, err := again.Run(t.Context(), u.RunID)
		if err != nil || len(runs) != 1 || runs[0].Job != u.Job {
			t.Errorf("the run is %+v, with %v", runs, err)
		}
		if err := again.WriteRuns(t.Context(), "TEST:1-1", []logstore.Update{u}); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestClosedStoreSaysSo(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "log.db"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	fire := time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)
	id := job.FireRunID("billing/report", fire.UnixMilli(), job.CauseSchedule)
	line := runlog.Line{RunID: id, Job: "billing/report", Attempt: 1, Seq: 1, At: fire}
	if err := s.WriteLines(t.Context(), "TEST:1-1", []runlog.Line{line}); !errors.Is(err, job.ErrUnavailable) {
		t.Errorf("a write returns %v; want job.ErrUnavailable", err)
	}
	if _, err := s.Run(t.Context(), id); err == nil {
		t.Error("a read succeeds")
	}
}

func TestFileOfTheFirstVersionKeepsItsHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	schema, err := os.ReadFile("schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	execute(t, path, string(schema)+"; PRAGMA user_version = 1")
	fire := time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)
	id := func(minute int) job.RunID {
		return job.FireRunID("billing/report", fire.Add(time.Duration(minute)*time.Minute).UnixMilli(), job.CauseSchedule)
	}
	blob := func(minute int) string { return "x'" + strings.ReplaceAll(string(id(minute)), "-", "") + "'" }
	ms := fire.UnixMilli()
	execute(t, path, "INSERT INTO jobs VALUES (1, 'billing/report')")
	execute(t, path, fmt.Sprintf(`INSERT INTO runs (run_id, attempt, job, version, status, cause, committed_at, started_at, finished_at, reason, instance, delivery)
		VALUES (%[1]s, 1, 1, 3, 11, 1, %[4]d, %[4]d, %[4]d, '', 'w', 1), (%[1]s, 2, 1, 3, 10, 1, %[4]d, %[4]d, %[4]d, '', 'w', 1),
		(%[2]s, 1, 1, 3, 16, 1, %[4]d, 0, 0, 'noticed too late', '', 0), (%[3]s, 1, 1, 3, 2, 1, %[4]d, 0, 0, 'noticed 20s late', '', 0)`, blob(0), blob(1), blob(2), ms))
	execute(t, path, fmt.Sprintf("INSERT INTO changes VALUES (%s, 1, 1, 1, %d, 1, '', 0, 0, 'a run is alive')", blob(0), ms-5))

	s := open(t, path)
	page, err := s.Runs(t.Context(), logstore.RunFilter{AllAttempts: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range page.Runs {
		got = append(got, fmt.Sprintf("%s %d %s %s %v", r.RunID, r.Attempt, r.Status, r.Reason, r.FinishedAt.Equal(fire)))
	}
	want := []string{
		fmt.Sprintf("%s 1 pending noticed 20s late false", id(2)), fmt.Sprintf("%s 1 missed noticed too late true", id(1)),
		fmt.Sprintf("%s 2 succeeded  true", id(0)), fmt.Sprintf("%s 1 failed  true", id(0)),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("history differs (-want +got):\n%s", diff)
	}
	counts, err := s.Counts(t.Context(), logstore.RunFilter{})
	if diff := cmp.Diff(map[job.Status]int{job.StatusPending: 1, job.StatusMissed: 1, job.StatusSucceeded: 1}, counts); diff != "" || err != nil {
		t.Errorf("counts differ, with %v (-want +got):\n%s", err, diff)
	}
	changes, err := s.Changes(t.Context(), id(0), runlog.Whole)
	if err != nil || len(changes) != 7 || changes[0].Detail != "a run is alive" {
		t.Errorf("the timeline is %+v, with %v", changes, err)
	}
}

// Of what a file of version 6 has, it is not known when it was delivered. An end that waits
// to be counted there is counted, and what comes then has all its instants.
func TestFileOfTheSixthVersionLearnsWhenRunsWereDelivered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	for version, name := range []string{"schema.sql", "schema2.sql", "schema3.sql", "schema4.sql", "schema5.sql", "schema6.sql"} {
		schema, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		execute(t, path, fmt.Sprintf("%s; PRAGMA user_version = %d", schema, version+1))
	}
	fire := time.Now().UTC().Truncate(24 * time.Hour).Add(-24 * time.Hour)
	old := job.FireRunID("billing/report", fire.UnixMilli(), job.CauseSchedule)
	execute(t, path, "INSERT INTO jobs VALUES (1, 'billing/report')")
	execute(t, path, fmt.Sprintf(`INSERT INTO runs (run_id, attempt, job, version, status, state, cause, committed_at, started_at, finished_at, reported, instance, delivery)
		VALUES (x'%s', 1, 1, 3, 10, 10, 1, %[2]d, %[2]d, %[2]d, 10, 'w', 1)`, strings.ReplaceAll(string(old), "-", ""), fire.UnixMilli()))

	s := open(t, path)
	next := fire.Add(time.Minute)
	u := logstore.Update{
		Kind: runlog.KindFinished, RunID: job.FireRunID("billing/report", next.UnixMilli(), job.CauseSchedule), Job: "billing/report", Version: 3, Attempt: 1,
		Cause: job.CauseSchedule, At: next.Add(time.Second), Status: job.StatusSucceeded, Instance: "w", Delivery: 1, CommittedAt: next,
		DeliveredAt: next.Add(10 * time.Millisecond), StartedAt: next.Add(20 * time.Millisecond), FinishedAt: next.Add(time.Second),
	}
	if err := s.WriteRuns(t.Context(), "TEST:1-1", []logstore.Update{u}); err != nil {
		t.Fatal(err)
	}
	page, err := s.Runs(t.Context(), logstore.RunFilter{})
	if err != nil || len(page.Runs) != 2 || !page.Runs[0].DeliveredAt.Equal(u.DeliveredAt) || !page.Runs[1].DeliveredAt.IsZero() {
		t.Errorf("the history is %+v, with %v", page.Runs, err)
	}
	for range 2 {
		for _, f := range []logstore.ReportFilter{{Step: runlog.StepMinute}, {Step: runlog.StepHour}, {Step: runlog.StepDay}, {By: []runlog.Dimension{runlog.ByInstance}}} {
			f.From, f.To, f.Total = fire, fire.Add(24*time.Hour), true
			r, err := s.Report(t.Context(), f)
			if err != nil || r.Total.Started.Count != 2 || r.Total.Delivered.Count != 1 {
				t.Errorf("by %s %v the total is %+v, with %v; want two that began, and one delivered", f.Step, f.By, r.Total, err)
			}
		}
		if err := s.Repair(t.Context(), fire); err != nil {
			t.Fatal(err)
		}
	}
}

// A file of version 9 has no sums of groups. It gets those of what its jobs have.
func TestFileOfTheNinthVersionSumsUpItsGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	fire := time.Now().UTC().Truncate(24 * time.Hour).Add(-24 * time.Hour)
	reports := func(s *sqlite.Store) (all []logstore.Report) {
		t.Helper()
		for _, f := range []logstore.ReportFilter{{Step: runlog.StepHour, By: []runlog.Dimension{runlog.ByGroup}}, {Step: runlog.StepDay, Zone: time.FixedZone("Kathmandu", 20700)}} {
			f.From, f.To, f.Total = fire, fire.Add(24*time.Hour), true
			r, err := s.Report(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
		return all
	}
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	var updates []logstore.Update
	for i := range 96 {
		at := fire.Add(time.Duration(i) * 15 * time.Minute)
		name := job.Name(fmt.Sprintf("group-%d/job-%d", i%2, i%3))
		updates = append(updates, logstore.Update{
			Kind: runlog.KindFinished, RunID: job.FireRunID(name, at.UnixMilli(), job.CauseSchedule), Job: name, Version: 1, Attempt: 1, Cause: job.CauseSchedule,
			At: at.Add(time.Second), Status: job.StatusSucceeded, Instance: "w", Delivery: 1, CommittedAt: at, StartedAt: at.Add(time.Duration(i) * time.Millisecond), FinishedAt: at.Add(time.Second),
		})
	}
	if err := s.WriteRuns(t.Context(), "TEST:1-1", updates); err != nil {
		t.Fatal(err)
	}
	want := reports(s)
	if n := len(want[0].Rows); n != 48 {
		t.Fatalf("there are %d rows; want 48", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"minute", "hour", "day", "instance"} {
		execute(t, path, fmt.Sprintf("ALTER TABLE report_%[1]s DROP COLUMN unscheduled; ALTER TABLE report_%[1]s DROP COLUMN unscheduled_succeeded", table))
	}
	execute(t, path, "DROP TABLE report_group; DROP INDEX runs_backfilled; PRAGMA user_version = 9")
	if diff := cmp.Diff(want, reports(open(t, path))); diff != "" {
		t.Errorf("the reports differ (-before +upgraded):\n%s", diff)
	}
}
