package clickhouse

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// progressStep is how far changes for progress are apart at least.
const progressStep = 10 * time.Second

// writer adds runs, lines and facts, and counts reports again.
type writer struct {
	*server
	keep atomic.Pointer[job.Retention] // by which new lines get their class
	// writing is held from the search for rows of runs until those that take their place are
	// written.
	writing sync.Mutex
	// precedence is that of the newest write. It falls with time.
	precedence atomic.Int64
}

// WriteRuns implements [logstore.Store].
func (w *writer) WriteRuns(ctx context.Context, token string, updates []logstore.Update) error {
	return w.writeRuns(ctx, updates, func(foreign *logstore.ForeignError) error {
		return w.merge(ctx, token, updates, foreign)
	})
}

// writeRuns has write write updates that are valid, and no other write at the same time.
func (w *writer) writeRuns(ctx context.Context, updates []logstore.Update, write func(*logstore.ForeignError) error) error {
	for i := range updates {
		if err := updates[i].Validate(); err != nil {
			return fmt.Errorf("update %d: %w", i, err)
		}
	}
	if len(updates) == 0 {
		return nil
	}
	if err := w.Prepare(ctx); err != nil {
		return err
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	foreign := &logstore.ForeignError{}
	if err := write(foreign); err != nil {
		return fmt.Errorf("write %d updates of runs: %w", len(updates), err)
	}
	return foreign.OrNil()
}

// merge merges updates into what the table has. A repeat under the same token is worked out
// from what was before it, and so has the same rows: ClickHouse takes those that it lacks.
func (w *writer) merge(ctx context.Context, token string, updates []logstore.Update, foreign *logstore.ForeignError) error {
	err := logstore.Own(updates, foreign, func(ids []job.RunID) (map[job.RunID]job.Name, error) { return w.ownersOf(ctx, ids) })
	if err != nil {
		return err
	}
	found := historiesOf(updates)
	if err := w.findHistories(ctx, token, found); err != nil {
		return err
	}
	e := events{precedence: w.nextPrecedence()}
	for i := range updates {
		u, h := &updates[i], &found.all[found.of[i]]
		if owner := h.owner(); foreign.Updates[i] == nil && owner != "" && owner != u.Job {
			foreign.Add(i, u, owner)
		}
		if foreign.Updates[i] != nil {
			continue
		}
		if u.Kind.TimelineOnly() {
			e.addIfKept(h.place, u)
			continue
		}
		if h.attempt(toUint32(u.Attempt)).now.take(u) {
			e.add(h.place, u, runlog.KindLate)
		} else {
			e.addIfKept(h.place, u)
		}
	}
	if len(e.rows) > 0 {
		if err := w.insert(ctx, "run_events", token, e.columns()); err != nil {
			return err
		}
	}
	if rows := found.changes(token); len(rows) > 0 {
		return w.insert(ctx, "runs", token, insertColumns(rows))
	}
	return nil
}

// findHistories reads what the table had of places before the write of a token.
func (w *writer) findHistories(ctx context.Context, token string, into *histories) error {
	ctx, err := withPlaces(ctx, into.at)
	if err != nil {
		return err
	}
	all, err := w.read(ctx, known, " WHERE "+byPlaces)
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

// ownersOf returns whose those of the runs are that are there.
func (w *writer) ownersOf(ctx context.Context, ids []job.RunID) (map[job.RunID]job.Name, error) {
	places, names := make(map[place]bool, len(ids)), make(map[uuid.UUID]job.RunID, len(ids))
	for _, id := range ids {
		places[placeOf(id, runlog.Whole)], names[packID(id)] = true, id
	}
	ctx, err := withPlaces(ctx, places)
	if err != nil {
		return nil, err
	}
	rows, err := w.conn.Query(ctx, "SELECT run_id, any(job) FROM runs WHERE "+byRuns+" GROUP BY run_id")
	if err != nil {
		return nil, fmt.Errorf("look for the jobs of runs: %w", database.Explain(err))
	}
	defer func() { _ = rows.Close() }()
	owners := make(map[job.RunID]job.Name, len(ids))
	for rows.Next() {
		var id uuid.UUID
		var name string
		if err := rows.Scan(&id, &name); err != nil {
			return nil, fmt.Errorf("look for the jobs of runs: %w", err)
		}
		owners[names[id]] = job.Name(name)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look for the jobs of runs: %w", database.Explain(err))
	}
	return owners, nil
}
