package sqlite

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
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

var endedAt = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

// endOf is an update that ends the nth run of a job.
func endOf(n int, status job.Status) logstore.Update {
	return updateOf("g/j", endedAt.Add(time.Duration(n)*time.Second), time.Second, status)
}

// updateOf is an update that ends the run of a fire after some time.
func updateOf(name job.Name, fire time.Time, took time.Duration, status job.Status) logstore.Update {
	return logstore.Update{
		Kind: runlog.KindFinished, Job: name, RunID: job.FireRunID(name, fire.UnixMilli(), job.CauseSchedule), Version: 1, Attempt: 1, Cause: job.CauseSchedule,
		At: fire.Add(took), CommittedAt: fire, Status: status, StartedAt: fire, FinishedAt: fire.Add(took), Instance: "i", Delivery: 1,
	}
}

func writeEnds(t *testing.T, s *Store, updates ...logstore.Update) {
	t.Helper()
	if err := s.WriteRuns(t.Context(), "", updates); err != nil {
		t.Fatal(err)
	}
}

// notes returns how many changes no report counts yet, and how many runs one does.
func notes(t *testing.T, s *Store) (waiting, counted int) {
	t.Helper()
	err := s.reads.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM ended), (SELECT coalesce(sum(succeeded + failed), 0) FROM report_day)").Scan(&waiting, &counted)
	if err != nil {
		t.Fatal(err)
	}
	return waiting, counted
}

func wantNotes(t *testing.T, s *Store, waiting, counted int) {
	t.Helper()
	if w, c := notes(t, s); w != waiting || c != counted {
		t.Errorf("%d changes wait and %d runs are counted; want %d and %d", w, c, waiting, counted)
	}
}

func wantReport(t *testing.T, s *Store, succeeded, failed int) {
	t.Helper()
	report, err := s.Report(t.Context(), logstore.ReportFilter{From: endedAt, To: endedAt.Add(time.Hour), Total: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := report.Total.Statuses; got[job.StatusSucceeded] != succeeded || got[job.StatusFailed] != failed {
		t.Errorf("the report tells %v; want %d succeeded and %d failed", got, succeeded, failed)
	}
}

func TestWhoAsksForAReportHasAllCountedThatEndedBefore(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "log.db"))
	writeEnds(t, s, endOf(1, job.StatusSucceeded), endOf(2, job.StatusFailed))
	wantNotes(t, s, 2, 0)
	wantReport(t, s, 1, 1)
	wantNotes(t, s, 0, 2)
	writeEnds(t, s, endOf(1, job.StatusSucceeded), endOf(3, job.StatusSucceeded))
	wantReport(t, s, 2, 1)
}

func TestMoreNotesThanOneTransactionCountsAreAllCounted(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "log.db"))
	const n = countAtOnce + 10
	updates := make([]logstore.Update, n)
	for i := range updates {
		updates[i] = endOf(0, job.StatusSucceeded)
		updates[i].RunID = job.FireRunID("g/j", endedAt.UnixMilli()+int64(i), job.CauseSchedule)
	}
	writeEnds(t, s, updates...)
	wantReport(t, s, n, 0)
	wantNotes(t, s, 0, n)
}

func TestWhatNobodyAskedForIsCountedByLaterWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, filepath.Join(t.TempDir(), "log.db"))
		wantReport(t, s, 0, 0)
		writeEnds(t, s, endOf(1, job.StatusSucceeded))
		time.Sleep(countAfter)
		writeEnds(t, s, endOf(2, job.StatusSucceeded))
		wantNotes(t, s, 2, 0)
		time.Sleep(time.Millisecond)
		writeEnds(t, s, endOf(3, job.StatusSucceeded))
		wantNotes(t, s, 0, 3)
		writeEnds(t, s, endOf(4, job.StatusSucceeded))
		wantNotes(t, s, 1, 3)
	})
}

func TestWhatWasNotCountedWhenAStoreClosedIsCountedLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	s := openStore(t, path)
	writeEnds(t, s, endOf(1, job.StatusSucceeded))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, path)
	wantNotes(t, s, 1, 0)
	writeEnds(t, s, endOf(2, job.StatusFailed))
	wantReport(t, s, 1, 1)
}

func TestARepairCountsNothingTwice(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "log.db"))
	writeEnds(t, s, endOf(1, job.StatusSucceeded), endOf(2, job.StatusFailed))
	wantReport(t, s, 1, 1)
	writeEnds(t, s, endOf(3, job.StatusSucceeded))
	if err := s.Repair(t.Context(), endedAt); err != nil {
		t.Fatal(err)
	}
	wantNotes(t, s, 0, 3)
	wantReport(t, s, 2, 1)
}

func TestTheNameOfAJobDoesNotKeepTheTextThatItWasReadFrom(t *testing.T) {
	const jobs, length = 64, 1 << 20
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "log.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	before := heap()
	for i := range jobs {
		text := fmt.Sprintf("g/job-%d", 100+i) + strings.Repeat("x", length)
		writeEnds(t, s, updateOf(job.Name(text[:len("g/job-100")]), endedAt, time.Second, job.StatusSucceeded))
	}
	if kept := heap() - before; kept > jobs*length/4 {
		t.Errorf("the names of %d jobs keep %d MB in memory", jobs, kept>>20)
	}
}

// heap returns how much of the heap is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
