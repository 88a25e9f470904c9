package main

import (
	"carillon/internal/client"
	"carillon/job"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	// history is how long the history may take to have heard of a run.
	history     = 5 * time.Second
	historyLook = 100 * time.Millisecond
)

// soon asks about a run, again if it is too new for the history to have it yet.
func soon[T any](ctx context.Context, id job.RunID, ask func() (T, error)) (T, error) {
	for {
		answer, err := ask()
		if !errors.Is(err, job.ErrNotFound) || time.Since(id.Time()).Abs() > history {
			return answer, err
		}
		if err := client.Pause(ctx, historyLook); err != nil {
			return answer, err
		}
	}
}

// interruption returns what tells a person of lost connections, the first of each
// row.
func interruption(w io.Writer) func(error) {
	last := ""
	return func(err error) {
		if text := err.Error(); text != last {
			last = text
			_, _ = fmt.Fprintf(w, "%s; trying again\n", text)
		}
	}
}
