package executor

import (
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
)

// limit returns how long the attempt may take from now on, and with which cause its
// context ends then; the cause is nil when there is no limit.
func (r *Run) limit(now time.Time) (limit time.Duration, cause error) {
	if t := r.trigger.Timeout.Std(); t > 0 {
		limit, cause = t, ErrTimeout
	}
	if by := r.trigger.EndBy; !by.IsZero() {
		if left := by.Sub(now); cause == nil || left < limit {
			limit, cause = left, errEndBy
		}
	}
	return limit, cause
}

// warn says in the attempt's log, once, that it takes longer than it should.
func (r *Run) warn(now time.Time) {
	after := r.trigger.WarnAfter.Std()
	if r.warned || after == 0 || now.Sub(r.startedAt) < after {
		return
	}
	r.warned = true
	r.log.system(bus.LevelWarn, fmt.Sprintf("the attempt takes longer than %s", r.trigger.WarnAfter))
}
