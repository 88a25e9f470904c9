package clickhouse

import (
	"context"
	"fmt"
	"time"

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
	if len(updates) == 0 {
		return nil
	}
	if err := s.Prepare(ctx); err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.writeRuns(ctx, token, updates); err != nil {
		return fmt.Errorf("write %d updates of runs: %w", len(updates), err)
	}
	return nil
}

// writeRuns merges updates into what the table has. A repeat of a write that may have
// got in, or half in, is worked out from what was before it, and so has the same rows:
// ClickHouse takes those that it lacks.
func (s *Store) writeRuns(ctx context.Context, token string, updates []logstore.Update) error {
	found := historiesOf(updates)
	if err := s.findHistories(ctx, token, found); err != nil {
		return err
	}
	e := events{precedence: s.nextPrecedence()}
	for i := range updates {
		u, h := &updates[i], &found.all[found.of[i]]
		if u.Kind == logstore.KindMarked { // of the timeline only
			e.addIfKept(h.place, u)
			continue
		}
		if h.attempt(toUint32(u.Attempt)).now.take(u) {
			e.add(h.place, u, logstore.KindLate)
		} else {
			e.addIfKept(h.place, u)
		}
	}
	if len(e.rows) > 0 {
		if err := s.insert(ctx, "run_events", token, e.columns()); err != nil {
			return err
		}
	}
	rows := found.changes(token)
	if len(rows) == 0 {
		return nil
	}
	return s.insert(ctx, "runs", token, insertColumns(rows))
}

// findHistories reads what the table had of places before the write of a token.
func (s *Store) findHistories(ctx context.Context, token string, into *histories) error {
	ctx, err := withPlaces(ctx, into.at)
	if err != nil {
		return err
	}
	all, err := s.read(ctx, known, " WHERE "+byPlaces)
	if err != nil {
		return fmt.Errorf("look for runs: %w", err)
	}
	type key struct {
		place
		attempt uint32
	}
	attempts := map[key][]stored{}
	for i := range all {
		if r := &all[i]; token == "" || r.batch != token {
			k := key{r.place, r.attempt}
			attempts[k] = append(attempts[k], *r)
		}
	}
	for k, rows := range attempts {
		if at, ok := into.at[k.place]; ok {
			r := into.all[at].attempt(k.attempt)
			r.rows, r.old, r.last = settle(rows)
			if r.old.job != "" {
				r.now = r.old
			}
		}
	}
	return nil
}
