package firetime

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/cron"
)

// maxQuoted is how much of a text an error quotes.
const maxQuoted = 100

// variable is the name that the fire time has, and begins with if it has steps.
const variable = "fire_time"

// Names reports whether a variable is the fire time.
func Names(name string) bool {
	return name == variable || strings.HasPrefix(name, variable+"|")
}

// In reports whether a text, or JSON, may have ${fire_time}.
func In(text string) bool { return strings.Contains(text, "${"+variable) }

// value returns what such a variable stands for. The error says what is wrong with it.
func value(name string, fire time.Time, zone *time.Location) (string, error) {
	at := fire.In(zone)
	_, rest, _ := strings.Cut(name, "|")
	steps := strings.Split(rest, "|")
	if name == variable {
		steps = nil
	}
	for i, step := range steps {
		next, err := take(at, strings.TrimSpace(step))
		if err == nil {
			at = next
			continue
		}
		text, known := format(at, strings.TrimSpace(step))
		switch {
		case !known, strings.ContainsAny(step[:min(len(step), 1)], "+-"):
			return "", fmt.Errorf("has ${%s}, whose %q must be an offset such as -1d, one of hour, day, week, month and year, "+
				"a zone such as Asia/Shanghai, or a format such as yyyy-MM-dd", clip.Text(name, maxQuoted), clip.Text(step, maxQuoted))
		case i < len(steps)-1:
			return "", fmt.Errorf("has ${%s}, whose format %q must be the last step", clip.Text(name, maxQuoted), clip.Text(step, maxQuoted))
		}
		return text, nil
	}
	return at.Format("2006-01-02T15:04:05.000Z07:00"), nil
}

// take takes a step that is no format.
func take(at time.Time, step string) (time.Time, error) {
	y, m, d := at.Date()
	switch step {
	case "":
		return at, errors.New("is empty")
	case "hour":
		return onClock(at, y, m, d, at.Hour(), 0, 0), nil
	case "day":
		return onClock(at, y, m, d, 0, 0, 0), nil
	case "week":
		return onClock(at, y, m, d-(int(at.Weekday())+6)%7, 0, 0, 0), nil
	case "month":
		return onClock(at, y, m, 1, 0, 0, 0), nil
	case "year":
		return onClock(at, y, 1, 1, 0, 0, 0), nil
	}
	if step[0] == '+' || step[0] == '-' {
		n, err := strconv.Atoi(step[:len(step)-1])
		if err != nil || n > maxOffset || n < -maxOffset {
			return at, errors.New("is no offset")
		}
		return move(at, n, step[len(step)-1])
	}
	if !strings.Contains(step, "/") && step != "UTC" {
		return at, errors.New("is no zone")
	}
	zone, err := cron.LoadZone(step)
	if err != nil {
		return at, err
	}
	return at.In(zone.Location()), nil
}

// maxOffset bounds the number of an offset: as hours it still fits into a duration.
const maxOffset = 2_000_000

// move adds n units. A day that the month does not have is its last one.
func move(at time.Time, n int, unit byte) (time.Time, error) {
	switch unit {
	case 's':
		return at.Add(time.Duration(n) * time.Second), nil
	case 'm':
		return at.Add(time.Duration(n) * time.Minute), nil
	case 'h':
		return at.Add(time.Duration(n) * time.Hour), nil
	case 'w':
		n *= 7
		fallthrough
	case 'd':
		return onClock(at, at.Year(), at.Month(), at.Day()+n, at.Hour(), at.Minute(), at.Second()), nil
	case 'y':
		n *= 12
		fallthrough
	case 'M':
		month := time.Date(at.Year(), at.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
		last := month.AddDate(0, 1, -1).Day()
		return onClock(at, month.Year(), month.Month(), min(at.Day(), last), at.Hour(), at.Minute(), at.Second()), nil
	}
	return at, errors.New("has no unit")
}

// onClock returns when the clock of at's zone says so. Where clocks go forward past it, that is as much
// later: 02:30 is 03:30.
func onClock(at time.Time, y int, m time.Month, d, hour, minute, second int) time.Time {
	t := time.Date(y, m, d, hour, minute, second, 0, at.Location())
	_, offset := t.Zone()
	wanted := time.Date(y, m, d, hour, minute, second, 0, time.UTC)
	if early := wanted.Sub(t.UTC().Add(time.Duration(offset) * time.Second)); early > 0 {
		return t.Add(early)
	}
	return t
}
