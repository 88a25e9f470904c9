package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/carillon-scheduler/carillon/job"
)

// Range say which part of the past a command is about.
type Range struct {
	Since, From, to string
}

// Add adds the flags, of which since has the given default.
func (f *Range) Add(flags *pflag.FlagSet, since string) {
	flags.StringVar(&f.Since, "since", since, "fires of the last `duration`, such as 90m or 7d")
	flags.StringVar(&f.From, "from", "", "fires at or after this `time` (RFC 3339), instead of --since")
	flags.StringVar(&f.to, "to", "", "fires before this `time` (RFC 3339; default now)")
}

// Read returns the range. --since counts back from its end.
func (f *Range) Read(now time.Time) (from, to time.Time, err error) {
	to = now.UTC().Truncate(time.Millisecond)
	for _, bound := range []struct {
		flag, text string
		into       *time.Time
	}{{"--from", f.From, &from}, {"--to", f.to, &to}} {
		if bound.text == "" {
			continue
		}
		if *bound.into, err = ParseInstant(bound.flag, bound.text); err != nil {
			return from, to, err
		}
	}
	if f.From == "" {
		d, err := ParseSince(f.Since)
		if err != nil {
			return from, to, err
		}
		from = to.Add(-d)
	}
	if !to.After(from) {
		return from, to, errors.New("--to must be after --from")
	}
	return from, to, nil
}

// Bounds reads a range that may be open: from and to are nil without their flags. since counts back from
// now.
func Bounds(since, from, to string, now time.Time) (begin, end *time.Time, err error) {
	if since != "" {
		d, err := ParseSince(since)
		if err != nil {
			return nil, nil, err
		}
		begin = new(now.Add(-d).UTC().Truncate(time.Millisecond))
	}
	for _, bound := range []struct {
		flag, text string
		into       **time.Time
	}{{"--from", from, &begin}, {"--to", to, &end}} {
		if bound.text == "" {
			continue
		}
		at, err := ParseInstant(bound.flag, bound.text)
		if err != nil {
			return nil, nil, err
		}
		*bound.into = &at
	}
	return begin, end, nil
}

// ParseInstant reads the time that a flag was given.
func ParseInstant(flag, text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("%s %q must be a time in RFC 3339, such as 2026-03-01T09:00:00Z", flag, text)
	}
	return at, nil
}

// ParseSince reads what --since was given: how far back a range begins.
func ParseSince(text string) (time.Duration, error) {
	d, err := job.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("--since %q must be a duration such as 90m or 7d", text)
	}
	return d, nil
}
