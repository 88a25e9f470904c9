package ical

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// day is 24 hours: instants here are wall clocks written as UTC, which has no others.
const day = 24 * time.Hour

// rule says on which days an event recurs. The event begins on its first day in any case, which
// counts, so count and until are kept apart from what the library computes.
type rule struct {
	rrule.ROption
	number int       // of its line
	count  int       // 0: no end by count
	until  time.Time // the last instant at which one may begin; zero: no end by time
}

var (
	frequencies = map[string]rrule.Frequency{"DAILY": rrule.DAILY, "WEEKLY": rrule.WEEKLY, "MONTHLY": rrule.MONTHLY, "YEARLY": rrule.YEARLY}
	weekdays    = map[string]rrule.Weekday{
		"MO": rrule.MO, "TU": rrule.TU, "WE": rrule.WE, "TH": rrule.TH, "FR": rrule.FR, "SA": rrule.SA, "SU": rrule.SU,
	}
)

// parseRule reads the value of an RRULE. Instants of UNTIL that are in UTC are taken to zone.
func parseRule(l *line, zone *time.Location) (*rule, error) {
	r, hasFreq := &rule{number: l.number}, false
	for part := range strings.SplitSeq(l.value, ";") {
		name, value, _ := strings.Cut(part, "=")
		ok := true
		switch strings.ToUpper(name) {
		case "FREQ":
			r.Freq, ok = frequencies[strings.ToUpper(value)]
			hasFreq = true
		case "INTERVAL":
			r.Interval, ok = number(value, 1, 1000)
		case "COUNT":
			r.count, ok = number(value, 1, 1_000_000)
		case "UNTIL":
			at, err := parseMoment(&line{number: l.number, value: value}, zone)
			if err != nil {
				return nil, wrong(l.number, "has UNTIL=%s, which is no date", clip.Runes(value, maxQuoted))
			}
			r.until = at.wall
		case "WKST":
			r.Wkst, ok = weekdays[strings.ToUpper(value)]
		case "BYMONTH":
			r.Bymonth, ok = numbers(value, 1, 12)
		case "BYMONTHDAY":
			r.Bymonthday, ok = numbers(value, -31, 31)
		case "BYDAY":
			r.Byweekday, ok = parseDays(value)
		default:
			return nil, wrong(l.number, "has a rule with %s, which is not understood; write the dates out instead", clip.Runes(part, maxQuoted))
		}
		if !ok {
			return nil, wrong(l.number, "has a rule with %s, which is not understood", clip.Runes(part, maxQuoted))
		}
	}
	if !hasFreq {
		return nil, wrong(l.number, "has a rule without FREQ")
	}
	return r, r.check()
}

func (r *rule) check() error {
	counted := slices.ContainsFunc(r.Byweekday, isCounted)
	switch {
	case r.count > 0 && !r.until.IsZero():
		return wrong(r.number, "has a rule with both COUNT and UNTIL")
	case counted && r.Freq != rrule.MONTHLY && r.Freq != rrule.YEARLY:
		return wrong(r.number, "has a rule that counts days of the week, which only one by month or year may")
	case r.Bymonthday != nil && r.Freq == rrule.WEEKLY:
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

func parseDays(s string) (list []rrule.Weekday, ok bool) {
	for part := range strings.SplitSeq(strings.ToUpper(s), ",") {
		if len(part) < 2 {
			return nil, false
		}
		count, name := part[:len(part)-2], part[len(part)-2:]
		d, ok := weekdays[name]
		if !ok {
			return nil, false
		}
		if count != "" {
			n, ok := number(count, -53, 53)
			if !ok || n == 0 {
				return nil, false
			}
			d = d.Nth(n)
		}
		list = append(list, d)
	}
	return list, true
}

// isCounted reports whether it is the nth such day of a month or year, not each.
func isCounted(d rrule.Weekday) bool { return d.N() != 0 }

// starts returns when the event begins, the first time at start and up to the given instant at
// the most. ended is false if it goes on after that. Each day that is passed takes one from budget.
func (r *rule) starts(start, to time.Time, budget *int) (all []time.Time, ended bool) {
	next := r.after(start)
	for at := start; ; {
		switch {
		case !r.until.IsZero() && at.After(r.until), r.count > 0 && len(all) == r.count:
			return all, true
		case at.After(to), *budget <= 0:
			return all, false
		}
		all = append(all, at)
		later, ok := next()
		if ok && later.Equal(start) {
			later, ok = next()
		}
		if !ok { // as on the 30th of February: the library has looked at all days up to the year 9999
			*budget -= maxLooks / 10
			return all, true
		}
		*budget -= int(later.Sub(at) / day)
		at = later
	}
}

// after returns an iterator over the days of the rule from start on.
func (r *rule) after(start time.Time) rrule.Next {
	o := r.ROption
	o.Dtstart = start
	if slices.ContainsFunc(o.Byweekday, isCounted) {
		if o.Byweekday = r.counted(); len(o.Byweekday) == 0 {
			return func() (time.Time, bool) { return time.Time{}, false }
		}
	}
	days, err := rrule.NewRRule(o)
	if err != nil {
		panic("BUG: a rule that was checked is refused: " + err.Error())
	}
	return days.Iterator()
}

// counted returns the days of the week by number. Of "1MO,TU" the library would take the Tuesdays that
// are a first Monday, and it panics at the twentieth Monday of a month.
func (r *rule) counted() (list []rrule.Weekday) {
	most := 53
	if r.Freq == rrule.MONTHLY || r.Bymonth != nil {
		most = 5
	}
	for _, d := range r.Byweekday {
		for n := 1; n <= most; n++ {
			if !isCounted(d) || d.N() == n {
				list = append(list, d.Nth(n))
			}
			if d.N() == -n {
				list = append(list, d)
			}
		}
	}
	return list
}
