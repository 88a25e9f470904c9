package ical

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// day is 24 hours: instants here are wall clocks written as UTC, which has no others.
const day = 24 * time.Hour

// rule says on which days an event recurs.
type rule struct {
	number   int    // of its line
	freq     string // DAILY, WEEKLY, MONTHLY, YEARLY
	interval int
	count    int       // 0: no end by count
	until    time.Time // the last instant at which one may begin; zero: no end by time
	weekFrom time.Weekday

	months []int     // 1 to 12
	dates  []int     // of the month; -1 is the last
	days   []weekday // of the week
}

// weekday is a day of the week; of its kind the nth in the month or year, -1 the last, 0 each.
type weekday struct {
	day time.Weekday
	nth int
}

var weekdays = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

// parseRule reads the value of an RRULE. Instants of UNTIL that are in UTC are taken to zone.
func parseRule(l *line, zone *time.Location) (*rule, error) {
	r := &rule{number: l.number, interval: 1, weekFrom: time.Monday}
	for part := range strings.SplitSeq(l.value, ";") {
		name, value, _ := strings.Cut(part, "=")
		ok := true
		switch strings.ToUpper(name) {
		case "FREQ":
			r.freq = strings.ToUpper(value)
			ok = slices.Contains([]string{"DAILY", "WEEKLY", "MONTHLY", "YEARLY"}, r.freq)
		case "INTERVAL":
			r.interval, ok = number(value, 1, 1000)
		case "COUNT":
			r.count, ok = number(value, 1, 1_000_000)
		case "UNTIL":
			at, err := parseMoment(&line{number: l.number, value: value}, zone)
			if err != nil {
				return nil, wrong(l.number, "has UNTIL=%s, which is no date", clip(value))
			}
			r.until = at.wall
		case "WKST":
			d := slices.Index(weekdays, strings.ToUpper(value))
			r.weekFrom, ok = time.Weekday(d), d >= 0
		case "BYMONTH":
			r.months, ok = numbers(value, 1, 12)
		case "BYMONTHDAY":
			r.dates, ok = numbers(value, -31, 31)
		case "BYDAY":
			r.days, ok = parseDays(value)
		default:
			return nil, wrong(l.number, "has a rule with %s, which is not understood; write the dates out instead", clip(part))
		}
		if !ok {
			return nil, wrong(l.number, "has a rule with %s, which is not understood", clip(part))
		}
	}
	return r, r.check()
}

func (r *rule) check() error {
	nth := slices.ContainsFunc(r.days, func(d weekday) bool { return d.nth != 0 })
	switch {
	case r.freq == "":
		return wrong(r.number, "has a rule without FREQ")
	case r.count > 0 && !r.until.IsZero():
		return wrong(r.number, "has a rule with both COUNT and UNTIL")
	case nth && r.freq != "MONTHLY" && r.freq != "YEARLY":
		return wrong(r.number, "has a rule that counts days of the week, which only one by month or year may")
	case r.dates != nil && r.freq == "WEEKLY":
		return wrong(r.number, "has a weekly rule with BYMONTHDAY, which has no meaning")
	}
	return nil
}

func number(s string, least, most int) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= least && n <= most
}

// numbers reads a list of numbers, none of which may be 0.
func numbers(s string, least, most int) (list []int, ok bool) {
	for part := range strings.SplitSeq(s, ",") {
		n, ok := number(part, least, most)
		if !ok || n == 0 {
			return nil, false
		}
		list = append(list, n)
	}
	return list, true
}

func parseDays(s string) (list []weekday, ok bool) {
	for part := range strings.SplitSeq(strings.ToUpper(s), ",") {
		if len(part) < 2 {
			return nil, false
		}
		count, name := part[:len(part)-2], part[len(part)-2:]
		d := weekday{day: time.Weekday(slices.Index(weekdays, name))}
		if count != "" {
			if d.nth, ok = number(count, -53, 53); !ok || d.nth == 0 {
				return nil, false
			}
		}
		if d.day < 0 {
			return nil, false
		}
		list = append(list, d)
	}
	return list, true
}

// starts returns when the event begins, the first time at start and up to the given instant at
// the most. ended is false if it goes on after that. Each day that is looked at takes one from budget.
func (r *rule) starts(start, to time.Time, budget *int) (all []time.Time, ended bool) {
	for at := start; ; at = at.Add(day) {
		switch {
		case !r.until.IsZero() && at.After(r.until), r.count > 0 && len(all) == r.count:
			return all, true
		case at.After(to), *budget <= 0:
			return all, false
		}
		*budget--
		if at.Equal(start) || r.matches(start, at) {
			all = append(all, at)
		}
	}
}

// matches reports whether an event that began on start recurs on the day of at.
func (r *rule) matches(start, at time.Time) bool {
	var passed int // days, weeks, months, years
	switch r.freq {
	case "DAILY":
		passed = int(at.Sub(start) / day)
	case "WEEKLY":
		passed = int(r.weekOf(at).Sub(r.weekOf(start)) / (7 * day))
	case "MONTHLY":
		passed = 12*(at.Year()-start.Year()) + int(at.Month()-start.Month())
	default:
		passed = at.Year() - start.Year()
	}
	if passed%r.interval != 0 || r.months != nil && !slices.Contains(r.months, int(at.Month())) {
		return false
	}
	if r.dates != nil && !slices.Contains(r.dates, at.Day()) && !slices.Contains(r.dates, at.Day()-1-daysOf(at.Year(), at.Month())) {
		return false
	}
	if r.days != nil {
		return slices.ContainsFunc(r.days, func(d weekday) bool { return r.isDay(d, at) })
	}
	return r.dates != nil || r.freq == "DAILY" || r.freq == "WEEKLY" && at.Weekday() == start.Weekday() ||
		at.Day() == start.Day() && (r.freq == "MONTHLY" || r.freq == "YEARLY" && (r.months != nil || at.Month() == start.Month()))
}

// isDay reports whether at is such a day of the week, of the month or, of a rule by year
// that names no months, of the year.
func (r *rule) isDay(d weekday, at time.Time) bool {
	if at.Weekday() != d.day || d.nth == 0 {
		return at.Weekday() == d.day
	}
	place, of := at.Day(), daysOf(at.Year(), at.Month())
	if r.freq == "YEARLY" && r.months == nil {
		place, of = at.YearDay(), time.Date(at.Year(), time.December, 31, 0, 0, 0, 0, time.UTC).YearDay()
	}
	if d.nth > 0 {
		return (place-1)/7+1 == d.nth
	}
	return (of-place)/7+1 == -d.nth
}

// weekOf returns the day on which the week of an instant begins.
func (r *rule) weekOf(at time.Time) time.Time {
	midnight := at.Truncate(day)
	return midnight.Add(-time.Duration((at.Weekday()-r.weekFrom+7)%7) * day)
}

// daysOf returns how many days a month has.
func daysOf(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}
