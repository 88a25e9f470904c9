package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"carillon/job"
	"carillon/logstore"
)

// progressStep is how far changes for progress are apart at least.
const progressStep = 10 * time.Second

// WriteRuns implements [logstore.Store]. It has no need of the token.
func (s *Store) WriteRuns(ctx context.Context, _ string, updates []logstore.Update) error {
	for i := range updates {
		if err := updates[i].Validate(); err != nil {
			return fmt.Errorf("update %d: %w", i, err)
		}
	}
	if len(updates) == 0 {
		return nil
	}
	err := s.write(ctx, func(ctx context.Context, w *writer) error { return w.writeRuns(ctx, updates) })
	if err != nil {
		return fmt.Errorf("write %d updates of runs: %w", len(updates), err)
	}
	return nil
}

func (w *writer) writeRuns(ctx context.Context, updates []logstore.Update) error {
	b := w.sort(updates)
	if err := w.insert(ctx, upsertRecorded, len(b.recorded), func(args []any, i int) []any { return b.recorded[i].identity(args) }, nil); err != nil {
		return fmt.Errorf("merge records: %w", err)
	}
	fillOther := func(rows []*row) func([]any, int) []any {
		return func(args []any, i int) []any { return rows[i].other(rows[i].finished(rows[i].identity(args))) }
	}
	if err := w.insert(ctx, upsertOther, len(b.open), fillOther(b.open), nil); err != nil {
		return fmt.Errorf("merge updates: %w", err)
	}
	// A final update that changes nothing is a repeat, or came after another.
	late := func(rows []*row) func(int, int) error {
		return func(from, to int) error { return w.findLate(ctx, rows[from:to], &b.changes) }
	}
	if err := w.insert(ctx, upsertFinished, len(b.plain), func(args []any, i int) []any { return b.plain[i].finished(b.plain[i].identity(args)) }, late(b.plain)); err != nil {
		return fmt.Errorf("merge plain ends: %w", err)
	}
	if err := w.insert(ctx, upsertOther, len(b.final), fillOther(b.final), late(b.final)); err != nil {
		return fmt.Errorf("merge ends: %w", err)
	}
	if err := w.insert(ctx, insertChanges, len(b.changes), func(args []any, i int) []any { return b.changes[i].values(args) }, nil); err != nil {
		return fmt.Errorf("insert changes: %w", err)
	}
	return nil
}

// row is an update as the statements take it.
type row struct {
	*logstore.Update
	id          []byte
	job         int64
	status      int64
	committedAt int64
}

// batch is the updates of one write, sorted by the statement that they need.
type batch struct {
	recorded []*row // plain records: no reason, no span
	open     []*row // other updates that are not final
	plain    []*row // final, without text
	final    []*row // other final ones
	changes  []change
}

type key struct {
	id      [16]byte
	attempt int
}

// sort finds what is to be done for each update. A plain record whose run ends in
// the same batch needs no row of its own, and of several ends of one attempt the
// first counts. Rows are sorted by run, and those of one run stay in their order:
// neighbours in a table are cheaper to write one after the other.
func (w *writer) sort(updates []logstore.Update) *batch {
	b := &batch{}
	rows := make([]row, len(updates))
	ids := make([]byte, 0, 16*len(updates))
	ends := make(map[key]*row, len(updates))
	for i := range updates {
		u := &updates[i]
		ids = appendID(ids, u.RunID)
		rows[i] = row{Update: u, id: ids[16*i : 16*i+16 : 16*i+16], job: w.job(u.Job), status: statusAfter(u), committedAt: committedAt(u)}
		r := &rows[i]
		if r.status < firstFinal {
			continue
		}
		if first, ok := ends[r.key()]; !ok {
			ends[r.key()] = r
		} else if first.status != r.status || first.endedAt() != r.endedAt() {
			b.changes = append(b.changes, changeOf(r, logstore.KindLate))
		}
	}
	for i := range rows {
		r := &rows[i]
		if change, ok := r.change(); ok {
			b.changes = append(b.changes, change)
		}
		end := ends[r.key()]
		switch {
		case r.Plain() && end == nil:
			b.recorded = append(b.recorded, r)
		case r.Plain():
			if end.committedAt == 0 || r.committedAt < end.committedAt {
				end.committedAt = r.committedAt
			}
		case r.status < firstFinal:
			b.open = append(b.open, r)
		}
	}
	for i := range rows {
		switch r := &rows[i]; {
		case r.status < firstFinal || ends[r.key()] != r:
		case r.Kind == logstore.KindFinished && r.Message == "" && len(r.Result) == 0:
			b.plain = append(b.plain, r)
		default:
			b.final = append(b.final, r)
		}
	}
	for _, rows := range [][]*row{b.recorded, b.open, b.plain, b.final} {
		slices.SortStableFunc(rows, func(a, b *row) int { return bytes.Compare(a.id, b.id) })
	}
	return b
}

func statusAfter(u *logstore.Update) int64 {
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

func (r *row) key() key { return key{[16]byte(r.id), r.Attempt} }

func (r *row) endedAt() int64 {
	switch {
	case r.Kind != logstore.KindFinished:
		return 0
	case r.FinishedAt.IsZero():
		return r.At.UnixMilli()
	}
	return r.FinishedAt.UnixMilli()
}

// identity appends the values for [identity].
func (r *row) identity(args []any) []any {
	return append(args, r.id, int64(r.Attempt), r.job, int64(r.Version), causeCodes[r.Cause], r.status, r.committedAt)
}

// finished appends the further values for upsertFinished.
func (r *row) finished(args []any) []any {
	if r.Kind == logstore.KindRecorded || r.Kind == logstore.KindHeld {
		return append(args, int64(0), int64(0), int64(0), int64(0), nil, "")
	}
	var lines, exit any = int64(0), nil
	if r.Kind == logstore.KindFinished {
		lines = int64(r.LogLines)
		if r.ExitCode != nil {
			exit = int64(*r.ExitCode)
		}
	}
	return append(args, millis(r.StartedAt), r.endedAt(), int64(r.Delivery), lines, exit, r.Instance)
}

// other appends the further values for upsertOther.
func (r *row) other(args []any) []any {
	switch r.Kind {
	case logstore.KindRecorded:
		return append(args, millis(r.Until), int64(max(r.Count, 1)), int64(0), 0.0, r.By, r.Reason, "", "", "")
	case logstore.KindProgress:
		return append(args, int64(0), int64(1), r.At.UnixMilli(), r.Progress, "", "", r.ProgressText, "", "")
	case logstore.KindFinished:
		return append(args, int64(0), int64(1), int64(0), 0.0, "", "", "", r.Message, string(r.Result))
	case logstore.KindHeld, logstore.KindStarted, logstore.KindLate:
	}
	return append(args, int64(0), int64(1), int64(0), 0.0, "", "", "", "", "")
}

// findLate adds a change for each of the rows whose run has ended otherwise.
func (w *writer) findLate(ctx context.Context, rows []*row, changes *[]change) error {
	stmt, err := w.stmt(ctx, "SELECT status, finished_at FROM runs WHERE run_id = ? AND attempt = ?")
	if err != nil {
		return err
	}
	for i := range rows {
		r := rows[i]
		var status, at int64
		if err := stmt.QueryRowContext(ctx, r.id, r.Attempt).Scan(&status, &at); err != nil {
			return fmt.Errorf("read how run %s ended: %w", r.RunID, err)
		}
		if status != r.status || at != r.endedAt() {
			*changes = append(*changes, changeOf(r, logstore.KindLate))
		}
	}
	return nil
}
