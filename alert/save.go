package alert

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

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
	if s.revision, err = s.records.position.Write(ctx, theOnly, s.position, s.revision); err != nil {
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
		if _, err := s.records.tallies.Put(ctx, key, *t); err != nil {
			return fmt.Errorf("store tally: %w", err)
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
	s.mirror.forget()
	for _, inc := range s.mirror.find(func(inc *alerting.Incident) bool {
		return inc.State == alerting.Resolved && now.Sub(inc.ResolvedAt) > keepIncidents
	}) {
		records, at := s.records.ofIncident(inc.Key)
		if err := records.Remove(ctx, at, 0); err != nil {
			return ignoreAway(err)
		}
	}
	for _, q := range s.mirror.silences.Find(func(q *alerting.Silence) bool { return now.After(q.Until) }) {
		if err := s.records.silences.Remove(ctx, q.Key, 0); err != nil {
			return ignoreAway(err)
		}
	}
	for key, t := range s.tallies {
		if _, _, there := s.mirror.rules.Get(t.Rule); there {
			continue
		}
		if err := s.records.tallies.Remove(ctx, key, 0); err != nil {
			return ignoreAway(err)
		}
		delete(s.tallies, key)
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
