package alert

import (
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/internal/percentile"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// Bounds of what is remembered of how long runs take: of so many the 95th percentile is
// taken, and from so many on. What takes less than a second is never slow.
const (
	maxTook = 100
	minTook = 20
	minSlow = time.Second
)

// judgeSpeed judges how long a run has taken.
func judgeSpeed(when *alerting.Condition, o *outcome, t *tally) (v verdict, summary alerting.Sentence) {
	if o.Status != job.StatusSucceeded || o.Took == 0 {
		return neutral, summary
	}
	v = good
	if len(t.Took) >= minTook {
		usual := time.Duration(percentile.Of(slices.Sorted(slices.Values(t.Took)), 95)) * time.Millisecond
		if o.Took >= minSlow && float64(o.Took) > when.Slower*float64(usual) {
			v = wrong
			summary = alerting.Say("run_slow", "job", string(o.Job), "took", o.Took.Round(time.Millisecond).String(), "usual", usual.String())
		}
	}
	t.remember(o)
	return v, summary
}

// remember takes in how long a run took that succeeded.
func (t *tally) remember(o *outcome) {
	if o.Status != job.StatusSucceeded || o.Took == 0 {
		return
	}
	if t.Took = append(t.Took, o.Took.Milliseconds()); len(t.Took) > maxTook {
		t.Took = slices.Delete(t.Took, 0, 1)
	}
}
