package ical

import (
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// moment is a day, or an instant as the clock on the wall shows it.
type moment struct {
	wall  time.Time // in UTC, whatever the zone
	whole bool      // a day
}

// event is what is read of a VEVENT.
type event struct {
	number    int // of its first line
	uid       string
	title     string
	start     moment
	end       time.Time
	rule      *rule
	extra     []time.Time        // RDATE
	off       map[time.Time]bool // days on which it does not begin: EXDATE, and what is told anew
	anew      time.Time          // RECURRENCE-ID: the day of a recurring event that this one replaces
	cancelled bool
}

// parseMoment reads the value of a property that has a date or an instant.
func parseMoment(l *line, zone *time.Location) (moment, error) {
	if t, err := time.Parse("20060102", l.value); err == nil {
		return moment{wall: t, whole: true}, nil
	}
	if t, err := time.Parse("20060102T150405", l.value); err == nil && l.params["VALUE"] != "DATE" {
		return moment{wall: t}, nil
	}
	if t, err := time.Parse("20060102T150405Z", l.value); err == nil && l.params["VALUE"] != "DATE" {
		t = t.In(zone)
		return moment{wall: time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)}, nil
	}
	return moment{}, wrong(l.number, "has %s %q, which is no date like 20261224 and no time like 20261224T170000", l.name, clip.Runes(l.value, maxQuoted))
}

// parseEvent reads the lines of a VEVENT.
func parseEvent(lines []line, number int, zone *time.Location) (*event, error) {
	e := &event{number: number, off: map[time.Time]bool{}}
	var startLine, endLine *line
	var lasts time.Duration
	for i := range lines {
		l := &lines[i]
		var err error
		switch l.name {
		case "UID":
			e.uid = l.value
		case "SUMMARY":
			e.title = l.text()
		case "STATUS":
			e.cancelled = strings.EqualFold(l.value, "CANCELLED")
		case "DTSTART":
			startLine = l
			e.start, err = parseMoment(l, zone)
		case "DTEND":
			var at moment
			endLine = l
			at, err = parseMoment(l, zone)
			e.end = at.wall
		case "DURATION":
			endLine = l
			lasts, err = parseDuration(l)
		case "RRULE":
			if e.rule != nil {
				return nil, wrong(l.number, "is a second rule of one event")
			}
			e.rule, err = parseRule(l, zone)
		case "EXDATE", "RDATE":
			err = e.addDays(l, zone)
		case "RECURRENCE-ID":
			var at moment
			if at, err = parseMoment(l, zone); l.params["RANGE"] != "" {
				err = wrong(l.number, "moves this and all later days of an event, which is not understood")
			}
			e.anew = at.wall.Truncate(day)
		case "EXRULE":
			err = wrong(l.number, "has EXRULE, which is not understood; write EXDATE instead")
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case startLine == nil:
		return nil, wrong(number, "begins an event that has no DTSTART")
	case e.start.wall.Year() < 1900 || e.start.wall.Year() > 2200:
		return nil, wrong(startLine.number, "has an event of the year %d; those from 1900 to 2200 are read", e.start.wall.Year())
	case endLine == nil && e.start.whole:
		e.end = e.start.wall.Add(day)
	case endLine == nil:
		e.end = e.start.wall
	case endLine.name == "DURATION":
		e.end = e.start.wall.Add(lasts)
	}
	if e.end.Equal(e.start.wall) && e.start.whole {
		e.end = e.end.Add(day) // as some write a single day
	}
	if e.end.Hour() == 23 && e.end.Minute() == 59 {
		e.end = e.end.Truncate(day).Add(day) // as others write the end of one
	}
	switch {
	case e.end.Before(e.start.wall):
		return nil, wrong(endLine.number, "has an event that ends before it begins")
	case e.end.Sub(e.start.wall) > 366*day:
		return nil, wrong(endLine.number, "has an event that lasts longer than a year")
	}
	return e, nil
}

// addDays takes in the days of an EXDATE or RDATE.
func (e *event) addDays(l *line, zone *time.Location) error {
	for value := range strings.SplitSeq(l.value, ",") {
		one := *l
		one.value = value
		at, err := parseMoment(&one, zone)
		if err != nil {
			return err
		}
		if l.name == "RDATE" {
			e.extra = append(e.extra, at.wall)
		} else {
			e.off[at.wall.Truncate(day)] = true
		}
	}
	return nil
}

// parseDuration reads a value like P2D, P1W or PT12H.
func parseDuration(l *line) (time.Duration, error) {
	units := map[byte]time.Duration{'W': 7 * day, 'D': day, 'H': time.Hour, 'M': time.Minute, 'S': time.Second}
	var sum time.Duration
	digits := ""
	rest, ok := strings.CutPrefix(strings.TrimPrefix(l.value, "+"), "P")
	for i := range len(rest) {
		switch c := rest[i]; {
		case c >= '0' && c <= '9' && len(digits) < 6:
			digits += string(c)
		case c == 'T' && digits == "":
		default:
			n, err := strconv.Atoi(digits)
			ok = ok && err == nil && units[c] > 0
			sum += time.Duration(n) * units[c]
			digits = ""
		}
	}
	if !ok || rest == "" || digits != "" {
		return 0, wrong(l.number, "has DURATION %q, which is not like P2D", clip.Runes(l.value, maxQuoted))
	}
	return sum, nil
}

// wholeDays reports whether the event begins and ends at midnight.
func (e *event) wholeDays() bool {
	return e.start.wall.Equal(e.start.wall.Truncate(day)) && e.end.Equal(e.end.Truncate(day)) && e.end.After(e.start.wall)
}

// length is how many days it lasts, each time.
func (e *event) length() int { return int(e.end.Sub(e.start.wall) / day) }

// forEver reports whether the event recurs without end on the same terms, and has begun by an instant.
func (e *event) forEver(by time.Time) bool {
	r := e.rule
	return r != nil && r.Interval <= 1 && r.count == 0 && r.until.IsZero() && len(e.off) == 0 && len(e.extra) == 0 && !e.start.wall.After(by)
}

// yearly returns the dates of an event that is on the same ones in every year, such as 12-25.
func (e *event) yearly(by time.Time) (dates []string, ok bool) {
	r := e.rule
	if !e.forEver(by) || r.Freq != rrule.YEARLY || r.Byweekday != nil {
		return nil, false
	}
	at := e.start.wall
	same := func(list []int, as int) bool { return list == nil || len(list) == 1 && list[0] == as }
	if !same(r.Bymonth, int(at.Month())) || !same(r.Bymonthday, at.Day()) || r.Bymonthday != nil && r.Bymonth == nil {
		return nil, false
	}
	for i := range e.length() {
		on := at.Add(time.Duration(i) * day)
		// One that leads over the end of February has other dates in a leap year.
		if e.length() > 1 && (on.Month() == time.February && on.Day() > 27 || on.Month() == time.March && on.Day() == 1 && i > 0) {
			return nil, false
		}
		dates = append(dates, on.Format("01-02"))
	}
	return dates, true
}

// weekly returns the days of the week of an event that is on them in every week, such as sat,sun.
func (e *event) weekly(by time.Time) (days string, ok bool) {
	r := e.rule
	if !e.forEver(by) || r.Freq != rrule.WEEKLY || r.Bymonth != nil || e.length() != 1 {
		return "", false
	}
	list := []time.Weekday{e.start.wall.Weekday()}
	if r.Byweekday != nil {
		list = nil
	}
	for _, d := range r.Byweekday {
		list = append(list, time.Weekday((d.Day()+1)%7)) // of the library's, Monday is the first
	}
	names := make([]string, len(list))
	for i, d := range list {
		names[i] = strings.ToLower(d.String()[:3])
	}
	return strings.Join(names, ","), true
}
