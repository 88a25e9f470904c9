// Package estimate tells when a run will likely have ended.
package estimate

import (
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/internal/percentile"
)

// MinRuns is how many runs must have succeeded before the end of another one can be estimated.
const MinRuns = 5

// Expected is an estimate of when a run ends.
type Expected struct {
	End time.Time
	// Usual is how long half of the job's runs take at most, and Runs how many were considered.
	Usual time.Duration
	Runs  int
}

// End estimates when a run ends that began then; if began is zero, it begins now at the earliest. took
// is how long the last runs took that succeeded. Of these, only those count that took longer than the run has
// lasted by now: half of them had ended by the returned instant. A run that has lasted longer than all of them may
// end at any moment, so its instant is now. ok is false if took has fewer than [MinRuns].
func End(took []time.Duration, began, now time.Time) (e Expected, ok bool) {
	if len(took) < MinRuns {
		return e, false
	}
	sorted := slices.Sorted(slices.Values(took))
	e = Expected{End: now, Usual: percentile.Of(sorted, 50), Runs: len(sorted)}
	if began.IsZero() || began.After(now) {
		began = now
	}
	lasted := now.Sub(began)
	longer := slices.IndexFunc(sorted, func(d time.Duration) bool { return d > lasted })
	if longer >= 0 {
		e.End = began.Add(percentile.Of(sorted[longer:], 50))
	}
	return e, true
}
