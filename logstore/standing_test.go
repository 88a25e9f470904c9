package logstore

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

func TestAStandingIsReadFromAsFewRunsAsTellIt(t *testing.T) {
	const s, f, o, l, c, p = job.StatusSucceeded, job.StatusFailed, job.StatusTimedOut, job.StatusLost, job.StatusCancelled, job.StatusPending
	began := time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)
	check := func(streak, read int, newestFirst ...job.Status) {
		t.Helper()
		var got Lookback
		n := 0
		for i, status := range newestFirst {
			n++
			if !got.Add(status, began.Add(-time.Duration(i)*time.Hour)) {
				break
			}
		}
		want := Standing{Status: newestFirst[0], StartedAt: began, Streak: streak}
		if got.Standing != want || n != read {
			t.Errorf("%v: %+v of %d runs, want %+v of %d", newestFirst, got.Standing, n, want, read)
		}
	}
	check(0, 1, s, f, f)
	check(0, 1, p, f, f)
	check(1, 2, f, s, f)
	check(3, 5, f, c, o, l, s, f)
	long := make([]job.Status, StandingRuns+5)
	for i := range long {
		long[i] = f
	}
	check(StandingRuns, StandingRuns, long...)
}
