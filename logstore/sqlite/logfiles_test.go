package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/job"
	"carillon/job/runlog"
	"carillon/logstore"
)

func linesOf(name job.Name, fire time.Time, n int) []runlog.Line {
	var lines []runlog.Line
	for seq := range n {
		lines = append(lines, runlog.Line{
			RunID: job.FireRunID(name, fire.UnixMilli(), job.CauseSchedule), Job: name, Attempt: 1, Seq: int64(seq + 1),
			At: fire, Level: "info", Output: "stdout", Text: fmt.Sprintf("order %d of day %d", seq, fire.Day()),
		})
	}
	return lines
}

var firstDay = time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)

func fileNames(t *testing.T, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(logFolder(path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".db" {
			names = append(names, e.Name())
		}
	}
	return names
}

func openStore(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestEachDayAndClassHasAFileThatIsRemovedWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := openStore(t, path)
	r := logstore.DefaultRetention()
	r.Groups = map[string]job.Keep{"noise": {Logs: job.Duration(logstore.Day)}}
	s.SetRetention(r)
	for n := range 6 { // more than are kept open for writing
		fire := firstDay.Add(time.Duration(n) * logstore.Day)
		if err := s.WriteLines(t.Context(), "", slices.Concat(linesOf("noise/a", fire, 3), linesOf("billing/b", fire, 3))); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{}
	for n := range 6 {
		want = append(want, fmt.Sprintf("2026-01-%02d.1d.db", 5+n), fmt.Sprintf("2026-01-%02d.7d.db", 5+n))
	}
	if diff := cmp.Diff(want, fileNames(t, path)); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
	trimmed, err := s.Trim(t.Context(), time.Now().Add(2*logstore.Day), r)
	if err != nil || trimmed.Lines != 18 {
		t.Errorf("trim deleted %+v, with %v; want 18 lines", trimmed, err)
	}
	for _, name := range fileNames(t, path) {
		if filepath.Ext(name[:len(name)-3]) != ".7d" {
			t.Errorf("the file %s is left", name)
		}
	}
	// Lines that come for a day whose file is gone begin a new one.
	late := linesOf("noise/a", firstDay, 3)
	if err := s.WriteLines(t.Context(), "", late); err != nil {
		t.Fatal(err)
	}
	got, err := s.Lines(t.Context(), logstore.LineFilter{RunID: late[0].RunID, Attempt: 1})
	if diff := cmp.Diff(late, got); diff != "" || err != nil {
		t.Errorf("lines differ, with %v (-want +got):\n%s", err, diff)
	}
}

func TestAFileIsRemovedOnceWhoReadsItHasEnded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := openStore(t, path)
	lines := linesOf("noise/a", firstDay, 10)
	if err := s.WriteLines(t.Context(), "", lines); err != nil {
		t.Fatal(err)
	}
	f := s.logs.all()[0]
	f.using.RLock() // a search that takes long
	removed := make(chan error, 1)
	go func() {
		_, err := s.Trim(t.Context(), time.Now().Add(100*logstore.Day), logstore.DefaultRetention())
		removed <- err
	}()
	// Ingest goes on meanwhile, for other days and for that one.
	for n := range 3 {
		if err := s.WriteLines(t.Context(), "", linesOf("noise/b", firstDay.Add(time.Duration(n)*logstore.Day), 10)); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-removed:
		t.Errorf("the file was removed while it was read, with %v", err)
	default:
	}
	f.using.RUnlock()
	if err := <-removed; err != nil {
		t.Error(err)
	}
	if got, err := s.Lines(t.Context(), logstore.LineFilter{RunID: lines[0].RunID, Attempt: 1}); err != nil || len(got) > 0 {
		t.Errorf("%d lines are left, with %v", len(got), err)
	}
}

func TestLinesThatFormerProgramsKeptWithTheRunsAreMoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	db, err := open(path, 1)
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
	var want []runlog.Line
	for n := range 2 * movedAtOnce {
		lines := linesOf("billing/report", firstDay.Add(time.Duration(n)*time.Hour), 3)
		exec("INSERT INTO log_chunks (run_id, attempt, piece, first_seq, last_seq, job, data) VALUES (?, 1, 0, 1, 3, 7, ?)", packID(lines[0].RunID), encodeChunk(lines))
		want = append(want, lines...)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s := openStore(t, path)
		page, err := s.Search(t.Context(), logstore.SearchFilter{Text: `"order 2"`, Limit: logstore.MaxHits})
		if err != nil || len(page.Lines) != 2*movedAtOnce {
			t.Fatalf("a search finds %d lines, with %v; want %d", len(page.Lines), err, 2*movedAtOnce)
		}
		for _, i := range []int{0, 3 * movedAtOnce, len(want) - 3} {
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
