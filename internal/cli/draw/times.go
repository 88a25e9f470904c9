package draw

import (
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// Clock formats instants in the reader's time zone. The zero value uses UTC.
type Clock struct {
	Zone *time.Location
}

// Instant writes a time to the second, with how far the zone is from UTC: Z is UTC itself.
func (c Clock) Instant(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return c.Format(t, "2006-01-02 15:04:05Z07:00")
}

// Millis writes an instant with its milliseconds, where it has some.
func (c Clock) Millis(t time.Time) string { return c.Format(t, "2006-01-02 15:04:05.999Z07:00") }

// Format writes an instant by a layout of package time.
func (c Clock) Format(t time.Time, layout string) string {
	if c.Zone == nil {
		return t.UTC().Format(layout)
	}
	return t.In(c.Zone).Format(layout)
}

// Took writes how long something lasted, with three digits or so.
func Took(from, to time.Time) string {
	if from.IsZero() || to.IsZero() {
		return "-"
	}
	d := to.Sub(from)
	switch {
	case d < time.Second:
		d = d.Round(time.Millisecond)
	case d < time.Minute:
		d = d.Round(100 * time.Millisecond)
	default:
		d = d.Round(time.Second)
	}
	return job.Duration(d).String()
}
