package jet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// patience is how long a patient reader waits for NATS to say anything. It asks again after
// pauses that double.
const (
	patience   = 30 * time.Second
	patientMin = 250 * time.Millisecond
	patientMax = 5 * time.Second
)

// Patiently calls read until NATS answers it, for at most 30 s. It is for commands that a person
// runs once: an election or a slow moment should not end them. The error is that of read.
func Patiently(ctx context.Context, read func(context.Context) error) error {
	heard := time.Now()
	return patiently(ctx, &heard, read)
}

// patiently is Patiently with the instant at which NATS was last heard, which read moves on.
func patiently(ctx context.Context, heard *time.Time, read func(context.Context) error) error {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for wait, before := patientMin, *heard; ; wait = min(2*wait, patientMax) {
		err := read(ctx)
		if !errors.Is(err, job.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
		if silent := time.Since(*heard); silent >= patience {
			return fmt.Errorf("NATS did not answer for %s: %w", job.Duration(silent.Round(time.Second)), err)
		}
		if !heard.Equal(before) { // it has come further
			wait, before = patientMin, *heard
		}
		pause.Reset(wait)
		select {
		case <-pause.C:
		case <-ctx.Done():
			return err
		}
	}
}
