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

	"carillon/job"
	"carillon/logstore"
	"carillon/logstore/logstoretest"
	"carillon/logstore/sqlite"
)

func TestStoreKeepsTheContract(t *testing.T) {
	logstoretest.Run(t, func(t *testing.T) logstore.Store { return open(t, filepath.Join(t.TempDir(), "log.db")) })
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
	setVersion(t, path, 99)
	_, err := sqlite.Open(t.Context(), path)
	if !errors.Is(err, job.ErrInvalid) || !strings.Contains(err.Error(), "schema version 99") {
		t.Errorf("the error is %v; want job.ErrInvalid that tells the version", err)
	}
	setVersion(t, path, 1)
	open(t, path)
}

func setVersion(t *testing.T, path string, version int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
		t.Fatal(err)
	}
}

func TestHistoryIsThereAfterReopening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a folder?", "log #1.db")
	s := open(t, path)
	fire := time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)
	u := logstore.Update{
		Kind: logstore.KindRecorded, RunID: job.FireRunID("billing/report", fire.UnixMilli(), job.CauseSchedule), Job: "billing/report",
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
	line := logstore.Line{RunID: id, Job: "billing/report", Attempt: 1, Seq: 1, At: fire}
	if err := s.WriteLines(t.Context(), "TEST:1-1", []logstore.Line{line}); !errors.Is(err, job.ErrUnavailable) {
		t.Errorf("a write returns %v; want job.ErrUnavailable", err)
	}
	if _, err := s.Run(t.Context(), id); err == nil {
		t.Error("a read succeeds")
	}
}
