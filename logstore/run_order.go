package logstore

import (
	"cmp"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// maxSorted bounds the range of a list in another order than that of its fires: a store
// looks at all runs of it.
const maxSorted = 31 * Day

// RunOrder is what a list of runs is sorted by. The zero value is the order in which runs
// are stored, and costs what a page shows. Any other costs a look at all runs of the range.
type RunOrder struct {
	By SortKey
	// Rising has the least first. Runs without a value come last either way.
	Rising bool
}

// SortKey names a value of runs.
type SortKey string

// What runs are sorted by: a run with several attempts by its first start and its end. Of equal values, the newest fire comes first.
const (
	SortFire     SortKey = "" // the fire time
	SortStarted  SortKey = "started_at"
	SortFinished SortKey = "finished_at"
	SortDuration SortKey = "duration" // from start to end
	SortDelay    SortKey = "delay"    // from fire time to start, of what a schedule asked for
)

// SortKeys are all of them.
var SortKeys = []SortKey{SortFire, SortStarted, SortFinished, SortDuration, SortDelay}

// Default reports whether o is the order of lists, in which alone there are pages.
func (o RunOrder) Default() bool { return o == RunOrder{} }

// Value returns what r has of the key, as a number that can be compared with that of other
// runs. ok is false if it has none.
func (k SortKey) Value(r *runlog.Run) (value int64, ok bool) {
	switch k {
	case SortFire:
		return r.FireTime.UnixMilli(), true
	case SortStarted:
		return r.RunStartedAt().UnixMilli(), !r.RunStartedAt().IsZero()
	case SortFinished:
		return r.FinishedAt.UnixMilli(), !r.FinishedAt.IsZero()
	case SortDuration:
		return max(r.FinishedAt.Sub(r.RunStartedAt()).Milliseconds(), 0), !r.RunStartedAt().IsZero() && !r.FinishedAt.IsZero()
	case SortDelay:
		return max(r.RunStartedAt().Sub(r.FireTime).Milliseconds(), 0), !r.RunStartedAt().IsZero() && r.Cause.Scheduled()
	}
	return 0, false
}

// Compare is the order of a list.
func (o RunOrder) Compare(a, b *runlog.Run) int {
	x, hasX := o.By.Value(a)
	y, hasY := o.By.Value(b)
	by := cmp.Compare(y, x)
	switch {
	case !hasX || !hasY:
		by = 0
		if hasX != hasY {
			by = 1
			if hasX {
				by = -1
			}
		}
	case o.Rising:
		by = -by
	}
	return cmp.Or(by, cmp.Compare(b.RunID, a.RunID), cmp.Compare(b.Attempt, a.Attempt))
}

// check returns an *InvalidError when a list can not be in the order that f asks for.
func (o RunOrder) check(f *RunFilter) error {
	switch {
	case !slices.Contains(SortKeys, o.By):
		return job.Invalid("sort", "%q must be one of %v", o.By, SortKeys[1:])
	case o.Default():
		return nil
	case f.Cursor != "":
		return job.Invalid("cursor", "must be left out: there are pages in the order of fires only, the newest first")
	case f.From.IsZero():
		return job.Invalid("from", "is needed for a list in this order")
	case f.To.IsZero():
		return job.Invalid("to", "is needed for a list in this order")
	case f.To.Sub(f.From) > maxSorted:
		return job.Invalid("from", "must be at most %d days before to for a list in this order", maxSorted/Day)
	}
	return nil
}
