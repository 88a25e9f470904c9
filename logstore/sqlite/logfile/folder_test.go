package logfile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
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

func fileNames(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
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

func openFolder(t *testing.T, dir string) *Folder {
	t.Helper()
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestEachDayAndClassHasAFileThatIsRemovedWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "history-logs")
	l := openFolder(t, dir)
	r := logstore.DefaultRetention()
	r.Groups = map[string]job.Keep{"noise": {Logs: job.Duration(logstore.Day)}}
	for n := range 6 { // more than are kept open for writing
		fire := firstDay.Add(time.Duration(n) * logstore.Day)
		if err := l.Write(t.Context(), slices.Concat(linesOf("noise/a", fire, 3), linesOf("billing/b", fire, 3)), &r); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{}
	for n := range 6 {
		want = append(want, fmt.Sprintf("2026-01-%02d.1d.db", 5+n), fmt.Sprintf("2026-01-%02d.7d.db", 5+n))
	}
	if diff := cmp.Diff(want, fileNames(t, dir)); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
	trimmed, err := l.Trim(t.Context(), time.Now().Add(2*logstore.Day), &r)
	if err != nil || trimmed != 18 {
		t.Errorf("trim deleted %d lines, with %v; want 18", trimmed, err)
	}
	for _, name := range fileNames(t, dir) {
		if filepath.Ext(name[:len(name)-3]) != ".7d" {
			t.Errorf("the file %s is left", name)
		}
	}
	// Lines that come for a day whose file is gone begin a new one.
	late := linesOf("noise/a", firstDay, 3)
	if err := l.Write(t.Context(), late, &r); err != nil {
		t.Fatal(err)
	}
	got, err := l.Lines(t.Context(), logstore.LineFilter{RunID: late[0].RunID, Attempt: 1})
	if diff := cmp.Diff(late, got); diff != "" || err != nil {
		t.Errorf("lines differ, with %v (-want +got):\n%s", err, diff)
	}
}

func TestAFileIsRemovedOnceWhoReadsItHasEnded(t *testing.T) {
	l := openFolder(t, filepath.Join(t.TempDir(), "history-logs"))
	r := logstore.DefaultRetention()
	lines := linesOf("noise/a", firstDay, 10)
	if err := l.Write(t.Context(), lines, &r); err != nil {
		t.Fatal(err)
	}
	f := l.all()[0]
	f.using.RLock() // a search that takes long
	removed := make(chan error, 1)
	go func() {
		_, err := l.Trim(t.Context(), time.Now().Add(100*logstore.Day), &r)
		removed <- err
	}()
	// Ingest goes on meanwhile, for other days and for that one.
	for n := range 3 {
		if err := l.Write(t.Context(), linesOf("noise/b", firstDay.Add(time.Duration(n)*logstore.Day), 10), &r); err != nil {
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
	if got, err := l.Lines(t.Context(), logstore.LineFilter{RunID: lines[0].RunID, Attempt: 1}); err != nil || len(got) > 0 {
		t.Errorf("%d lines are left, with %v", len(got), err)
	}
}
