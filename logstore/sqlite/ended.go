package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"time"
)

// The reports are kept by what changes in runs. Triggers note every change of an
// attempt that has ended, with what it was before, in a table; who asks for a report
// has the notes counted first, and a write counts some when they have waited for long.
// To count many at once is cheaper than each batch by itself, and in a rush it can
// wait. A note is deleted by the transaction that counts it. A repeated update changes
// no row, so there is no note of it.
const (
	// countAfter is how long notes wait for somebody to ask before writes count them.
	countAfter = 10 * time.Second
	// countAtOnce is how many notes one transaction counts: more than a write leaves.
	countAtOnce = 20_000
)

// ended is a change of an attempt that has ended.
type ended struct {
	seq                              int64
	id                               []byte
	attempt, version                 int
	job                              int64
	state, status, count             int64
	oldState, oldStatus, oldCount    int64
	instance, oldInstance            string
	decidedAt, startedAt, finishedAt int64
	measured                         bool
	deliveredAt, cause               int64
}

// note remembers that the transaction may have noted something, and counts some of
// what has waited for long.
func (w *writer) note(ctx context.Context) error {
	if now := time.Now(); !w.noted.Swap(true) {
		w.notedAt = now
	} else if now.Sub(w.notedAt) > countAfter {
		return w.countEnds(ctx)
	}
	return nil
}

// countEnds adds the oldest notes to the reports, and sets counted if there are no more.
func (w *writer) countEnds(ctx context.Context) error {
	tallies := map[*reportTable]map[reportKey]*tally{}
	for _, t := range reportTables {
		tallies[t] = map[reportKey]*tally{}
	}
	of := func(t *reportTable, k reportKey, fire int64) *tally {
		k.bucket = t.begin(time.UnixMilli(fire)).Unix()
		same := tallies[t]
		found := same[k]
		if found == nil {
			found = &tally{}
			same[k] = found
		}
		return found
	}
	n, err := w.takeEnds(ctx, func(e *ended) {
		fire := fireOf(e.id)
		group := w.NameOf(e.job).Group()
		run := reportKey{job: e.job, version: int64(e.version), group: group}
		for _, t := range []*tally{of(reportMinute, reportKey{group: group}, fire), of(reportGroup, reportKey{group: group}, fire), of(reportHour, run, fire), of(reportDay, run, fire)} {
			t.count(e.cause, e.oldState, e.oldCount, e.state, e.count)
			t.attempt(e.oldStatus, e.status)
			t.measure(e, fire)
		}
		if e.oldInstance != "" && e.oldStatus != 0 {
			t := of(reportInstance, reportKey{group: group, instance: e.oldInstance}, fire)
			t.count(e.cause, e.oldStatus, 1, 0, 0)
			t.attempt(e.oldStatus, 0)
		}
		if e.instance != "" {
			t := of(reportInstance, reportKey{group: group, instance: e.instance}, fire)
			t.count(e.cause, 0, 0, e.status, 1)
			t.attempt(0, e.status)
			t.measure(e, fire)
		}
	})
	if err != nil {
		return err
	}
	w.counted = n < countAtOnce
	for _, t := range reportTables {
		if err := w.addTallies(ctx, t, tallies[t]); err != nil {
			return fmt.Errorf("add to %s: %w", t.name, err)
		}
	}
	return nil
}

// takeEnds calls each for the oldest notes, deletes them, and returns how many there were.
func (w *writer) takeEnds(ctx context.Context, each func(*ended)) (n int, err error) {
	stmt, err := w.Stmt(ctx, "SELECT * FROM ended ORDER BY seq LIMIT ?")
	if err != nil {
		return 0, err
	}
	rows, err := stmt.QueryContext(ctx, countAtOnce)
	if err != nil {
		return 0, fmt.Errorf("read what has ended: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var e ended
	for ; rows.Next(); n++ {
		if err := rows.Scan(&e.seq, (*sql.RawBytes)(&e.id), &e.attempt, &e.job, &e.version, &e.state, &e.status, &e.count, &e.instance,
			&e.oldState, &e.oldStatus, &e.oldCount, &e.oldInstance, &e.decidedAt, &e.startedAt, &e.finishedAt, &e.measured, &e.deliveredAt, &e.cause); err != nil {
			return 0, fmt.Errorf("read what has ended: %w", err)
		}
		each(&e)
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("read what has ended: %w", err)
	}
	if n > 0 {
		if _, err := w.Exec(ctx, "DELETE FROM ended WHERE seq <= ?", e.seq); err != nil {
			return 0, fmt.Errorf("forget what has ended: %w", err)
		}
	}
	return n, nil
}

// fireOf returns the fire time within a packed id, in milliseconds.
func fireOf(id []byte) int64 {
	return int64(binary.BigEndian.Uint64(id) >> 16)
}
