package job

import (
	"math"
	"time"
)

// Bounds of a target.
const (
	// TargetWindow is how far back a job is judged by its target.
	TargetWindow = 30 * 24 * time.Hour
	// MaxStartDelay bounds [Target.StartDelay].
	MaxStartDelay = 7 * 24 * time.Hour
	// precision is what differs in rates only because they are fractions in binary.
	precision = 1e-9
)

// Target is a service level objective: what the runs that a job's schedule asks for must reach.
// At least one of its fields is set.
type Target struct {
	// SuccessRate is how many of these runs must succeed, in percent. Missed runs count as
	// failures.
	SuccessRate float64 `json:"success_rate,omitempty"`
	// StartDelay is how long after its fire time a run may start: 95 % of these runs must not
	// start later.
	StartDelay Duration `json:"start_delay,omitempty"`
}

// AllowedFailures returns how many of so many runs may fail.
func (t *Target) AllowedFailures(runs int) int {
	if t.SuccessRate == 0 {
		return runs
	}
	return int(math.Floor(float64(runs)*(100-t.SuccessRate)/100 + precision))
}

func (j Job) validateTarget() (errs []error) {
	t := j.Target
	if t == nil {
		return nil
	}
	if *t == (Target{}) {
		errs = append(errs, Invalid("target", "is empty; give it success_rate, start_delay or both"))
	}
	if t.SuccessRate < 0 || t.SuccessRate > 100 {
		errs = append(errs, Invalid("target.success_rate", "%v must be a percentage above 0, up to 100", t.SuccessRate))
	}
	if t.StartDelay < 0 || t.StartDelay.Std() > MaxStartDelay {
		errs = append(errs, Invalid("target.start_delay", "%s must be between 0 (no target) and %s", t.StartDelay, Duration(MaxStartDelay)))
	}
	if j.Schedule.Kind() == KindManual {
		errs = append(errs, Invalid("target", "needs a schedule: only runs that a schedule asks for are judged"))
	}
	return errs
}
