package draw

import (
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// Instant writes a time in UTC, to the second.
func Instant(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// Millis writes an instant with its milliseconds, where it has some.
func Millis(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999Z") }

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
