package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
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
	defer s.stand.forget(s.jobs, updates)
	var foreign *logstore.ForeignError
	err := s.write(ctx, func(ctx context.Context, w *writer) error {
		foreign = &logstore.ForeignError{}
		return w.writeRuns(ctx, updates, foreign)
	})
	if err != nil {
		return fmt.Errorf("write %d updates of runs: %w", len(updates), err)
	}
	return foreign.OrNil()
}

func (w *writer) writeRuns(ctx context.Context, updates []logstore.Update, foreign *logstore.ForeignError) error {
	err := logstore.Own(updates, foreign, func(ids []job.RunID) (map[job.RunID]job.Name, error) { return w.ownersOf(ctx, ids) })
	if err != nil {
		return err
	}
	b := w.sort(updates, foreign)
	recorded := func(r *row, args []any) []any { return r.identity(args) }
	finished := func(r *row, args []any) []any { return r.finished(r.identity(args)) }
	other := func(r *row, args []any) []any { return r.other(r.finished(r.identity(args))) }
	for _, step := range []struct {
		upsert upsert
		rows   []*row
		fill   func(r *row, args []any) []any
		ends   bool
	}{
		{upsertRecorded, b.recorded, recorded, false},
		{upsertOther, b.open, other, false},
		{upsertFinished, b.plain, finished, true},
		{upsertOther, b.final, other, true},
		{upsertOther, b.ruled, other, false},
	} {
		if err := w.merge(ctx, step.upsert, step.rows, step.fill, step.ends, b); err != nil {
			return err
		}
	}
	if err := w.Insert(ctx, insertChanges, len(b.changes), func(args []any, i int) []any { return b.changes[i].values(args) }, nil); err != nil {
		return fmt.Errorf("insert changes: %w", err)
	}
	if err := w.supersede(ctx, b); err != nil {
		return err
	}
	return w.note(ctx)
}

// merge merges rows, which are sorted: those of runs come before those of pieces. When
// they are ends, one that changes nothing is a repeat, or came after another.
func (w *writer) merge(ctx context.Context, u upsert, rows []*row, fill func(*row, []any) []any, ends bool, b *batch) error {
	whole := len(rows)
	if i := slices.IndexFunc(rows, func(r *row) bool { return r.Piece != runlog.Whole }); i >= 0 {
		whole = i
	}
	for _, part := range []struct {
		bulk *file.Bulk
		rows []*row
	}{{u.runs, rows[:whole]}, {u.pieces, rows[whole:]}} {
		var check func(from, to int) error
		if ends {
			check = func(from, to int) error { return w.findLate(ctx, part.rows[from:to], b) }
		}
		err := w.Insert(ctx, part.bulk, len(part.rows), func(args []any, i int) []any {
			r := part.rows[i]
			if args = fill(r, args); r.Piece != runlog.Whole {
				args = append(args, int64(r.Piece))
			}
			return args
		}, check)
		if err != nil {
			return fmt.Errorf("merge updates: %w", err)
		}
	}
	return nil
}

// row is an update as the statements take it.
type row struct {
	*logstore.Update
	index       int // in the write
	id          []byte
	job         int64
	status      int64
	committedAt int64
}

// batch is the updates of one write, sorted by the statement that they need.
type batch struct {
	recorded []*row // plain records: no reason, no span
	open     []*row // other updates that are not final
	plain    []*row // ends by events, without text
	final    []*row // other ends by events
	ruled    []*row // ends by records
	changes  []change
	again    bool   // there are attempts after the first
	ids      []byte // of all runs, as they came
	foreign  *logstore.ForeignError
}

type key struct {
	id      [16]byte
	attempt int
	piece   runlog.Piece
}

// sort finds what is to be done for each update. A plain record whose run ends in
// the same batch needs no row of its own, and of several ends of one attempt by events
// the first counts. Rows are sorted by run, pieces last, and those of one run stay in their order:
// neighbours in a table are cheaper to write one after the other.
func (w *writer) sort(updates []logstore.Update, foreign *logstore.ForeignError) *batch {
	b := &batch{foreign: foreign}
	rows := make([]row, len(updates))
	ids := make([]byte, 0, 16*len(updates))
	ends := make(map[key]*row, len(updates))
	for i := range updates {
		u := &updates[i]
		ids = file.AppendID(ids, u.RunID)
		rows[i] = row{Update: u, index: i, id: ids[16*i : 16*i+16 : 16*i+16], job: w.Job(u.Job), status: statusCodes[u.Tells()], committedAt: file.Millis(u.Committed())}
		r := &rows[i]
		b.again = b.again || u.Attempt > 1
		if foreign.Updates[i] != nil {
			continue
		}
		if r.status < firstFinal || u.Kind != runlog.KindFinished {
			continue
		}
		if first, ok := ends[r.key()]; !ok {
			ends[r.key()] = r
		} else if first.status != r.status || first.endedAt() != r.endedAt() {
			b.changes = append(b.changes, changeOf(r, runlog.KindLate))
		}
	}
	b.ids = ids
	for i := range rows {
		r := &rows[i]
		if foreign.Updates[i] != nil {
			continue
		}
		if change, ok := r.change(); ok {
			b.changes = append(b.changes, change)
		}
		end := ends[r.key()]
		switch {
		case r.Kind.TimelineOnly():
		case r.Plain() && end == nil:
			b.recorded = append(b.recorded, r)
		case r.Plain():
			if end.committedAt == 0 || r.committedAt != 0 && r.committedAt < end.committedAt {
				end.committedAt = r.committedAt
			}
		case r.Kind == runlog.KindRecorded && r.status >= firstFinal:
			b.ruled = append(b.ruled, r)
		case r.status < firstFinal:
			b.open = append(b.open, r)
		}
	}
	for i := range rows {
		switch r := &rows[i]; {
		case foreign.Updates[i] != nil || r.Kind != runlog.KindFinished || ends[r.key()] != r:
		case r.Message == "" && len(r.Result) == 0 && !r.Retry && r.Total == 0 && !r.Heard():
			b.plain = append(b.plain, r)
		default:
			b.final = append(b.final, r)
		}
	}
	for _, rows := range [][]*row{b.recorded, b.open, b.plain, b.final, b.ruled} {
		slices.SortStableFunc(rows, compareRows)
	}
	return b
}

func compareRows(a, b *row) int {
	if a.Piece == b.Piece {
		return bytes.Compare(a.id, b.id)
	}
	return cmp.Or(cmp.Compare(min(a.Piece, 1), min(b.Piece, 1)), bytes.Compare(a.id, b.id), cmp.Compare(a.Piece, b.Piece))
}

func (r *row) key() key { return key{[16]byte(r.id), r.Attempt, r.Piece} }

func (r *row) endedAt() int64 {
	switch {
	case r.Kind != runlog.KindFinished:
		return 0
	case r.FinishedAt.IsZero():
		return r.At.UnixMilli()
	}
	return r.FinishedAt.UnixMilli()
}

// identity appends the values for [identity].
func (r *row) identity(args []any) []any {
	state := r.status
	if r.Retry && r.Kind == runlog.KindFinished {
		state = statusCodes[job.StatusQueued]
	}
	return append(args, r.id, int64(r.Attempt), r.job, int64(r.Version), causeCodes[r.Cause], r.status, state, r.committedAt)
}

// finished appends the further values for upsertFinished.
func (r *row) finished(args []any) []any {
	if r.Kind == runlog.KindRecorded || r.Kind == runlog.KindHeld {
		return append(args, int64(0), int64(0), int64(0), int64(0), int64(0), nil, "", int64(0))
	}
	var reported, lines, exit any = int64(0), int64(0), nil
	if r.Kind == runlog.KindFinished {
		reported, lines = r.status, int64(r.LogLines)
		if r.ExitCode != nil {
			exit = int64(*r.ExitCode)
		}
	}
	return append(args, reported, file.Millis(r.StartedAt), r.endedAt(), int64(r.Delivery), lines, exit, r.Instance, file.Millis(r.DeliveredAt))
}

// other appends the further values for upsertOther.
func (r *row) other(args []any) []any {
	var retry, ruled, ruledAt, reasonOf int64
	var reason, endReason string
	switch {
	case r.Kind == runlog.KindFinished && r.Retry:
		retry = 1
	case r.Kind == runlog.KindRecorded && r.status >= firstFinal:
		ruled, ruledAt, endReason = r.status, r.At.UnixMilli(), r.Reason
	case r.Kind == runlog.KindRecorded && r.Reason != "", r.Heard():
		reasonOf, reason = r.status, r.Reason
	}
	var parent any
	if r.Parent != "" && r.Kind == runlog.KindRecorded {
		parent = file.PackID(r.Parent)
	}
	args = append(args, file.Millis(r.Queued()), retry, ruled, ruledAt, int64(r.Total), parent)
	switch r.Kind {
	case runlog.KindRecorded:
		return append(args, file.Millis(r.Until), int64(max(r.Count, 1)), int64(0), 0.0, r.By, r.Step, reasonOf, reason, endReason, "", "", "", r.Wait.Text(), r.Hold.Text())
	case runlog.KindProgress:
		return append(args, int64(0), int64(1), r.At.UnixMilli(), r.Progress, "", "", int64(0), "", "", r.ProgressText, "", "", "", "")
	case runlog.KindFinished:
		return append(args, int64(0), int64(1), int64(0), 0.0, "", "", reasonOf, reason, "", "", r.Message, string(r.Result), "", "")
	case runlog.KindHeld, runlog.KindStarted, runlog.KindLate, runlog.KindMarked, runlog.KindOnHold, runlog.KindResumed:
	}
	return append(args, int64(0), int64(1), int64(0), 0.0, "", "", reasonOf, reason, "", "", "", "", "", r.Hold.Text())
}

// findLate adds a change for each of the rows whose run has ended otherwise by an
// event. A row that another job has taken first is foreign.
func (w *writer) findLate(ctx context.Context, rows []*row, b *batch) error {
	for _, r := range rows {
		query, args := "SELECT reported, finished_at, job FROM runs WHERE run_id = ? AND attempt = ?", []any{r.id, r.Attempt}
		if r.Piece != runlog.Whole {
			query, args = "SELECT reported, finished_at, job FROM pieces WHERE run_id = ? AND attempt = ? AND piece = ?", append(args, int(r.Piece))
		}
		stmt, err := w.Stmt(ctx, query)
		if err != nil {
			return err
		}
		var status, at, owner int64
		if err := stmt.QueryRowContext(ctx, args...).Scan(&status, &at, &owner); err != nil {
			return fmt.Errorf("read how run %s ended: %w", r.RunID, err)
		}
		if owner != r.job {
			b.foreign.Add(r.index, r.Update, w.NameOf(owner))
			continue
		}
		if status != r.status || at != r.endedAt() {
			b.changes = append(b.changes, changeOf(r, runlog.KindLate))
		}
	}
	return nil
}

// ownersOf returns whose those of the runs are that are there.
func (w *writer) ownersOf(ctx context.Context, ids []job.RunID) (map[job.RunID]job.Name, error) {
	owners := map[job.RunID]job.Name{}
	for _, id := range ids {
		for _, query := range []string{"SELECT job FROM runs WHERE run_id = ? LIMIT 1", "SELECT job FROM pieces WHERE run_id = ? LIMIT 1"} {
			stmt, err := w.Stmt(ctx, query)
			if err != nil {
				return nil, err
			}
			var number int64
			err = stmt.QueryRowContext(ctx, file.PackID(id)).Scan(&number)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("read whose run %s is: %w", id, err)
			}
			owners[id] = w.NameOf(number)
			break
		}
	}
	return owners, nil
}
