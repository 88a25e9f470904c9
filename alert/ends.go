package alert

import (
	"slices"
	"strconv"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// judgeEnd judges how a run has ended.
func judgeEnd(when *alerting.Condition, o *outcome, t *tally) (v verdict, summary alerting.Sentence) {
	bad := slices.Contains(when.Ends, o.Status) && (!when.IgnoreAway || !o.away)
	switch {
	case bad && t == nil:
		return wrong, alerting.Say("run_ended", "job", string(o.Job), "status", string(o.Status))
	case bad && o.late && o.RunID <= t.Last: // it was counted, or is of a fire before
	case bad:
		t.Last = max(t.Last, o.RunID)
		if t.Bad++; t.Bad >= when.InARow {
			return wrong, alerting.Say("run_ended_in_a_row", "job", string(o.Job), "status", string(o.Status), "count", strconv.Itoa(t.Bad))
		}
	case o.Status == job.StatusSucceeded:
		if t != nil && (!o.late || o.RunID >= t.Last) {
			t.Bad = 0
		}
		return good, summary
	}
	return neutral, summary
}
