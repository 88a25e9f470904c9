package alert

import (
	"slices"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/job/alerting"
)

// unaskedWithin is the time in which runs are counted that no fire asked for.
const unaskedWithin = time.Hour

// judgeUnasked judges how many runs of a job pings have reported that no fire asked for. It goes by when these were, not
// by when they were reported: a client may send at once what it has kept.
func judgeUnasked(when *alerting.Condition, o *outcome, t *tally) (v verdict, summary alerting.Sentence) {
	if o.late {
		return neutral, summary
	}
	at := o.RunID.Time()
	if o.unasked {
		t.Unasked = append(t.Unasked, at.UnixMilli())
		slices.Sort(t.Unasked)
		t.Unasked = t.Unasked[max(len(t.Unasked)-alerting.MaxUnasked, 0):]
		at = time.UnixMilli(t.Unasked[len(t.Unasked)-1])
	}
	t.Unasked = slices.DeleteFunc(t.Unasked, func(ms int64) bool { return ms <= at.Add(-unaskedWithin).UnixMilli() })
	switch n := len(t.Unasked); {
	case n < when.Unasked:
		return good, summary
	case o.unasked:
		return wrong, alerting.Say("runs_unasked", "job", string(o.Job), "count", strconv.Itoa(n))
	}
	return neutral, summary
}
