package job

import "time"

// Bounds of the limits of a run.
const (
	MaxKillGrace   = 10 * time.Minute
	MaxStartWithin = 7 * 24 * time.Hour
	MaxPauseAfter  = 1000

	DefaultMaxDeliveries = 3
	MaxMaxDeliveries     = 10
)

// validateLimits checks the limits in time of a run and its attempts.
func (j Job) validateLimits() []error {
	var errs []error
	limit := func(field string, d Duration, most time.Duration) {
		if d < 0 || d.Std() > most {
			errs = append(errs, Invalid(field, "%s must be between 0 (no limit) and %s", d, Duration(most)))
		}
	}
	limit("timeout", j.Timeout, MaxTimeout)
	limit("total_timeout", j.TotalTimeout, MaxTimeout)
	limit("warn_after", j.WarnAfter, MaxTimeout)
	limit("start_within", j.StartWithin, MaxStartWithin)
	if j.KillGrace < 0 || j.KillGrace.Std() > MaxKillGrace {
		errs = append(errs, Invalid("kill_grace", "%s must be between 0 (the executor's own) and %s", j.KillGrace, Duration(MaxKillGrace)))
	}
	if j.Timeout > 0 && j.TotalTimeout > 0 && j.TotalTimeout < j.Timeout {
		errs = append(errs, Invalid("total_timeout", "%s must not be less than timeout, %s: it is for all attempts together", j.TotalTimeout, j.Timeout))
	}
	if j.Timeout > 0 && j.WarnAfter >= j.Timeout {
		errs = append(errs, Invalid("warn_after", "%s must be less than timeout, %s", j.WarnAfter, j.Timeout))
	}
	if j.MaxDeliveries < 0 || j.MaxDeliveries > MaxMaxDeliveries {
		errs = append(errs, Invalid("max_deliveries", "%d must be between 1 and %d", j.MaxDeliveries, MaxMaxDeliveries))
	}
	if j.MaxDeliveries > 1 && j.Delivery == AtMostOnce {
		errs = append(errs, Invalid("max_deliveries", "%d must be 1 with delivery at_most_once, which loses an attempt when its first executor dies", j.MaxDeliveries))
	}
	if j.PauseAfter < 0 || j.PauseAfter > MaxPauseAfter {
		errs = append(errs, Invalid("pause_after_failures", "%d must be between 0 (never) and %d", j.PauseAfter, MaxPauseAfter))
	}
	return errs
}
