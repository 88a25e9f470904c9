package spool

import "time"

// Instant is when something happened, by two clocks: the age of a ping must survive both a step of the wall
// clock and a boot.
type Instant struct {
	Wall time.Time `json:"wall"`
	// Boot names the boot of the machine, "" where that is not known, and Since is the time since then, which
	// goes on while the machine sleeps.
	Boot  string        `json:"boot,omitempty"`
	Since time.Duration `json:"since,omitempty"`
}

// Now returns this instant.
func Now() Instant {
	boot, since := sinceBoot()
	return Instant{Wall: time.Now().Round(0), Boot: boot, Since: since}
}

// Age returns how long ago an instant was, by the boot clock if the machine was not booted since. It is never
// negative.
func (i Instant) Age() time.Duration { return i.until(Now()) }

func (i Instant) until(now Instant) time.Duration {
	if i.Boot != "" && i.Boot == now.Boot {
		return max(now.Since-i.Since, 0)
	}
	return max(now.Wall.Sub(i.Wall), 0)
}
