package clickhouse

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"carillon/job"
	"carillon/logstore"
)

// progressStep is how far changes for progress are apart at least.
const progressStep = 10 * time.Second

// WriteRuns implements [logstore.Store].
func (s *Store) WriteRuns(ctx context.Context, token string, updates []logstore.Update) error {
	for i := range updates {
		if err := updates[i].Validate(); err != nil {
			return fmt.Errorf("update %d: %w", i, err)
		}
	}
	updates = slices.DeleteFunc(slices.Clone(updates), func(u logstore.Update) bool { return u.Piece != logstore.Whole })
	if len(updates) == 0 {
		return nil
	}
	if err := s.Prepare(ctx); err != nil {
		return err
	}
	if err := s.writeRuns(ctx, token, updates); err != nil {
		return fmt.Errorf("write %d updates of runs: %w", len(updates), err)
	}
	return nil
}

// writeRuns inserts events first and ends last. Should it fail between, the run is
// still under way for readers, and the same batch is written again.
func (s *Store) writeRuns(ctx context.Context, token string, updates []logstore.Update) error {
	keys, firsts, err := s.firstEnds(ctx, updates)
	if err != nil {
		return err
	}
	if len(firsts) > 0 {
		s.ending.Lock()
		defer s.ending.Unlock()
	}
	known, err := s.findEnds(ctx, slices.Collect(maps.Keys(firsts)))
	if err != nil {
		return err
	}
	precedence := s.nextPrecedence()
	var e events
	var n ends
	e.grow(len(updates) - len(firsts))
	n.grow(len(firsts))
	for i := range updates {
		u, k := &updates[i], keys[i]
		end, ended := known[k]
		switch {
		case statusAfter(u) < firstFinal:
			e.add(k, u, u.Kind, precedence)
		case ended && end.batch != token: // it ended before this batch
			if end.status != statusAfter(u) || end.finishedAt != endedAt(u) {
				e.add(k, u, logstore.KindLate, precedence)
			}
		case firsts[k].index == i:
			n.add(k, firsts[k].update, token, precedence)
		case firsts[k].update.Status != u.Status || endedAt(firsts[k].update) != endedAt(u):
			e.add(k, u, logstore.KindLate, precedence)
		}
	}
	if len(e.runID) > 0 {
		if err := s.insert(ctx, "run_events", token, e.columns()); err != nil {
			return err
		}
	}
	if len(n.runID) == 0 {
		return nil
	}
	if err := s.insert(ctx, "runs", token, n.columns()); err != nil {
		return err
	}
	return s.closeEnded(ctx, token, n.keys)
}

// closeEnded marks the attempts that were under way, so that their rows go. Of those
// of which only the end is heard, most of them in a busy cluster, there are none.
func (s *Store) closeEnded(ctx context.Context, token string, ended []key) error {
	open, err := s.findOpen(ctx, ended)
	if err != nil || len(open.runID) == 0 {
		return err
	}
	return s.insert(ctx, "run_open", token, open.columns())
}

// firstEnd is the first end of an attempt within a batch.
type firstEnd struct {
	index  int
	update *logstore.Update // perhaps with more than the batch tells
}

// firstEnds returns the key of each update, and the first ends.
func (s *Store) firstEnds(ctx context.Context, updates []logstore.Update) ([]key, map[key]firstEnd, error) {
	keys, firsts := make([]key, len(updates)), make(map[key]firstEnd, len(updates))
	var nameless []key
	for i := range updates {
		u := &updates[i]
		keys[i] = keyOf(u)
		if _, ok := firsts[keys[i]]; ok || statusAfter(u) < firstFinal {
			continue
		}
		firsts[keys[i]] = firstEnd{i, u}
		if u.Kind == logstore.KindFinished && u.Instance == "" {
			nameless = append(nameless, keys[i])
		}
	}
	instances, err := s.findInstances(ctx, nameless)
	for k, last := range instances {
		first := firsts[k]
		first.update = last.of(first.update)
		firsts[k] = first
	}
	return keys, firsts, err
}

func statusAfter(u *logstore.Update) int8 {
	switch u.Kind {
	case logstore.KindHeld:
		return statusCodes[job.StatusPending]
	case logstore.KindStarted, logstore.KindProgress:
		return statusCodes[job.StatusRunning]
	case logstore.KindRecorded, logstore.KindFinished, logstore.KindLate:
	}
	return statusCodes[u.Status]
}

// committedAt is 0 for a record that holds a run back: nothing is committed yet.
func committedAt(u *logstore.Update) int64 {
	switch {
	case u.Kind != logstore.KindRecorded:
		return millis(u.CommittedAt)
	case u.Status == job.StatusQueued:
		return 0
	}
	return millis(u.At)
}

// endedAt is 0 for an update that is no end.
func endedAt(u *logstore.Update) int64 {
	switch {
	case statusAfter(u) < firstFinal:
		return 0
	case u.Kind == logstore.KindRecorded || u.FinishedAt.IsZero():
		return millis(u.At)
	}
	return millis(u.FinishedAt)
}
