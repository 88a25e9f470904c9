package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// What is read of runs, and of pieces. That another attempt of a piece follows is not
// true any more once that has begun, or the run has ended.
const (
	attemptColumns = "run_id, attempt, 0, state, 0, 0, " + otherReads
	listColumns    = "run_id, attempt, 0, state, " + firstDecided + ", " + firstStarted + ", " + otherReads
	pieceColumns   = "run_id, attempt, piece, " + pieceState + ", 0, 0, " + otherReads
	otherReads     = "job, version, status, cause, queued_at, committed_at, delivered_at, started_at, finished_at, delivery, log_lines, exit_code, reported, ruled, ruled_at, " +
		"until, count, total, percent, parent, instance, made_by, step, wait, hold, reason_of, reason, end_reason, text, message"

	// Of a run whose newest attempt is a later one, when any was decided and began first.
	firstDecided = "iif(attempt = 1, 0, " + first + "iif(tries.queued_at = 0, tries.committed_at, tries.queued_at)" + ofAnyAttempt + ")"
	firstStarted = "iif(attempt = 1, 0, " + first + "tries.started_at" + ofAnyAttempt + ")"
	first        = "coalesce((SELECT min(nullif("
	ofAnyAttempt = ", 0)) FROM runs AS tries WHERE tries.run_id = runs.run_id), 0)"

	pieceState  = "iif(retry = 1 AND (" + pieceNewest + " <> attempt OR " + wholeEnded + "), status, state)"
	pieceNewest = "(SELECT max(other.attempt) FROM pieces AS other WHERE other.run_id = pieces.run_id AND other.piece = pieces.piece)"
	wholeEnded  = "EXISTS (SELECT 1 FROM runs WHERE runs.run_id = pieces.run_id AND runs.attempt >= pieces.attempt AND runs.ruled <> 0)"
)

// runHistory reads runs, their pieces and their timelines.
type runHistory struct {
	*database
	// What is read for each job of a page, prepared on reads.
	lastRuns, lastStatus *sql.Stmt
	stand                *standings
}

// Run implements [logstore.Store].
func (h *runHistory) Run(ctx context.Context, id job.RunID) ([]runlog.Run, error) {
	if _, err := job.ParseRunID(string(id)); err != nil {
		return nil, err
	}
	entries, err := h.whole(ctx, id)
	if err != nil {
		return nil, err
	}
	return asRuns(entries), nil
}

// whole returns all attempts of a run, the newest first.
func (h *runHistory) whole(ctx context.Context, id job.RunID) ([]entry, error) {
	return h.attempts(ctx, id, "SELECT "+attemptColumns+", result FROM runs WHERE run_id = ? ORDER BY attempt DESC", file.PackID(id))
}

// attempts reads the rows of a run or of a piece. The error is job.ErrNotFound if there
// is none.
func (h *runHistory) attempts(ctx context.Context, id job.RunID, query string, args ...any) ([]entry, error) {
	rows, err := h.prepared.query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	entries, err := h.scan(rows, true)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("%w: run %s", job.ErrNotFound, id)
	}
	return entries, nil
}

// Runs implements [logstore.Store].
func (h *runHistory) Runs(ctx context.Context, filter logstore.RunFilter) (logstore.RunPage, error) {
	var page logstore.RunPage
	if err := filter.Validate(); err != nil {
		return page, err
	}
	q := newQuery(filter, h.jobs)
	if q.empty {
		return page, nil
	}
	if filter.Cursor != "" {
		cursor, err := logstore.ParseCursor(filter.Cursor)
		if err != nil {
			return page, err
		}
		q.and("(run_id, attempt) < (?, ?)", file.PackID(cursor.RunID), cursor.Attempt)
	}
	limit := filter.Limit
	if limit == 0 {
		limit = logstore.DefaultRuns
	}
	query, args := q.newest(limit + 1) // one more tells whether there is another page
	if !filter.Sort.Default() {
		query, args = q.sorted(filter.Sort, limit)
	}
	rows, err := h.prepared.query(ctx, query, args...)
	if err != nil {
		return page, fmt.Errorf("list runs: %w", err)
	}
	entries, err := h.scan(rows, false)
	if err != nil {
		return page, fmt.Errorf("list runs: %w", err)
	}
	runs := asRuns(entries)
	if len(runs) > limit {
		runs = runs[:limit]
		page.Next = logstore.CursorAt(&runs[limit-1]).String()
	}
	page.Runs = runs
	return page, nil
}

// Counts implements [logstore.Store].
func (h *runHistory) Counts(ctx context.Context, filter logstore.RunFilter) (map[job.Status]int, error) {
	filter.Limit, filter.Cursor = 0, ""
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	q := newQuery(filter, h.jobs)
	if q.empty {
		return map[job.Status]int{}, nil
	}
	query, args := q.counts()
	counts, err := h.count(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("count runs: %w", err)
	}
	return counts, nil
}

// count reads numbers by status.
func (h *runHistory) count(ctx context.Context, query string, args ...any) (map[job.Status]int, error) {
	rows, err := h.prepared.query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	counts := map[job.Status]int{}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var status int64
		var n int
		if err := rows.Scan(&status, &n); err != nil {
			return nil, err
		}
		counts[statusOf[status]] = n
	}
	return counts, rows.Err()
}
