package ical

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// Bounds of a file.
const (
	MaxFile   = 4 << 20 // in bytes
	maxEvents = 5000
	MaxYears  = 20
	// maxLooks bounds the days that are looked at for rules: a second's work.
	maxLooks = 20_000_000
	// maxProblems is how many problems of a file are told at once.
	maxProblems = 10
	// maxQuoted is how many characters of a file a problem quotes.
	maxQuoted = 60
)

// Options say how a file is read.
type Options struct {
	// Zone is the IANA time zone in which dates are meant. Defaults to that of the file.
	Zone string
	// From is the first day that is taken; what is over before it is left out.
	From time.Time
	// Years is how many years after From events that recur for ever are written out. Defaults to 5.
	Years int
}

// Outcome is what became of an event.
type Outcome string

// The outcomes.
const (
	Imported Outcome = "imported"
	LeftOut  Outcome = "left_out"
)

// Reason says why an event was left out.
type Reason string

// The reasons.
const (
	PartOfDay Reason = "part_of_day"
	Cancelled Reason = "cancelled"
	Over      Reason = "over" // or every day of it was taken out
)

// Event is one event of the file, and what became of it.
type Event struct {
	Line    int
	Title   string
	Outcome Outcome
	Dates   []string     // whole days, as a [job.Calendar] has them
	Windows []job.Window // of one that is on days of every week
	Reason  Reason       // of one that was left out
	Note    string       // the same in words, or how long it was written out
}

// Calendar is what was read of a file.
type Calendar struct {
	Title   string // that the file gives itself; may be empty
	Zone    string // of Options, or else of the file; may be empty
	Dates   []string
	Windows []job.Window
	Events  []Event
	// Until is the day up to which events that recur for ever were written out; empty if none was.
	Until string
}

// Import reads a file. Its errors are *job.InvalidErrors, joined, whose fields name lines, or the cause of
// ctx, once that is done.
func Import(ctx context.Context, data []byte, o Options) (*Calendar, error) {
	if len(data) > MaxFile {
		return nil, &job.InvalidError{Field: "file", Reason: fmt.Sprintf("has %d bytes; at most %d are read", len(data), MaxFile)}
	}
	if o.Years < 0 || o.Years > MaxYears {
		return nil, &job.InvalidError{Field: "years", Reason: fmt.Sprintf("must be 1 to %d", MaxYears)}
	}
	lines, err := read(data)
	if err != nil {
		return nil, err
	}
	c := &Calendar{Zone: o.Zone, Dates: []string{}, Events: []Event{}}
	zone, err := c.findZone(lines)
	if err != nil {
		return nil, err
	}
	events, err := eventsOf(lines, zone)
	if err != nil {
		return nil, err
	}
	from := o.From.UTC().Truncate(day)
	w := writer{from: from, to: from.AddDate(cmp.Or(o.Years, 5), 0, 0), looks: maxLooks, dates: map[string]bool{}}
	for _, e := range events {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c.Events = append(c.Events, w.take(e))
	}
	if w.looks <= 0 {
		return nil, &job.InvalidError{Field: "file", Reason: "has too many events that recur"}
	}
	c.Dates, c.Windows, c.Until = w.sorted(), w.windows, w.until
	if len(c.Windows) > job.MaxCalendarWindows {
		return nil, &job.InvalidError{Field: "file", Reason: fmt.Sprintf("has %d rules for days of the week; a calendar keeps at most %d", len(c.Windows), job.MaxCalendarWindows)}
	}
	if len(c.Dates) > job.MaxCalendarDates {
		return nil, &job.InvalidError{Field: "file", Reason: fmt.Sprintf("has %d dates from %s on; a calendar keeps at most %d",
			len(c.Dates), from.Format(time.DateOnly), job.MaxCalendarDates)}
	}
	return c, nil
}

// findZone returns the zone in which instants of the file are read, and takes in what
// the file says of itself.
func (c *Calendar) findZone(lines []line) (*time.Location, error) {
	said := map[string]bool{}
	for i := range lines {
		l := &lines[i]
		switch {
		case l.name == "X-WR-CALNAME":
			c.Title = l.text()
		case l.name == "X-WR-TIMEZONE":
			said = map[string]bool{l.value: true}
			if isZone(l.value) {
				c.Zone = cmp.Or(c.Zone, l.value)
			}
		case l.params["TZID"] != "":
			said[l.params["TZID"]] = true
		}
	}
	if len(said) == 1 && c.Zone == "" {
		for name := range said {
			if isZone(name) {
				c.Zone = name
			}
		}
	}
	zone, err := time.LoadLocation(cmp.Or(c.Zone, "UTC"))
	if err != nil || !isZone(cmp.Or(c.Zone, "UTC")) {
		return nil, &job.InvalidError{Field: "zone", Reason: refusal.NoTimeZone.With(clip.Runes(c.Zone, maxQuoted), "Europe/Berlin")}
	}
	return zone, nil
}

func isZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && name != "" && name != "Local"
}

// eventsOf reads the events among lines.
func eventsOf(lines []line, zone *time.Location) ([]*event, error) {
	if len(lines) == 0 || lines[0].name != "BEGIN" || !strings.EqualFold(lines[0].value, "VCALENDAR") {
		return nil, wrong(1, "must be BEGIN:VCALENDAR: this is no iCalendar file")
	}
	var open []*line // components
	var events []*event
	var problems []error
	var own []line // of the event that is open
	for i := range lines {
		l := &lines[i]
		switch {
		case l.name == "BEGIN":
			if open = append(open, l); l.value == "VEVENT" {
				own = nil
			}
		case l.name == "END":
			if len(open) == 0 || open[len(open)-1].value != l.value {
				return nil, wrong(l.number, "ends %s, which has not begun", clip.Runes(l.value, maxQuoted))
			}
			begun := open[len(open)-1]
			open = open[:len(open)-1]
			if l.value != "VEVENT" {
				continue
			}
			e, err := parseEvent(own, begun.number, zone)
			if err != nil {
				problems = append(problems, err)
			}
			events = append(events, e)
		case len(open) > 0 && open[len(open)-1].value == "VEVENT":
			own = append(own, *l)
		}
		if len(events) > maxEvents || len(problems) == maxProblems {
			break
		}
	}
	switch {
	case len(problems) > 0:
		return nil, errors.Join(problems...)
	case len(events) > maxEvents:
		return nil, &job.InvalidError{Field: "file", Reason: fmt.Sprintf("has more than %d events", maxEvents)}
	case len(open) > 0:
		return nil, wrong(open[len(open)-1].number, "begins %s, which does not end: the file is cut off", clip.Runes(open[len(open)-1].value, maxQuoted))
	case len(events) == 0:
		return nil, &job.InvalidError{Field: "file", Reason: "has no events"}
	}
	return apart(events), nil
}

// apart removes the days that have a RECURRENCE-ID of their own from the events that
// recur on them.
func apart(events []*event) []*event {
	anew := map[string][]time.Time{}
	for _, e := range events {
		if !e.anew.IsZero() {
			anew[e.uid] = append(anew[e.uid], e.anew)
		}
	}
	for _, e := range events {
		if e.anew.IsZero() {
			for _, at := range anew[e.uid] {
				e.off[at] = true
			}
		}
	}
	return events
}

// writer writes the days of events out.
type writer struct {
	from, to time.Time
	looks    int
	dates    map[string]bool
	windows  []job.Window
	until    string
}

// take writes one event out, and says what became of it.
func (w *writer) take(e *event) Event {
	out := Event{Line: e.number, Title: e.title, Outcome: LeftOut}
	switch {
	case e.cancelled:
		out.Reason, out.Note = Cancelled, refusal.EventCancelled.String()
		return out
	case !e.wholeDays():
		out.Reason, out.Note = PartOfDay, refusal.EventPartOfDay.String()
		return out
	}
	if dates, ok := e.yearly(w.from); ok {
		out.Dates = dates
	} else if days, ok := e.weekly(w.from); ok {
		window := job.Window{Days: days, From: "00:00", To: "24:00"}
		out.Windows = []job.Window{window}
		if !slices.Contains(w.windows, window) {
			w.windows = append(w.windows, window)
		}
	} else {
		w.writeOut(e, &out)
	}
	for _, d := range out.Dates {
		w.dates[d] = true
	}
	if len(out.Dates)+len(out.Windows) > 0 {
		out.Outcome = Imported
	} else {
		out.Reason, out.Note = Over, refusal.EventOver.With(w.from.Format(time.DateOnly))
		if e.start.wall.After(w.from) {
			out.Note = refusal.EventNoDay.String()
		}
	}
	return out
}

// writeOut lists the days of an event from w.from on.
func (w *writer) writeOut(e *event, out *Event) {
	starts := []time.Time{e.start.wall}
	if e.rule != nil {
		var ended bool
		if starts, ended = e.rule.starts(e.start.wall, w.to, &w.looks); !ended {
			w.until = w.to.Format(time.DateOnly)
			out.Note = refusal.EventRecurs.With(w.until)
		}
	}
	found := map[string]bool{}
	for _, at := range append(starts, e.extra...) {
		if e.off[at.Truncate(day)] {
			continue
		}
		for i := range e.length() {
			if on := at.Add(time.Duration(i) * day); !on.Before(w.from) {
				found[on.Format(time.DateOnly)] = true
			}
		}
	}
	out.Dates = slices.Sorted(maps.Keys(found))
}

// sorted returns all dates, those of every year first, without those that they have already.
func (w *writer) sorted() []string {
	all := make([]string, 0, len(w.dates))
	for d := range w.dates {
		if len(d) == len("12-25") || !w.dates[d[len("2026-"):]] {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return all
}
