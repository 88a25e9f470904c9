package executor

import (
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
)

// limit returns how long the attempt may take from now on, and with which cause its
// context ends then; the cause is nil when there is no limit.
func (d *delivery) limit(now time.Time) (limit time.Duration, cause error) {
	if t := d.trigger.Timeout.Std(); t > 0 {
		limit, cause = t, ErrTimeout
	}
	if by := d.trigger.EndBy; !by.IsZero() {
		if left := by.Sub(now); cause == nil || left < limit {
			limit, cause = left, errEndBy
		}
	}
	return limit, cause
}

// warn logs in the attempt's log, once, that it takes longer than it should.
func (a *attempt) warn(now time.Time) {
	after := a.trigger.WarnAfter.Std()
	if a.warned || after == 0 || now.Sub(a.startedAt) < after {
		return
	}
	a.warned = true
	a.log.system(bus.LevelWarn, fmt.Sprintf("the attempt takes longer than %s", a.trigger.WarnAfter))
}
