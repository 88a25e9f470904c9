package logstore

import (
	"cmp"
	"time"

	"github.com/carillon-scheduler/carillon/job/runlog"
)

// CountTime is how long [Store.CountHits] counts by default.
const CountTime = 2 * time.Second

// HitCountFilter asks how many lines a search finds, over time.
type HitCountFilter struct {
	SearchFilter // whose From and To are needed, and whose Limit and Cursor are ignored

	Parts  int           // into which the range is divided: from 1 to MaxParts
	Within time.Duration // how long to count; defaults to CountTime
}

// Validate returns an *InvalidError that names the first field that is wrong. A range is
// at most as long as that of a report.
func (f *HitCountFilter) Validate() error {
	if err := checkRange(f.From, f.To); err != nil {
		return err
	}
	runs := f.Runs()
	if err := runs.CheckHistogram(f.Parts); err != nil {
		return err
	}
	return f.SearchFilter.Validate()
}

// WithDefaults returns f with what is not set at its default, and without what counts
// ignore.
func (f HitCountFilter) WithDefaults() HitCountFilter {
	f.Within = cmp.Or(f.Within, CountTime)
	f.Limit, f.Cursor = 0, ""
	return f
}

// HitCounts are the hits of a search by the time at which their runs fired.
type HitCounts struct {
	From  time.Time
	To    time.Time
	Step  time.Duration // of a bucket, in whole milliseconds; the last one may end sooner, at To
	Since time.Time     // where a bucket begins: those before it were not counted. From when all were; To when none was
	// Buckets are of equal parts of the range, the oldest first: as many as were asked
	// for, or fewer where the range has no more steps.
	Buckets []runlog.HitBucket
}

// NewHitCounts returns the buckets for a filter that was validated, without hits.
func NewHitCounts(f *HitCountFilter) HitCounts {
	from, to := f.From.UTC(), f.To.UTC()
	step := (to.Sub(from) + time.Duration(f.Parts) - 1) / time.Duration(f.Parts)
	step = (step + time.Millisecond - 1).Truncate(time.Millisecond)
	c := HitCounts{From: from, To: to, Step: step, Since: from}
	for at := from; at.Before(to); at = at.Add(step) {
		c.Buckets = append(c.Buckets, runlog.HitBucket{At: at})
	}
	return c
}

// Complete reports whether all hits were counted.
func (c *HitCounts) Complete() bool { return !c.Since.After(c.From) }

// Add counts n hits of a level in the bucket of an instant in the range.
func (c *HitCounts) Add(fire time.Time, level string, n int) {
	b := &c.Buckets[c.bucket(fire)]
	switch level {
	case "debug":
		b.Debug += n
	case "info":
		b.Info += n
	case "warn":
		b.Warn += n
	case "error":
		b.Error += n
	default:
		b.Other += n
	}
}

// bucket returns the index of the bucket in which an instant of the range lies.
func (c *HitCounts) bucket(at time.Time) int { return int(at.Sub(c.From) / c.Step) }

// CutAt says that not all hits of runs were counted that fired at an instant or before
// it: what was counted of its bucket, and of those before, is left out.
func (c *HitCounts) CutAt(fire time.Time) {
	if fire.Before(c.From) {
		return
	}
	n := min(c.bucket(fire)+1, len(c.Buckets))
	for i := range c.Buckets[:n] {
		c.Buckets[i] = runlog.HitBucket{At: c.Buckets[i].At}
	}
	since := c.To
	if n < len(c.Buckets) {
		since = c.Buckets[n].At
	}
	if since.After(c.Since) {
		c.Since = since
	}
}
