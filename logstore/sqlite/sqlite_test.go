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

func TestFileOfAnotherSchemaIsRefusedAndLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	version := schemaVersion(t, path)
	for _, other := range []int{99, version + 1, -1} {
		setVersion(t, path, other)
		wantRefused(t, path, fmt.Sprintf("schema version %d, and this program understands only %d", other, version))
		if got := schemaVersion(t, path); got != other {
			t.Errorf("the refused file has version %d afterwards; want %d", got, other)
		}
	}
	setVersion(t, path, version)
	open(t, path)
}

func TestFileOfAnotherProgramIsRefusedAndLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	execute(t, path, "CREATE TABLE orders (id INTEGER PRIMARY KEY)")
	wantRefused(t, path, "tables of another program")
	withFile(t, path, func(db *sql.DB) error {
		var tables int
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil || tables != 1 {
			t.Errorf("the refused file has %d tables, with %v; want the one that it had", tables, err)
		}
		return nil
	})
}

func wantRefused(t *testing.T, path, sentence string) {
	t.Helper()
	_, err := sqlite.Open(t.Context(), path)
	if !errors.Is(err, job.ErrInvalid) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), sentence) {
		t.Errorf("the error is %v; want job.ErrInvalid that names %s and contains %q", err, path, sentence)
	}
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
