package job

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// Bounds of a calendar.
const (
	MaxCalendarDates   = 2000
	MaxCalendarWindows = 100
)

// Calendar is a named set of dates and windows of the week, which schedules refer
// to in Only and Except.
type Calendar struct {
	Calendar    string `json:"calendar"` // its name, a slug
	Description string `json:"description,omitempty"`
	// Zone is the IANA time zone in which dates and windows are meant. Defaults to UTC.
	Zone string `json:"zone,omitempty"`
	// Dates are whole days: "2026-12-25", or "12-25" for that day of every year.
	Dates []string `json:"dates,omitempty"`
	// Windows are spans of time that return every week.
	Windows []Window `json:"windows,omitempty"`
}

// Window is a span of the day on some days of the week. One whose To is not after
// its From goes on until To of the next day.
type Window struct {
	// Days is a list such as "mon-fri" or "sat,sun". Empty is every day.
	Days string `json:"days,omitempty"`
	From string `json:"from"` // "09:00", inclusive
	To   string `json:"to"`   // "17:30", exclusive; "24:00" is the end of the day
}

// CalendarVersion is a calendar as it was saved; see [Version].
type CalendarVersion struct {
	Calendar
	Version       int       `json:"version"`
	EffectiveFrom time.Time `json:"effective_from"`
	Author        string    `json:"author,omitempty"`
	Deleted       bool      `json:"deleted,omitempty"`
}

// DecodeCalendar reads one calendar document from JSON and checks it.
func DecodeCalendar(data []byte) (Calendar, error) {
	var c Calendar
	if len(data) > MaxDocument {
		return c, Invalid("", "the document has %d bytes; a calendar may have at most %d", len(data), MaxDocument)
	}
	if err := decodeStrict(data, &c); err != nil {
		return c, locate(data, &c, err)
	}
	if c.Zone == "" {
		c.Zone = "UTC"
	}
	return c, c.Validate()
}

// Validate reports everything that is wrong with c, each problem as an
// *InvalidError, joined.
func (c Calendar) Validate() error {
	_, err := c.Compile()
	return err
}

// DateSet is a calendar made ready to be asked. It is immutable.
type DateSet struct {
	loc     *time.Location
	dates   map[date]bool
	yearly  map[date]bool // year 0
	windows []span
}

type date struct {
	year  int
	month time.Month
	day   int
}

type span struct {
	days     [7]bool // by time.Weekday, the day on which it begins
	from, to int     // seconds of the day
}

// Compile returns c ready to be asked. Its errors are *InvalidErrors, joined.
func (c Calendar) Compile() (*DateSet, error) {
	var errs []error
	if err := CheckSlug("calendar", c.Calendar); err != nil {
		errs = append(errs, err)
	}
	set := &DateSet{loc: time.UTC, dates: map[date]bool{}, yearly: map[date]bool{}}
	if c.Zone != "" {
		loc, err := time.LoadLocation(c.Zone)
		if err != nil || c.Zone == "Local" {
			errs = append(errs, Invalid("zone", "%q is not a time zone; use an IANA name such as Europe/Berlin", clip.Text(c.Zone, maxQuoted)))
		} else {
			set.loc = loc
		}
	}
	if len(c.Dates) > MaxCalendarDates {
		errs = append(errs, Invalid("dates", "has %d entries; at most %d are kept", len(c.Dates), MaxCalendarDates))
	}
	if len(c.Windows) > MaxCalendarWindows {
		errs = append(errs, Invalid("windows", "has %d entries; at most %d are kept", len(c.Windows), MaxCalendarWindows))
	}
	for i, text := range c.Dates {
		if err := set.addDate(text); err != nil {
			errs = append(errs, Invalid(fmt.Sprintf("dates[%d]", i), "%s", err))
		}
	}
	for i, w := range c.Windows {
		s, err := w.parse()
		if err != nil {
			errs = append(errs, Invalid(fmt.Sprintf("windows[%d]", i), "%s", err))
		}
		set.windows = append(set.windows, s)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return set, nil
}

func (s *DateSet) addDate(text string) error {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		s.dates[date{t.Year(), t.Month(), t.Day()}] = true
		return nil
	}
	// 2024 has a 29 February, so that "02-29" is understood.
	if t, err := time.Parse(time.DateOnly, "2024-"+text); err == nil {
		s.yearly[date{0, t.Month(), t.Day()}] = true
		return nil
	}
	return fmt.Errorf("%q must be a date that exists, as 2026-12-25 or, for every year, 12-25", clip.Text(text, maxQuoted))
}

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

func (w Window) parse() (span, error) {
	var s span
	var err error
	if s.from, err = clock(w.From); err != nil {
		return s, fmt.Errorf("has from %w", err)
	}
	if s.to, err = clock(w.To); err != nil {
		return s, fmt.Errorf("has to %w", err)
	}
	if w.Days == "" {
		w.Days = "sun-sat"
	}
	for part := range strings.SplitSeq(strings.ToLower(w.Days), ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		a, b := weekday(first), weekday(last)
		if !isRange {
			b = a
		}
		if a < 0 || b < 0 {
			return s, fmt.Errorf("has days %q, which must be like \"mon-fri\" or \"sat,sun\"", clip.Text(w.Days, maxQuoted))
		}
		for d := a; ; d = (d + 1) % 7 {
			s.days[d] = true
			if d == b {
				break
			}
		}
	}
	return s, nil
}

func weekday(s string) int {
	for i, name := range weekdays {
		if s == name {
			return i
		}
	}
	return -1
}

func clock(s string) (int, error) {
	if s == "24:00" {
		return 86400, nil
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Hour()*3600 + t.Minute()*60 + t.Second(), nil
		}
	}
	return 0, fmt.Errorf("%q, which must be a time of day such as 09:00", clip.Text(s, maxQuoted))
}

// Contains reports whether the instant, in Unix milliseconds, lies on one of the
// dates or within one of the windows.
func (s *DateSet) Contains(at int64) bool {
	t := time.UnixMilli(at).In(s.loc)
	y, m, d := t.Date()
	if s.dates[date{y, m, d}] || s.yearly[date{0, m, d}] {
		return true
	}
	sec := t.Hour()*3600 + t.Minute()*60 + t.Second()
	today := t.Weekday()
	yesterday := (today + 6) % 7
	for _, w := range s.windows {
		if w.from < w.to {
			if w.days[today] && sec >= w.from && sec < w.to {
				return true
			}
			continue
		}
		if w.days[today] && sec >= w.from || w.days[yesterday] && sec < w.to {
			return true
		}
	}
	return false
}

// Rule returns which of the dates and windows of c contains an instant, as "12-25" or "mon-fri 09:00-17:00"; "" if none
// does, or c is not valid.
func (c Calendar) Rule(at time.Time) string {
	set, err := c.Compile()
	if err != nil {
		return ""
	}
	local := at.In(set.loc)
	for _, layout := range []string{time.DateOnly, "01-02"} {
		if date := local.Format(layout); slices.Contains(c.Dates, date) {
			return date
		}
	}
	for i, w := range c.Windows {
		one := DateSet{loc: set.loc, windows: set.windows[i : i+1]}
		if one.Contains(at.UnixMilli()) {
			return strings.TrimSpace(w.Days + " " + w.From + "-" + w.To)
		}
	}
	return ""
}
