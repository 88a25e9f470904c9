package cron

import (
	"math"
	"time"
)

// Instants beyond these cannot be within the years that expressions know, in any
// zone; cutting there keeps the sums below from overflowing.
const (
	minUnix = -2 * daySeconds
	maxUnix = maxLocal + 2*daySeconds
)

// Next returns the first fire strictly after the given instant, in UTC; false when
// there is none. Fires are whole seconds.
func (e *Expr) Next(after time.Time, z *Zone, p Policy) (time.Time, bool) {
	u, ok := e.NextUnix(after.Unix(), z, p)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(u, 0).UTC(), true
}

// Pattern is what fires at times on the wall: an [Expr] or an [Interval].
type Pattern interface {
	// NextUnix returns the first fire after an instant, both in seconds since
	// 1970-01-01T00:00Z; false when there is none. It does not allocate.
	NextUnix(after int64, z *Zone, p Policy) (int64, bool)
	// Moved returns what a moved clock has to do with a fire; see [Expr.Moved].
	Moved(at int64, z *Zone, p Policy) (m Move, wall int64)
	// HasDay reports whether a day, counted from 1970-01-01, is one that matches, not one around it.
	HasDay(day int64) bool
	// Excludes returns the part that has nothing in a minute on the wall; see [Expr.Excludes].
	Excludes(wall int64) Part
	// TimesOfDay returns the number of fires on a day on which no clock is moved.
	TimesOfDay() int

	nextLocal(local int64) (int64, bool)
	elapsed(p Policy) bool // it follows elapsed time when clocks are moved
}

// NextUnix is [Expr.Next] in seconds since 1970-01-01T00:00Z. It does not allocate.
func (e *Expr) NextUnix(after int64, z *Zone, p Policy) (int64, bool) {
	return nextUnix(e, after, z, p)
}

func nextUnix(e Pattern, after int64, z *Zone, p Policy) (int64, bool) {
	if after >= maxUnix {
		return 0, false
	}
	t := max(after, minUnix) + 1
	if len(z.periods) == 1 {
		local, ok := e.nextLocal(t + z.periods[0].offset)
		return local - z.periods[0].offset, ok
	}
	return nextMoving(e, t, z, p.rules(e))
}

// nextMoving returns the first fire at or after t in a zone whose clocks are moved.
// It asks the zoneless clock of each period in turn, and corrects the answer where
// the period's beginning repeats times, or its end skips or announces repeated ones.
func nextMoving(e Pattern, t int64, z *Zone, r rules) (int64, bool) {
	i := z.at(t)
	if r.fireAfterGap && z.gapEndsAt(i, t) {
		// The caller asked from the instant before the gap, so what was due in it is due now.
		if local, ok := e.nextLocal(t + z.periods[i-1].offset); ok && local < t+z.periods[i].offset {
			return t, true
		}
	}
	var (
		from  int64 = math.MaxInt64 // local is the first match from here on
		local int64
		ok    bool // false: there is none
	)
	for {
		offset, end := z.periods[i].offset, z.end(i)
		// In a new period the clock mostly stands between the two, and local holds.
		if begin := t + offset; begin < from || begin > local {
			from = begin
			local, ok = e.nextLocal(begin)
		}
		u := local - offset
		switch {
		case !ok:
			// Only a clock put back can bring a matching time again, and it never
			// goes back by more than a day.
			if end-t > 2*daySeconds {
				return 0, false
			}
		case u < end && r.pass == firstPass && u < z.repeatedUntil(i):
			t = z.repeatedUntil(i)
			continue
		case u < end && r.pass == lastPass && u >= z.repeatsFrom(i):
			// Comes again in the next period.
		case u < end:
			return u, true
		case r.fireAfterGap && local < end+z.periods[i+1].offset:
			return end, true
		}
		i, t = i+1, end
		// Nothing matches before local, so the periods well before it can be skipped:
		// a yearly job costs no more than a daily one.
		if far := local - 2*daySeconds; ok && far > z.end(i) {
			i = z.search(far)
			t = z.periods[i].start
		}
	}
}

// end returns the instant at which period i ends.
func (z *Zone) end(i int) int64 {
	if i+1 < len(z.periods) {
		return z.periods[i+1].start
	}
	return math.MaxInt64
}

// gapEndsAt reports whether t is the first instant of period i, and clocks were put
// forward to it.
func (z *Zone) gapEndsAt(i int, t int64) bool {
	return i > 0 && t == z.periods[i].start && z.periods[i].offset > z.periods[i-1].offset
}

// repeatedUntil returns the instant in period i up to which its wall-clock times
// were seen in the period before; at or before its start if none were.
func (z *Zone) repeatedUntil(i int) int64 {
	if i == 0 {
		return z.periods[0].start
	}
	return z.periods[i].start + z.periods[i-1].offset - z.periods[i].offset
}

// repeatsFrom returns the instant in period i from which its wall-clock times will
// come again in the next period; at or after its end if none will.
func (z *Zone) repeatsFrom(i int) int64 {
	if i+1 == len(z.periods) {
		return math.MaxInt64
	}
	return z.periods[i+1].start + z.periods[i+1].offset - z.periods[i].offset
}
