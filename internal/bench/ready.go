package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/pause"
)

// readyBy returns a whole second by which all jobs should be saved and loaded.
func (o benchOptions) readyBy() time.Time {
	lead := 10*time.Second + time.Duration(o.jobs)*60*time.Microsecond
	return time.Now().Add(lead << o.again).Truncate(time.Second)
}

// lateError says that the jobs were loaded only after their first fire.
type lateError struct{ by time.Duration }

func (e lateError) Error() string { return fmt.Sprintf("the node was ready %s too late", e.by) }

// begin waits until shortly before the first fire. The error is a lateError if that is over.
func begin(ctx context.Context, fire time.Time, before time.Duration) error {
	if late := time.Since(fire); late > 0 {
		return lateError{late}
	}
	return pause.For(ctx, time.Until(fire.Add(-before)))
}

// patient calls measure with more and more time to save and load jobs, until that is enough.
func patient(cmd *cobra.Command, o benchOptions, measure func(context.Context, benchOptions) (*benchResult, error)) (*benchResult, error) {
	for {
		r, err := measure(cmd.Context(), o)
		if _, late := errors.AsType[lateError](err); !late {
			return r, err
		}
		cmd.PrintErrln(err.Error() + "; this starts over with twice the time")
		o.again++
	}
}
