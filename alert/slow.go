package alert

import (
	"math"
	"slices"
	"time"

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
		usual := percentile(t.Took, 95)
		if o.Took >= minSlow && float64(o.Took) > when.Slower*float64(usual) {
			v = wrong
			summary = alerting.Say("run_slow", "job", string(o.Job), "took", o.Took.Round(time.Millisecond).String(), "usual", usual.String())
		}
	}
	if t.Took = append(t.Took, o.Took.Milliseconds()); len(t.Took) > maxTook {
		t.Took = slices.Delete(t.Took, 0, 1)
	}
	return v, summary
}

// percentile returns the value below or at which p of 100 lie.
func percentile(ms []int64, p int) time.Duration {
	sorted := slices.Sorted(slices.Values(ms))
	i := int(math.Ceil(float64(p)/100*float64(len(sorted)))) - 1
	return time.Duration(sorted[max(i, 0)]) * time.Millisecond
}
