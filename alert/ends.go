package alert

import (
	"slices"
	"strconv"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// judgeEnd judges how a run has ended.
func judgeEnd(when *alerting.Condition, o *outcome, t *tally) (v verdict, summary alerting.Sentence) {
	switch {
	case slices.Contains(when.Ends, o.Status) && t == nil:
		return wrong, alerting.Say("run_ended", "job", string(o.Job), "status", string(o.Status))
	case slices.Contains(when.Ends, o.Status):
		if t.Bad++; t.Bad >= when.InARow {
			return wrong, alerting.Say("run_ended_in_a_row", "job", string(o.Job), "status", string(o.Status), "count", strconv.Itoa(t.Bad))
		}
	case o.Status == job.StatusSucceeded:
		if t != nil {
			t.Bad = 0
		}
		return good, summary
	}
	return neutral, summary
}
