package cron

import "math/bits"

// Around returns e with the days around each that matches: as many before it and after it as are
// given, at most 255 each. It fires on all of them at the times of day at which e does.
func (e *Expr) Around(before, after uint8) *Expr {
	around := *e
	around.before, around.after = before, after
	return &around
}

// TimesOfDay returns how often e fires on a day on which no clock is moved.
func (e *Expr) TimesOfDay() int {
	return bits.OnesCount32(e.hour) * bits.OnesCount64(e.minute) * bits.OnesCount64(e.second)
}

// HasDay reports whether a day, counted from 1970-01-01, is one that matches, not one around it.
func (e *Expr) HasDay(day int64) bool {
	if day < 0 || day > maxLocal/daySeconds {
		return false
	}
	year, month, dom := civil(int(day))
	return e.month>>month&1 != 0 && e.hasYear(year) && e.days(year, month)>>dom&1 != 0
}

// daysAround returns the days of a month on which e fires as bits 1-31.
func (e *Expr) daysAround(year, month int) uint32 {
	if e.before|e.after == 0 {
		if e.month>>month&1 == 0 || !e.hasYear(year) {
			return 0
		}
		return e.days(year, month)
	}
	first, length := daysSinceEpoch(year, month, 1), monthLength(year, month)
	last := first + length - 1
	var mask uint32
	for day := first - int(e.after); day <= last+int(e.before); day++ {
		if !e.HasDay(int64(day)) {
			continue
		}
		from, to := max(day-int(e.before), first), min(day+int(e.after), last)
		for d := from; d <= to; d++ {
			mask |= 2 << (d - first)
		}
	}
	return mask
}

// Unix returns the first instant at which the clock of z shows local, in seconds since 1970 on the
// wall: where a gap skips that, the instant at which the gap ends.
func (z *Zone) Unix(local int64) int64 {
	i := z.search(local - 2*daySeconds)
	for local-z.periods[i].offset >= z.end(i) {
		i++
	}
	return max(local-z.periods[i].offset, z.periods[i].start)
}
