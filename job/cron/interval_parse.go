package cron

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// Bounds of an interval.
const (
	// MaxStep is how many days, weeks, months or years a step of an interval has at most.
	MaxStep = 366
	// MaxTimes is at how many times of day an interval fires at most.
	MaxTimes = 24
	maxOn    = 40 // 31 days and the last, and some weekdays of the month
)

// IntervalText is an interval as people write it.
type IntervalText struct {
	Unit Unit
	Step int // 1 to MaxStep; of months, up to 12 times that
	// From is the date on which it begins, such as "2026-01-06": no day before it
	// matches, and steps are counted from its day, its week or its month.
	From string
	// On is the days of each step. Of weeks: "mon" to "sun"; the default is the weekday
	// of From. Of months: "1" to "31", "last day", "1st mon" to "5th sun", "last mon"
	// and so on; the default is From's day of the month. A month without such a day is
	// left out. Steps of days have none.
	On []string
	// At is the times of day, "09:00" or "09:00:30". At least one is needed.
	At []string
}

var weekdayNames = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

var ordinals = []string{"1st", "2nd", "3rd", "4th", "5th", "last"}

// ParseInterval reads an interval. One that is well formed but never fires, such as
// every twelve months on day 30 from a February on, is no error. The error is a
// *[ParseError] whose Field is "from", "on" or "at".
func ParseInterval(t IntervalText) (*Interval, error) {
	v := &Interval{unit: t.Unit, step: t.Step}
	from, err := parseDate(t.From)
	if err != nil {
		return nil, err
	}
	v.from = daysSinceEpoch(from.Year(), int(from.Month()), from.Day())
	if err := v.parseOn(t.On, from); err != nil {
		return nil, err
	}
	if v.times, err = parseTimes(t.At); err != nil {
		return nil, err
	}
	return v, nil
}

func parseDate(text string) (time.Time, error) {
	date, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return date, &ParseError{"from", clip.Text(text, maxQuoted), "must be a date that exists, such as 2026-01-06"}
	}
	if date.Year() < minYear || date.Year() > maxYear {
		return date, &ParseError{"from", text, fmt.Sprintf("must be between the years %d and %d", minYear, maxYear)}
	}
	return date, nil
}

func (v *Interval) parseOn(on []string, from time.Time) error {
	switch {
	case v.unit == Days && len(on) > 0:
		return &ParseError{"on", clip.Text(on[0], maxQuoted), "belongs to weeks, months and years only; leave it out"}
	case len(on) > maxOn:
		return &ParseError{"on", clip.Text(on[0], maxQuoted), fmt.Sprintf("and the others are %d days; at most %d are kept", len(on), maxOn)}
	case v.unit == Weeks && len(on) == 0:
		v.weekdays = 1 << ((int(from.Weekday()) + 6) % 7)
	case v.unit == Months && len(on) == 0:
		v.dates.dom = 1 << from.Day()
	}
	v.dates.flags = domRestricts | dowRestricts | eitherDay
	for _, text := range on {
		add := v.addDate
		if v.unit == Weeks {
			add = v.addWeekday
		}
		if problem := add(text); problem != "" {
			return &ParseError{"on", clip.Text(text, maxQuoted), problem}
		}
	}
	return nil
}

const givenTwice = "is given twice"

func (v *Interval) addWeekday(text string) (problem string) {
	i := slices.Index(weekdayNames, strings.ToLower(text))
	switch {
	case i < 0:
		return "must be a weekday, of " + strings.Join(weekdayNames, ", ") + ", one an entry"
	case v.weekdays>>i&1 != 0:
		return givenTwice
	}
	v.weekdays |= 1 << i
	return ""
}

func (v *Interval) addDate(text string) (problem string) {
	d := &v.dates
	dom, nth, last := d.dom, d.nth, d.domLast
	which, name, _ := strings.Cut(strings.ToLower(text), " ")
	n, i := slices.Index(ordinals, which), slices.Index(weekdayNames, name)
	switch number, err := strconv.Atoi(text); {
	case err == nil && number >= 1 && number <= 31 && strconv.Itoa(number) == text:
		d.dom |= 1 << number
	case which == "last" && name == "day":
		d.domLast |= 1
	case n >= 0 && i >= 0:
		d.nth |= 1 << (n*7 + (i+1)%7)
	default:
		return `must be a day of the month from 1 to 31, "last day", or a weekday of the month such as "2nd tue" or "last fri" (1st to 5th or last; ` + strings.Join(weekdayNames, ", ") + ")"
	}
	if d.dom == dom && d.nth == nth && d.domLast == last {
		return givenTwice
	}
	return ""
}

func parseTimes(at []string) ([]int32, error) {
	if len(at) == 0 {
		return nil, &ParseError{"at", "", "must be the times of day, such as 09:00"}
	}
	if len(at) > MaxTimes {
		return nil, &ParseError{"at", clip.Text(at[0], maxQuoted), fmt.Sprintf("and the others are %d times of day; at most %d are kept", len(at), MaxTimes)}
	}
	times := make([]int32, 0, len(at))
	for _, text := range at {
		layout := "15:04"
		if len(text) > len(layout) {
			layout = time.TimeOnly
		}
		clock, err := time.Parse(layout, text)
		if err != nil || len(text) != len(layout) {
			return nil, &ParseError{"at", clip.Text(text, maxQuoted), "must be a time of day from 00:00 to 23:59, such as 09:00, or with seconds 09:00:30"}
		}
		second := int32(clock.Hour()*3600 + clock.Minute()*60 + clock.Second()) //nolint:gosec // below 86400
		if slices.Contains(times, second) {
			return nil, &ParseError{"at", text, givenTwice}
		}
		times = append(times, second)
	}
	slices.Sort(times)
	return times, nil
}
