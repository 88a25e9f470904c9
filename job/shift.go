package job

import "slices"

// Shift is the direction in which a fire moves from a day that its schedule's calendars exclude. With
// the empty value, such a fire is skipped.
type Shift string

// The directions in which fires are moved.
const (
	ShiftNext     Shift = "next"     // to the next day that the calendars allow
	ShiftPrevious Shift = "previous" // to the last day before that they allow
)

// Shifts lists both.
var Shifts = []Shift{ShiftNext, ShiftPrevious}

// Bounds of what is moved. For each of its own days such a schedule lists up to 31 more. With few
// times of day that costs little.
const (
	// MaxShift is how many days a fire is moved at most. One that finds no day is skipped.
	MaxShift = 31
	// MaxShiftTimes is how many times of day such a schedule has at most.
	MaxShiftTimes = 24
)

func (s Schedule) validateShift() []error {
	switch {
	case s.Shift == "":
		return nil
	case !slices.Contains(Shifts, s.Shift):
		return []error{Invalid("schedule.shift", "%q must be next or previous", string(s.Shift))}
	case !s.Kind().OnWall():
		return []error{Invalid("schedule.shift", "belongs to cron and every only")}
	case len(s.Only)+len(s.Except) == 0:
		return []error{Invalid("schedule.shift", "needs calendars in schedule.only or schedule.except, which say what days to move fires from")}
	}
	return nil
}

// Landing is what calendars make of an instant of a schedule that moves fires. Such a schedule
// lists each instant at which it could fire, whatever its calendars say: on its own days, and on
// those to which a fire could be moved.
type Landing int

// What an instant can be.
const (
	LandsHere Landing = iota // the schedule fires then by itself
	LandsFrom                // a fire of another day is moved to it
	LandsElse                // it would fire then, but the calendars exclude that
	LandsNone                // it has no fire then
)

const secondsOfDay = 24 * 60 * 60

// Nominal reports whether the schedule fires at one of its instants by itself, whatever its
// calendars say. Without a shift it has no others.
func (p *Plan) Nominal(at int64) bool {
	if p.Shift == "" {
		return true
	}
	day, _ := p.table.wall(at)
	return p.table.pattern.HasDay(day)
}

// Lands returns what becomes of an instant of the plan, in Unix milliseconds, and from which
// instant the fire there was moved. allows says whether the calendars, as they are at that
// instant, allow a fire at another one. Two fires that are moved to one instant, or to that of a
// third, are one fire.
func (p *Plan) Lands(at int64, allows func(at int64) bool) (l Landing, from int64) {
	here := allows(at)
	if p.Shift == "" {
		if here {
			return LandsHere, at
		}
		return LandsElse, at
	}
	day, second := p.table.wall(at)
	switch nominal := p.table.pattern.HasDay(day); {
	case !here && nominal:
		return LandsElse, at
	case !here:
		return LandsNone, at
	case nominal:
		return LandsHere, at
	}
	for n := int64(1); n <= MaxShift; n++ {
		other := day - n*p.step()
		from := p.instant(other, second)
		switch {
		case allows(from): // a fire of that day, or beyond, is not moved past it
			return LandsNone, at
		case p.table.pattern.HasDay(other) && p.table.has(from):
			return LandsFrom, from
		}
	}
	return LandsNone, at
}

// Moves reports whether a fire that the calendars exclude moves to another day. allows says whether
// they, as they are at that fire, allow one at another instant.
func (p *Plan) Moves(at int64, allows func(at int64) bool) bool {
	if p.Shift == "" {
		return false
	}
	day, second := p.table.wall(at)
	for n := int64(1); n <= MaxShift; n++ {
		switch to := p.instant(day+n*p.step(), second); {
		case !p.table.has(to):
			return false
		case allows(to):
			return true
		}
	}
	return false
}

// step is the direction in which fires are moved, in days.
func (p *Plan) step() int64 {
	if p.Shift == ShiftPrevious {
		return -1
	}
	return 1
}

// instant returns when the clock on the wall shows a second of a day, in Unix milliseconds.
func (p *Plan) instant(day, second int64) int64 {
	return p.table.zone.Unix(day*secondsOfDay+second) * 1000
}

// has reports whether an instant is within the period in which the schedule fires.
func (t *Timetable) has(at int64) bool { return t.from <= at && at <= t.until }

// timesOfDay returns how often a schedule fires a day at times on the wall, and 0 for other schedules.
func (t *Timetable) timesOfDay() int {
	if !t.kind.OnWall() {
		return 0
	}
	return t.pattern.TimesOfDay()
}

// wall returns the day, counted from 1970, and the second of it that the expression of a schedule
// names for an instant in Unix milliseconds.
func (t *Timetable) wall(at int64) (day, second int64) {
	_, wall := t.pattern.Moved(floorDiv(at, 1000), t.zone, t.policy)
	day = floorDiv(wall, secondsOfDay)
	return day, wall - day*secondsOfDay
}
