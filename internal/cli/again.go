package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	// HistoryDelay is how long the history may take to have heard of a run.
	HistoryDelay = 5 * time.Second
	// HistoryPause is how long to wait before a run is asked about again.
	HistoryPause = 100 * time.Millisecond
)

// AwaitHistory asks about a run, again if it is too new for the history to have it yet.
func AwaitHistory[T any](ctx context.Context, id job.RunID, ask func() (T, error)) (T, error) {
	for {
		answer, err := ask()
		if !errors.Is(err, job.ErrNotFound) || time.Since(id.Time()).Abs() > HistoryDelay {
			return answer, err
		}
		if err := pause.For(ctx, HistoryPause); err != nil {
			return answer, err
		}
	}
}

// OnInterruption returns a function that tells a person of lost connections, the first of each
// row.
func OnInterruption(w io.Writer) func(error) {
	last := ""
	return func(err error) {
		if text := err.Error(); text != last {
			last = text
			_, _ = fmt.Fprintf(w, "%s; trying again\n", text)
		}
	}
}
