package alert

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// store writes down how far the session has come.
func (s *session) store(ctx context.Context, _ *jobsView) error {
	if !s.moved {
		return nil
	}
	if err := s.storeTallies(ctx); err != nil {
		return err
	}
	if err := s.valid(); err != nil {
		return err
	}
	var err error
	if s.placed, err = write(ctx, s.conn, keyPosition, s.place, s.placed); err != nil {
		return fmt.Errorf("store position: %w", err)
	}
	s.moved = false
	return nil
}

func (s *session) storeTallies(ctx context.Context) error {
	for key, t := range s.tallies {
		if !t.dirty {
			continue
		}
		if err := s.valid(); err != nil {
			return err
		}
		kv, err := bucket(ctx, s.conn)
		if err == nil {
			_, err = putJSON(ctx, kv, key, t)
		}
		if err != nil {
			return fmt.Errorf("store tally: %w", jet.Unavailable(err))
		}
		t.dirty = false
	}
	return nil
}

// Incidents are kept for so long after they ended.
const keepIncidents = 30 * 24 * time.Hour

// tidy removes what nobody will ask for any more.
func (s *session) tidy(ctx context.Context, _ *jobsView) error {
	now := time.Now()
	for _, key := range s.mirror.find(func(inc *alerting.Incident) bool {
		return inc.State == alerting.Resolved && now.Sub(inc.ResolvedAt) > keepIncidents
	}) {
		if err := remove(ctx, s.conn, key, 0); err != nil {
			return ignoreAway(err)
		}
	}
	s.mirror.mu.Lock()
	var gone []string
	for id, q := range s.mirror.silences {
		if now.After(q.Until) {
			gone = append(gone, keySilence+id)
		}
	}
	for key, t := range s.tallies {
		if s.mirror.rules[t.Rule] == nil {
			gone = append(gone, key)
			delete(s.tallies, key)
		}
	}
	s.mirror.mu.Unlock()
	for _, key := range gone {
		if err := remove(ctx, s.conn, key, 0); err != nil {
			return ignoreAway(err)
		}
	}
	return nil
}

// ignoreAway returns nil when the bus does not answer: what could not be done now is done
// the next time.
func ignoreAway(err error) error {
	if errors.Is(err, job.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, jetstream.ErrNoKeysFound) {
		return nil
	}
	return err
}
