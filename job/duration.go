package job

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// Duration is a time.Duration that reads and writes itself as text such as "90s",
// "1h30m" or "250ms".
type Duration time.Duration

// MarshalJSON writes the shortest text that reads back as d.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads text as [time.ParseDuration] does; "1d" is 24 hours.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var s string
	if n := len(data) - 1; n > 0 && data[0] == '"' && data[n] == '"' && !bytes.ContainsAny(data[1:n], `"\`) {
		s = string(data[1:n]) // in a job it comes several times
	} else if err := json.Unmarshal(data, &s); err != nil {
		return &InvalidError{Reason: fmt.Sprintf("duration %s must be text with a unit, such as \"90s\"", clip.Text(string(data), maxQuoted))}
	}
	v, err := ParseDuration(s)
	*d = Duration(v)
	return err
}

// ParseDuration is [time.ParseDuration] with days: "7d" and "1d12h" are understood.
func ParseDuration(s string) (time.Duration, error) {
	text := s
	var days time.Duration
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			continue
		}
		if s[i] == 'd' && i > 0 && i < 6 {
			n := 0
			for _, c := range s[:i] {
				n = n*10 + int(c-'0')
			}
			days, text = time.Duration(n)*24*time.Hour, s[i+1:]
			if text == "" {
				return days, nil
			}
		}
		break
	}
	v, err := time.ParseDuration(text)
	if err != nil {
		return 0, &InvalidError{Reason: fmt.Sprintf("duration %q must be a number with a unit, such as \"90s\", \"5m\", \"1h30m\" or \"7d\"", clip.Text(s, maxQuoted))}
	}
	return days + v, nil
}

// Std returns d as the standard library's type.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// Milliseconds returns d in whole milliseconds.
func (d Duration) Milliseconds() int64 { return time.Duration(d).Milliseconds() }

// String returns the shortest usual text: "1h30m", not "1h30m0s".
func (d Duration) String() string {
	s := time.Duration(d).String()
	for _, tail := range []string{"m0s", "h0m"} {
		if n := len(s) - 2; n > 0 && len(s) > len(tail) && s[len(s)-len(tail):] == tail {
			s = s[:n]
		}
	}
	return s
}
