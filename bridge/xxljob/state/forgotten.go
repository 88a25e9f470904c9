package state

import (
	"context"
	"errors"
	"strconv"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// Forgotten counts how often live executors did not report the end of an attempt.
type Forgotten struct {
	Times int    `json:"times"`
	Why   string `json:"why"` // of the last
}

func forgottenKey(t *bus.Trigger) string {
	return keyOf(t.Job.Group(), "forgotten."+string(t.RunID)+"-"+strconv.Itoa(t.Attempt)+"-"+strconv.Itoa(t.Index))
}

// PutForgotten stores how often an attempt was forgotten, for as long as its trigger may come again.
func (s *Store) PutForgotten(ctx context.Context, t *bus.Trigger, f Forgotten) error {
	_, err := s.put(ctx, forgottenKey(t), f, keptFor, condition{revision: anyRevision})
	return err
}

// Forgotten returns how often an attempt was forgotten. A replica that lags behind may answer.
func (s *Store) Forgotten(ctx context.Context, t *bus.Trigger) (f Forgotten, err error) {
	if _, err = s.now(ctx, forgottenKey(t), &f); errors.Is(err, job.ErrNotFound) {
		err = nil
	}
	return f, err
}
