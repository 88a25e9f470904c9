package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

func openStore(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// chunksOf writes lines as a store does, and returns the files that have them.
func chunksOf(t *testing.T, lines []runlog.Line) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "written.db")
	s := openStore(t, path)
	if err := s.WriteLines(t.Context(), "", lines); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(logFolder(path), "*.db"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are files %v, with %v", files, err)
	}
	return files
}

func TestLinesThatFormerProgramsKeptWithTheRunsAreMoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	db, err := file.Open(path, 1)
	if err != nil {
		t.Fatal(err)
	}
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(schemaV1)
	exec(schemaV2)
	exec("PRAGMA user_version = 2; INSERT INTO jobs (id, name) VALUES (7, 'billing/report')")
	const runs = 512 // more than are moved at once
	first := time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)
	var want []runlog.Line
	for n := range runs {
		fire := first.Add(time.Duration(n) * time.Hour)
		for seq := range 3 {
			want = append(want, runlog.Line{
				RunID: job.FireRunID("billing/report", fire.UnixMilli(), job.CauseSchedule), Job: "billing/report", Attempt: 1, Seq: int64(seq + 1),
				At: fire, Level: "info", Output: "stdout", Text: fmt.Sprintf("order %d of day %d", seq, fire.Day()),
			})
		}
	}
	for _, written := range chunksOf(t, want) {
		exec("ATTACH ? AS written", written)
		exec("INSERT INTO log_chunks (run_id, attempt, piece, first_seq, last_seq, job, data) SELECT run_id, attempt, piece, first_seq, last_seq, 7, data FROM written.log_chunks")
		exec("DETACH written")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s := openStore(t, path)
		page, err := s.Search(t.Context(), logstore.SearchFilter{Text: `"order 2"`, Limit: logstore.MaxHits})
		if err != nil || len(page.Lines) != runs {
			t.Fatalf("a search finds %d lines, with %v; want %d", len(page.Lines), err, runs)
		}
		for _, i := range []int{0, 3 * runs / 2, len(want) - 3} {
			got, err := s.Lines(t.Context(), logstore.LineFilter{RunID: want[i].RunID, Attempt: 1})
			if diff := cmp.Diff(want[i:i+3], got); diff != "" || err != nil {
				t.Errorf("lines differ, with %v (-want +got):\n%s", err, diff)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
