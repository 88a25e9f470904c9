package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/cron"
)

// fireTimeName begins the variable that stands for a run's fire time: ${fire_time}, or ${fire_time|STEP|…}
// with steps that are taken one after the other.
//
//	-1d, +2h       some years (y), months (M), weeks (w), days (d), hours (h), minutes (m) or seconds (s)
//	               earlier or later, by the calendar and the clock of the zone
//	day            back to where it began; also hour, week (on Monday), month and year
//	Asia/Shanghai  the zone from here on, by its name in the time zone database or UTC
//	yyyyMMdd       the format, see fireTimeFormat; the last step
//
// It begins in the zone of the job's schedule. Without a format it is RFC 3339 with milliseconds.
const fireTimeName = "fire_time"

// namesFireTime reports whether a variable is the fire time.
func namesFireTime(name string) bool {
	return name == fireTimeName || strings.HasPrefix(name, fireTimeName+"|")
}

// MayNameFireTime reports whether a text, or JSON, may have ${fire_time}.
func MayNameFireTime(text string) bool { return strings.Contains(text, "${"+fireTimeName) }

// fireTimeValue returns what such a variable stands for. The error is an *InvalidError without a field.
func fireTimeValue(name string, fire time.Time, zone *time.Location) (string, error) {
	at := fire.In(zone)
	_, rest, _ := strings.Cut(name, "|")
	steps := strings.Split(rest, "|")
	if name == fireTimeName {
		steps = nil
	}
	for i, step := range steps {
		next, err := fireTimeStep(at, strings.TrimSpace(step))
		if err == nil {
			at = next
			continue
		}
		text, known := fireTimeFormat(at, strings.TrimSpace(step))
		switch {
		case !known, strings.ContainsAny(step[:min(len(step), 1)], "+-"):
			return "", Invalid("", "has ${%s}, whose %q must be an offset such as -1d, one of hour, day, week, month and year, "+
				"a zone such as Asia/Shanghai, or a format such as yyyy-MM-dd", clip.Text(name, maxQuoted), clip.Text(step, maxQuoted))
		case i < len(steps)-1:
			return "", Invalid("", "has ${%s}, whose format %q must be the last step", clip.Text(name, maxQuoted), clip.Text(step, maxQuoted))
		}
		return text, nil
	}
	return at.Format("2006-01-02T15:04:05.000Z07:00"), nil
}

// fireTimeStep takes a step that is no format.
func fireTimeStep(at time.Time, step string) (time.Time, error) {
	y, m, d := at.Date()
	switch step {
	case "":
		return at, Invalid("", "is empty")
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
		if err != nil || n > maxFireTimeOffset || n < -maxFireTimeOffset {
			return at, Invalid("", "is no offset")
		}
		return fireTimeOffset(at, n, step[len(step)-1])
	}
	if !strings.Contains(step, "/") && step != "UTC" {
		return at, Invalid("", "is no zone")
	}
	zone, err := cron.LoadZone(step)
	if err != nil {
		return at, err
	}
	return at.In(zone.Location()), nil
}

// maxFireTimeOffset bounds the number of an offset: as seconds it is three years.
const maxFireTimeOffset = 100_000_000

// fireTimeOffset adds n units. A day that the month does not have is its last one.
func fireTimeOffset(at time.Time, n int, unit byte) (time.Time, error) {
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
	return at, Invalid("", "has no unit")
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

// fireTimeParts are what a format may have, as java.text and DolphinScheduler spell it.
var fireTimeParts = map[string]string{
	"yyyy": "2006", "yy": "06", "MM": "01", "M": "1", "dd": "02", "d": "2", "HH": "15", "mm": "04", "ss": "05", "SSS": ".000", "XXX": "Z07:00",
}

// fireTimeFormat formats an instant. known is false for what is no format. A format has runs of the
// letters of fireTimeParts, text in single quotes, and any other characters but letters of ASCII. epoch and
// epoch_ms are seconds and milliseconds since 1970.
func fireTimeFormat(at time.Time, format string) (text string, known bool) {
	switch format {
	case "epoch":
		return strconv.FormatInt(at.Unix(), 10), true
	case "epoch_ms":
		return strconv.FormatInt(at.UnixMilli(), 10), true
	}
	var b strings.Builder
	for rest := format; rest != ""; {
		c := rest[0]
		switch {
		case c == '\'':
			quoted, after, closed := strings.Cut(rest[1:], "'")
			if !closed {
				return "", false
			}
			b.WriteString(quoted)
			rest = after
			known = true
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			part := rest[:len(rest)-len(strings.TrimLeft(rest, string(c)))]
			layout, ok := fireTimeParts[part]
			if !ok {
				return "", false
			}
			b.WriteString(strings.TrimPrefix(at.Format(layout), "."))
			rest = rest[len(part):]
			known = true
		default:
			b.WriteByte(c)
			rest = rest[1:]
		}
	}
	return b.String(), known
}

// ExpandFireTime returns text with each ${fire_time} replaced; any other ${NAME} stays, and of $${fire_time}
// one $ goes. The error is an *InvalidError without a field.
func ExpandFireTime(text string, fire time.Time, zone *time.Location) (string, error) {
	return expandFireTime(text, fire, zone, "$")
}

// expandFireTime takes drop away from the end of what comes before a ${fire_time} that stays.
func expandFireTime(text string, fire time.Time, zone *time.Location, drop string) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "${"+fireTimeName)
		if !found {
			b.WriteString(text)
			return b.String(), nil
		}
		rest, tail, closed := strings.Cut(after, "}")
		if !closed {
			return "", Invalid("", "has ${ without }; write $${ for the characters themselves")
		}
		name := fireTimeName + rest
		switch {
		case strings.HasSuffix(before, "$"):
			b.WriteString(strings.TrimSuffix(before, drop) + "${" + name + "}")
		case !namesFireTime(name):
			b.WriteString(before + "${" + name + "}")
		default:
			value, err := fireTimeValue(name, fire, zone)
			if err != nil {
				return "", err
			}
			b.WriteString(before + value)
		}
		text = tail
	}
}

// ParamsAt returns parameters with each ${fire_time} in their texts replaced. Names of fields stay.
func ParamsAt(params json.RawMessage, fire time.Time, zone *time.Location) (json.RawMessage, error) {
	if !MayNameFireTime(string(params)) {
		return params, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(params))
	decoder.UseNumber() // which keeps each digit
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, Invalid("params", "must be JSON: %v", err)
	}
	value, err := mapTexts(value, func(text string) (string, error) { return ExpandFireTime(text, fire, zone) })
	if err != nil {
		return nil, Invalid("params", "%s", reasonOf(err))
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode params: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// mapTexts returns a JSON value with f's answer in the place of each text.
func mapTexts(value any, f func(string) (string, error)) (_ any, err error) {
	switch v := value.(type) {
	case string:
		return f(v)
	case []any:
		for i := range v {
			if v[i], err = mapTexts(v[i], f); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range v {
			if v[key], err = mapTexts(v[key], f); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// At returns the task with each ${fire_time} replaced in its command, env, stdin and HTTP request. Those
// of shell and script stay: to a shell, ${ means something else.
func (t Task) At(fire time.Time, zone *time.Location) (Task, error) {
	err := t.mapTexts(func(_, text string, request bool) (string, error) {
		if request { // whose other variables are replaced later, with $${ for what stays
			return expandFireTime(text, fire, zone, "")
		}
		return ExpandFireTime(text, fire, zone)
	})
	return t, err
}

// mapTexts puts f's answer in the place of each text that may have ${fire_time}. What others share with t
// stays as it is. The error is f's first, for the field.
func (t *Task) mapTexts(f func(field, text string, request bool) (string, error)) (err error) {
	put := func(text *string, field string, request bool) {
		if err == nil && MayNameFireTime(*text) {
			var value string
			if value, err = f(field, *text, request); err == nil {
				*text = value
			} else {
				err = Invalid(field, "%s", reasonOf(err))
			}
		}
	}
	putAll := func(texts map[string]string, field string, request bool) map[string]string {
		texts = maps.Clone(texts)
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			text := texts[name]
			put(&text, fmt.Sprintf(field, clip.Text(name, maxQuoted)), request)
			texts[name] = text
		}
		return texts
	}
	t.Command = slices.Clone(t.Command)
	for i := range t.Command {
		put(&t.Command[i], fmt.Sprintf("task.command[%d]", i), false)
	}
	t.Env = putAll(t.Env, "task.env.%s", false)
	put(&t.Stdin, "task.stdin", false)
	if t.HTTP != nil {
		h := *t.HTTP
		t.HTTP = &h
		put(&h.URL, "task.http.url", true)
		h.Headers = putAll(h.Headers, "task.http.headers[%q]", true)
		put(&h.Body, "task.http.body", true)
		put(&h.Auth.Bearer, "task.http.auth.bearer", true)
		put(&h.Auth.User, "task.http.auth.user", true)
		put(&h.Auth.Password, "task.http.auth.password", true)
	}
	return err
}

// checkFireTime returns an *InvalidError for what is wrong with a ${fire_time} of the job.
func (j Job) checkFireTime() error {
	var errs []error
	if _, err := ParamsAt(j.Params, time.Unix(0, 0), time.UTC); err != nil {
		errs = append(errs, err)
	}
	_, err := j.Task.At(time.Unix(0, 0), time.UTC)
	return errors.Join(append(errs, err)...)
}
