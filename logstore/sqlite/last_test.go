package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/job"
	"carillon/logstore"
)

func TestLastStatusesForgetWhatWasTrimmed(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "log.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	fire := time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)
	write := func(name job.Name, at time.Time, status job.Status) {
		t.Helper()
		u := logstore.Update{
			Kind: logstore.KindFinished, RunID: job.FireRunID(name, at.UnixMilli(), job.CauseSchedule), Job: name, Version: 1, Attempt: 1,
			Cause: job.CauseSchedule, At: at, CommittedAt: at, StartedAt: at, FinishedAt: at, Instance: "worker-1", Delivery: 1, Status: status,
		}
		if err := s.WriteRuns(t.Context(), "TEST:1-1", []logstore.Update{u}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want map[job.Name]job.Status) {
		t.Helper()
		got, err := s.LastStatuses(t.Context(), []job.Name{"billing/old", "billing/new"})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("with %v (-want +got):\n%s", err, diff)
		}
	}
	write("billing/old", fire, job.StatusFailed)
	write("billing/new", fire.Add(2*logstore.Day+time.Hour), job.StatusSucceeded)
	check(map[job.Name]job.Status{"billing/old": job.StatusFailed, "billing/new": job.StatusSucceeded})
	keep := logstore.DefaultRetention()
	keep.Default.Runs = job.Duration(logstore.Day)
	if _, err := s.Trim(t.Context(), fire.Add(3*logstore.Day), keep); err != nil {
		t.Fatal(err)
	}
	check(map[job.Name]job.Status{"billing/new": job.StatusSucceeded})
}

func TestLastStatusesThatWereReadTooSoonAreNotRemembered(t *testing.T) {
	numbers := newDictionary()
	numbers.add("billing/a", 1)
	numbers.add("billing/b", 2)
	jobs := []job.Name{"billing/a", "billing/b"}
	succeeded, failed := statusCodes[job.StatusSucceeded], statusCodes[job.StatusFailed]
	missing := func(l *lastStatuses) (since int64, n int) {
		since, found := l.recall(numbers, jobs, map[job.Name]job.Status{})
		return since, len(found)
	}

	l := newLastStatuses()
	since, _ := missing(l)
	l.forget(numbers, []logstore.Update{{Job: "billing/a"}}) // is written while both are read
	l.remember(since, map[int64]int64{1: succeeded, 2: failed})
	if _, n := missing(l); n != 1 {
		t.Errorf("after a write %d jobs are to be read; want the one that was written", n)
	}

	since, _ = missing(l)
	l.clear()
	l.remember(since, map[int64]int64{1: succeeded})
	if _, n := missing(l); n != 2 {
		t.Errorf("after a trim %d jobs are to be read; want both", n)
	}
}
