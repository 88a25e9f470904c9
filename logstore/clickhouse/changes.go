package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"carillon/job"
	"carillon/logstore"
)

// Changes implements [logstore.Store]. What a run's own row tells is not kept again
// as an event.
func (s *Store) Changes(ctx context.Context, id job.RunID, piece logstore.Piece) ([]logstore.Change, error) {
	if _, err := job.ParseRunID(string(id)); err != nil {
		return nil, err
	}
	if err := s.Prepare(ctx); err != nil {
		return nil, err
	}
	if piece != logstore.Whole {
		return nil, fmt.Errorf("%w: piece %d of run %s", job.ErrNotFound, piece.Index(), id)
	}
	runs, events, err := s.run(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read changes of run %s: %w", id, err)
	}
	var all []logstore.Change
	for i := range events {
		c := events[i].Change
		if c.Kind == logstore.KindRecorded { // by a shard, which has no instance
			c.Instance, c.Delivery = "", 0
		}
		all = append(all, c)
	}
	for i := range runs {
		all = append(all, derive(&runs[i], all)...)
	}
	slices.SortStableFunc(all, func(a, b logstore.Change) int {
		return cmp.Or(cmp.Compare(a.Attempt, b.Attempt), a.At.Compare(b.At), cmp.Compare(kindCodes[a.Kind], kindCodes[b.Kind]), cmp.Compare(a.Delivery, b.Delivery))
	})
	return all, nil
}

// derive returns the points of r's timeline that follow from r, without those that
// there are.
func derive(r *logstore.Run, known []logstore.Change) []logstore.Change {
	var derived []logstore.Change
	add := func(at time.Time, c logstore.Change) {
		if !at.IsZero() {
			c.RunID, c.Job, c.Attempt, c.At = r.RunID, r.Job, r.Attempt, at
			derived = append(derived, c)
		}
	}
	has := func(kind logstore.Kind, match func(*logstore.Change) bool) bool {
		return slices.ContainsFunc(known, func(c logstore.Change) bool { return c.Kind == kind && c.Attempt == r.Attempt && match(&c) })
	}
	if !has(logstore.KindRecorded, func(c *logstore.Change) bool { return c.Status != job.StatusQueued }) {
		recorded, detail := job.StatusPending, ""
		if r.Status == job.StatusSkipped || r.Status == job.StatusMissed {
			recorded, detail = r.Status, r.Reason
		}
		add(r.CommittedAt, logstore.Change{Kind: logstore.KindRecorded, Status: recorded, Detail: detail})
	}
	if !has(logstore.KindStarted, func(c *logstore.Change) bool { return c.Delivery == r.Delivery }) {
		add(r.StartedAt, logstore.Change{Kind: logstore.KindStarted, Status: job.StatusRunning, Instance: r.Instance, Delivery: r.Delivery})
	}
	if r.Status.Executed() {
		add(r.FinishedAt, logstore.Change{Kind: logstore.KindFinished, Status: r.Status, Instance: r.Instance, Delivery: r.Delivery, Detail: r.Message})
	}
	return derived
}
