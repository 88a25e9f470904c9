package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/cron"
)

// Every is an interval of the calendar: every so many days, weeks, months or years, on
// given days of them, at given times of day in the schedule's zone.
type Every struct {
	// Exactly one of these is set, to 1 up to 366. Weeks begin on Monday.
	Days   int `json:"days,omitempty"`
	Weeks  int `json:"weeks,omitempty"`
	Months int `json:"months,omitempty"`
	Years  int `json:"years,omitempty"`
	// On is the days of each such week, "mon" to "sun", or month: "1" to "31", "last
	// day", "2nd tue", "last fri". A month without such a day is left out. Years fire in
	// the month of From. Defaults to the weekday or the day of the month of From.
	On OneOrMore `json:"on,omitempty"`
	// At is the times of day, "09:00" or "09:00:30", at most 24.
	At OneOrMore `json:"at,omitempty"`
	// From is the first date that can match, such as "2026-01-06". Days, weeks and months
	// are counted from it, so that nothing else moves them.
	From string `json:"from,omitempty"`
}

// OneOrMore is a list of texts. In JSON it may also be one text, and numbers stand for
// their text.
type OneOrMore []string

// UnmarshalJSON reads a text, a number, or a list of them.
func (l *OneOrMore) UnmarshalJSON(data []byte) error {
	var items []json.RawMessage // never over data, which is the caller's
	switch {
	case bytes.Equal(data, []byte("null")):
		return nil
	case !bytes.HasPrefix(data, []byte("[")):
		items = append(items, data)
	default:
		if err := json.Unmarshal(data, &items); err != nil {
			return err
		}
	}
	list := make(OneOrMore, len(items))
	for i, item := range items {
		var number json.Number
		switch {
		case bytes.HasPrefix(item, []byte(`"`)):
			if err := json.Unmarshal(item, &list[i]); err != nil {
				return err
			}
		case json.Unmarshal(item, &number) == nil && number != "":
			list[i] = number.String()
		default:
			return Invalid("", "must be text, or a list of texts in quotes")
		}
	}
	*l = list
	return nil
}

// step returns the one unit that is set, and how many of it.
func (e *Every) step() (name string, n, set int) {
	for _, u := range []struct {
		name string
		n    int
	}{{"days", e.Days}, {"weeks", e.Weeks}, {"months", e.Months}, {"years", e.Years}} {
		if u.n != 0 {
			name, n = u.name, u.n
			set++
		}
	}
	return name, n, set
}

// compile returns e ready to compute fires. The error is an *InvalidError.
func (e *Every) compile() (*cron.Interval, error) {
	const field = "schedule.every"
	name, n, set := e.step()
	switch {
	case set != 1:
		return nil, Invalid(field, "must have exactly one of days, weeks, months and years, such as \"weeks: 2\"")
	case n < 1 || n > cron.MaxStep:
		return nil, Invalid(field+"."+name, "%d must be between 1 and %d", n, cron.MaxStep)
	case e.From == "":
		return nil, Invalid(field+".from", "is missing; give the date from which %s are counted, such as 2026-01-06", name)
	case len(e.At) == 0:
		return nil, Invalid(field+".at", "is missing; give the times of day, such as [\"09:00\"]")
	}
	text := cron.IntervalText{Step: n, From: e.From, On: e.On, At: e.At}
	switch name {
	case "days":
		text.Unit = cron.Days
	case "weeks":
		text.Unit = cron.Weeks
	case "months":
		text.Unit = cron.Months
	case "years":
		text.Unit, text.Step = cron.Months, 12*n
	}
	v, err := cron.ParseInterval(text)
	if bad, ok := errors.AsType[*cron.ParseError](err); ok {
		return nil, Invalid(field+"."+bad.Field, "%q %s", clip.Text(bad.Text, maxQuoted), bad.Reason)
	}
	return v, err
}

// String tells the interval in a few words: "every 2 weeks on mon, thu at 09:30".
func (e *Every) String() string {
	name, n, _ := e.step()
	var b strings.Builder
	if n == 1 {
		fmt.Fprintf(&b, "every %s", strings.TrimSuffix(name, "s"))
	} else {
		fmt.Fprintf(&b, "every %d %s", n, name)
	}
	if len(e.On) > 0 {
		fmt.Fprintf(&b, " on %s", strings.Join(e.On, ", "))
	}
	fmt.Fprintf(&b, " at %s from %s", strings.Join(e.At, ", "), e.From)
	return b.String()
}
