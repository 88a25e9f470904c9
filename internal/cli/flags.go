package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carillon-scheduler/carillon/job"
)

// GroupFlag adds the flag that says which group.
func GroupFlag(cmd *cobra.Command, group *string) {
	cmd.Flags().StringVarP(group, "group", "g", "", "the executor `group`")
	if err := cmd.MarkFlagRequired("group"); err != nil {
		panic("BUG: " + err.Error())
	}
}

// durationValue is a flag that takes durations as job documents do, days included.
type durationValue struct {
	to  *time.Duration
	def time.Duration
}

// Duration returns a flag for a duration of days, hours or less, which is def unless it is given.
func Duration(to *time.Duration, def time.Duration) pflag.Value { return durationValue{to, def} }

func (f durationValue) String() string {
	if f.to == nil {
		return ""
	}
	if *f.to == 0 {
		*f.to = f.def
	}
	if *f.to == 0 {
		return ""
	}
	return Days(*f.to)
}

// Set implements [pflag.Value].
func (f durationValue) Set(s string) error {
	d, err := job.ParseDuration(s)
	if err == nil && d <= 0 {
		err = &job.InvalidError{Reason: "must be more than zero"}
	}
	*f.to = d
	return err
}

// Type implements [pflag.Value].
func (durationValue) Type() string { return "duration" }

// Days writes a duration in days where it can.
func Days(d time.Duration) string {
	if d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	return job.Duration(d).String()
}

// optionalDurationValue is a flag that takes durations as job documents do; it may be left
// out, and be zero.
type optionalDurationValue struct{ to *time.Duration }

// OptionalDuration returns a flag for a duration that may be left out.
func OptionalDuration(to *time.Duration) pflag.Value { return optionalDurationValue{to} }

func (f optionalDurationValue) String() string {
	if f.to == nil || *f.to == 0 {
		return ""
	}
	return job.Duration(*f.to).String()
}

// Set implements [pflag.Value].
func (f optionalDurationValue) Set(s string) error {
	d, err := job.ParseDuration(s)
	if err == nil && d < 0 {
		err = &job.InvalidError{Reason: "must not be negative"}
	}
	*f.to = d
	return err
}

// Type implements [pflag.Value].
func (optionalDurationValue) Type() string { return "duration" }
