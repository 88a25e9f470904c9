package cron

import "strings"

// Part is a part of a pattern that can keep a minute from having a fire.
type Part uint8

// The parts, in the order in which they are asked.
const (
	NoPart      Part = iota // the pattern names a time within the minute
	Years                   // the field of the year
	MonthField              // the field of the month
	DayOfMonth              // the field of the day of the month, or the days of an interval of months
	DayOfWeek               // the field of the day of the week, or the days of an interval of weeks
	BothDays                // neither of the two, where one is enough
	HourField               // the field of the hour
	MinuteField             // the field of the minute
	Begin                   // an interval begins later
	Step                    // the day, week or month is between two steps of an interval
	TimeOfDay               // the times of day of an interval
)

// Excludes returns the part of e that has nothing in the minute of a clock on the wall which begins so many
// seconds after the beginning of 1970 there, or NoPart. Days around those that match do not count.
func (e *Expr) Excludes(wall int64) Part {
	if wall < 0 || wall > maxLocal {
		return Years
	}
	if part := e.excludesDay(int(wall / daySeconds)); part != NoPart {
		return part
	}
	second := wall % daySeconds
	switch {
	case e.hour>>(second/3600)&1 == 0:
		return HourField
	case e.minute>>(second/60%60)&1 == 0:
		return MinuteField
	}
	return NoPart
}

func (e *Expr) excludesDay(day int) Part {
	year, month, dom := civil(day)
	switch {
	case !e.hasYear(year):
		return Years
	case e.month>>month&1 == 0:
		return MonthField
	case e.days(year, month)>>dom&1 != 0:
		return NoPart
	}
	switch e.flags & (domRestricts | dowRestricts | eitherDay) {
	case domRestricts | dowRestricts | eitherDay:
		return BothDays
	case domRestricts:
		return DayOfMonth
	case domRestricts | dowRestricts:
		if e.daysOfMonth(monthLength(year, month), weekdayOfFirst(year, month))>>dom&1 == 0 {
			return DayOfMonth
		}
	}
	return DayOfWeek
}

// Excludes returns the part of v that has nothing in a minute; see [Expr.Excludes].
func (v *Interval) Excludes(wall int64) Part {
	day := int(max(wall, 0) / daySeconds)
	switch {
	case wall < 0 || day < v.from:
		return Begin
	case !v.HasDay(int64(day)):
		return v.excludesDay(day)
	}
	second := wall % daySeconds
	for _, t := range v.times {
		if t := int64(t); second <= t && t < second+60 {
			return NoPart
		}
	}
	return TimeOfDay
}

func (v *Interval) excludesDay(day int) Part {
	switch v.unit {
	case Weeks:
		if v.weekdays>>((day+daysToMonday)%7)&1 == 0 {
			return DayOfWeek
		}
	case Months:
		year, month, _ := civil(v.from)
		first := year*12 + month
		if year, month, _ = civil(day); (year*12+month-first)%v.step == 0 {
			return DayOfMonth
		}
	case Days:
	}
	return Step
}

// Field returns what an expression that [Parse] reads has in the field of a part, as typed or as its macro
// has it; "" for parts that are no single field.
func Field(text string, p Part) string {
	text = strings.Trim(text, blanks)
	if fields, ok := macros[text]; ok {
		text = fields
	}
	f := split(text)
	if len(f) == 5 {
		f = append([]string{"0"}, f...)
	}
	i := map[Part]int{MinuteField: 1, HourField: 2, DayOfMonth: 3, MonthField: 4, DayOfWeek: 5, Years: 6}[p]
	if i == 0 || i >= len(f) {
		return ""
	}
	return f[i]
}

// Wall returns what the clock of z shows at an instant, both in seconds: since 1970-01-01T00:00Z, and since the
// beginning of 1970 on the wall.
func (z *Zone) Wall(at int64) int64 { return at + z.periods[z.at(at)].offset }

// LastChange returns when clocks were moved last up to an instant, in Unix seconds; false when they never were.
func (z *Zone) LastChange(upto int64) (Change, bool) {
	i := z.at(upto)
	if i == 0 {
		return Change{}, false
	}
	return Change{At: z.periods[i].start, Before: z.periods[i-1].offset, After: z.periods[i].offset}, true
}
