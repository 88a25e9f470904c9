package runlog

import (
	"github.com/carillon-scheduler/carillon/job"
)

// Verdict is how the runs of a job compare with its target.
type Verdict struct {
	Met bool `json:"met"`
	// SuccessRate and StartDelay are the target's.
	SuccessRate float64      `json:"success_rate,omitempty"`
	StartDelay  job.Duration `json:"start_delay,omitempty"`
	// Budget is how many more of the runs could have failed, of those that may: the error budget.
	// Below 0 it is by how many too many failed. It is 0 without SuccessRate.
	Budget int `json:"error_budget"`
}

// Against compares what r has of a job with a target. It is nil where there is nothing to judge:
// there is no target, or no run that a schedule asked for. r must have the times until runs started.
func (r *ReportRow) Against(t *job.Target) *Verdict {
	if t == nil || r.Scheduled == 0 {
		return nil
	}
	v := &Verdict{SuccessRate: t.SuccessRate, StartDelay: t.StartDelay}
	if t.SuccessRate > 0 {
		v.Budget = t.AllowedFailures(r.Scheduled) - (r.Scheduled - r.ScheduledSucceeded)
	}
	v.Met = v.Budget >= 0 && (t.StartDelay == 0 || r.Started.P95 <= t.StartDelay.Std())
	return v
}
