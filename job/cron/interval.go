package cron

import "math/bits"

// Unit is what the steps of an [Interval] are made of.
type Unit uint8

// The units. A year is twelve months.
const (
	Days   Unit = iota + 1
	Weeks       // from Monday to Sunday
	Months      // of the calendar
)

// Interval fires every so many days, weeks or months of the calendar, on given days of
// them, at given times of day. Steps are counted from the date on which it begins, by
// days on the wall: no moved clock, no restart and no time zone moves them. It is
// immutable and safe for concurrent use; [ParseInterval] makes one.
type Interval struct {
	unit     Unit
	step     int
	from     int     // first day, counted from 1970-01-01
	weekdays uint8   // weeks: bits 0-6, Monday is 0
	dates    Expr    // months: days is all that is asked of it
	times    []int32 // seconds of the day, ascending; at least one
	before   uint8   // how many days before a day that matches it fires, too
	after    uint8   // how many days after one
}

const lastDay = (maxLocal+1)/daySeconds - 1

// NextUnix returns the first fire after an instant; see [Pattern]. It takes time in
// proportion to the months between two fires at most.
func (v *Interval) NextUnix(after int64, z *Zone, p Policy) (int64, bool) {
	return nextUnix(v, after, z, p)
}

// Moved returns what a moved clock has to do with a fire; see [Expr.Moved].
func (v *Interval) Moved(at int64, z *Zone, p Policy) (m Move, wall int64) {
	return moved(v, at, z, p)
}

// elapsed is false: intervals of the calendar name times on the wall, whatever the policy.
func (v *Interval) elapsed(Policy) bool { return false }

// Around returns v with the days around each that matches; see [Expr.Around].
func (v *Interval) Around(before, after uint8) *Interval {
	around := *v
	around.before, around.after = before, after
	return &around
}

// TimesOfDay returns the number of fires on a day on which no clock is moved.
func (v *Interval) TimesOfDay() int { return len(v.times) }

// HasDay reports whether a day, counted from 1970-01-01, is one that matches, not one around it.
func (v *Interval) HasDay(day int64) bool {
	if day < 0 || day > lastDay {
		return false
	}
	next, ok := v.nextDay(int(day))
	return ok && next == int(day)
}

// nextLocal is [Expr.nextLocal] for intervals.
func (v *Interval) nextLocal(local int64) (int64, bool) {
	if local > maxLocal {
		return 0, false
	}
	local = max(local, 0)
	from := int(local / daySeconds)
	day, ok := v.nextDayAround(from)
	if !ok {
		return 0, false
	}
	if second := int32(local - int64(from)*daySeconds); day == from { //nolint:gosec // below 86400
		for _, t := range v.times {
			if t >= second {
				return int64(day)*daySeconds + int64(t), true
			}
		}
		if day, ok = v.nextDayAround(from + 1); !ok {
			return 0, false
		}
	}
	return int64(day)*daySeconds + int64(v.times[0]), true
}

// nextDayAround returns the first day from the given one on that matches or is around
// one that does.
func (v *Interval) nextDayAround(day int) (int, bool) {
	match, ok := v.nextDay(day - int(v.after))
	if day = max(day, match-int(v.before)); !ok || day > lastDay {
		return 0, false
	}
	return day, true
}

// nextDay returns the first matching day from the given one on.
func (v *Interval) nextDay(day int) (next int, ok bool) {
	day = max(day, v.from)
	switch v.unit {
	case Days:
		next, ok = v.from+v.up(day-v.from), true
	case Weeks:
		next, ok = v.nextInWeeks(day), true
	case Months:
		next, ok = v.nextInMonths(day)
	}
	return next, ok && next <= lastDay
}

// up returns the least multiple of the step that is not below n, which is not negative.
func (v *Interval) up(n int) int { return (n + v.step - 1) / v.step * v.step }

// daysToMonday is how many days of its week were before 1970-01-01, a Thursday.
const daysToMonday = 3

func (v *Interval) nextInWeeks(day int) int {
	first := (v.from + daysToMonday) / 7
	week, weekday := (day+daysToMonday)/7, (day+daysToMonday)%7
	if (week-first)%v.step == 0 {
		if left := v.weekdays >> weekday; left != 0 {
			return day + bits.TrailingZeros8(left)
		}
		week++
	}
	week = first + v.up(week-first)
	return week*7 - daysToMonday + bits.TrailingZeros8(v.weekdays)
}

func (v *Interval) nextInMonths(day int) (int, bool) {
	year, month, _ := civil(v.from)
	first := year*12 + month - 1
	year, month, dom := civil(day)
	n := year*12 + month - 1
	if (n-first)%v.step == 0 {
		if left := v.dates.days(year, month) &^ (1<<dom - 1); left != 0 {
			return day - dom + bits.TrailingZeros32(left), true
		}
		n++
	}
	for n = first + v.up(n-first); n < (maxYear+1)*12; n += v.step {
		year, month = n/12, n%12+1
		if dates := v.dates.days(year, month); dates != 0 {
			return daysSinceEpoch(year, month, bits.TrailingZeros32(dates)), true
		}
	}
	return 0, false
}
