package clickhouse

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// runHistory reads runs, their pieces and their timelines.
type runHistory struct {
	*server
	// crowded: a list was asked for lately of more runs of one instant than it shows.
	crowded atomic.Bool
	// pace is how far back the newest page of all runs went for each of them, in
	// nanoseconds; 0 is not known.
	pace atomic.Int64
}

// Run implements [logstore.Store].
func (h *runHistory) Run(ctx context.Context, id job.RunID) ([]runlog.Run, error) {
	if _, err := job.ParseRunID(string(id)); err != nil {
		return nil, err
	}
	if err := h.Prepare(ctx); err != nil {
		return nil, err
	}
	rows, err := h.attempts(ctx, placeOf(id, runlog.Whole))
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	runs, err := h.asRuns(ctx, rows)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	return runs, nil
}

// attempts returns the attempts of a place, newest first. The error is job.ErrNotFound
// if there is none.
func (h *runHistory) attempts(ctx context.Context, p place) ([]row, error) {
	all, err := h.read(ctx, known, " WHERE fire_time = fromUnixTimestamp64Milli(?, 'UTC') AND run_id = ? AND broadcast_index = ?", p.fire, p.id, p.index)
	if err != nil {
		return nil, err
	}
	rows := standing(all)
	if len(rows) == 0 {
		return nil, job.ErrNotFound
	}
	return rows, nil
}

// asRuns returns rows as runs, with their progress.
func (h *runHistory) asRuns(ctx context.Context, rows []row) ([]runlog.Run, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	runs := make([]runlog.Run, len(rows))
	for i := range rows {
		runs[i] = rows[i].run()
	}
	return runs, h.addProgress(ctx, rows, runs)
}

// run returns a row as a run.
func (r *row) run() runlog.Run {
	run := runlog.Run{
		RunID: unpackID(r.id), Job: r.job, Version: int(r.version), Attempt: int(r.attempt), Piece: pieceOf(r.index), Total: int(r.total),
		Status: statusOf[r.status], Retrying: r.status >= database.FirstFinal && r.runStatus == database.Statuses[job.StatusQueued], Cause: causeOf[r.cause],
		QueuedAt: instantAt(r.queuedAt), CommittedAt: instantAt(r.committedAt), DeliveredAt: instantAt(r.deliveredAt), StartedAt: instantAt(r.startedAt), FinishedAt: instantAt(r.finishedAt),
		Instance: r.instance, Reported: runlog.IsHost(r.instance), Delivery: int(r.delivery), Message: reason.Text(r.message), Reason: reason.Text(cmp.Or(r.endReason, r.reason)), By: r.madeBy, Step: r.step, Wait: runlog.ReadWait(r.wait), Hold: runlog.ReadHold(r.hold),
		LogLines: int(r.logLines), Count: int(r.count), Until: instantAt(r.until), //nolint:gosec // was an int
	}
	run.FireTime = run.RunID.Time()
	if r.parent != noRun {
		run.Parent = unpackID(r.parent)
	}
	if r.exited {
		code := int(r.exitCode)
		run.ExitCode = &code
	}
	if r.result != "" {
		run.Result = json.RawMessage(r.result)
	}
	return run
}

// Runs implements [logstore.Store].
func (h *runHistory) Runs(ctx context.Context, filter logstore.RunFilter) (logstore.RunPage, error) {
	var page logstore.RunPage
	if err := filter.Validate(); err != nil {
		return page, err
	}
	if err := h.Prepare(ctx); err != nil {
		return page, err
	}
	limit := cmp.Or(filter.Limit, logstore.DefaultRuns)
	if !filter.Sort.Default() {
		found, err := h.sorted(ctx, &filter, limit)
		if err != nil {
			return page, fmt.Errorf("list runs: %w", err)
		}
		page.Runs = found
		return page, nil
	}
	rows, err := h.page(ctx, filter, limit+1) // one more tells whether there is another page
	if err != nil {
		return page, fmt.Errorf("list runs: %w", err)
	}
	more := len(rows) > limit
	if more {
		rows = rows[:limit]
	}
	if page.Runs, err = h.listed(ctx, &filter, rows); err != nil {
		return page, fmt.Errorf("list runs: %w", err)
	}
	if more {
		page.Next = logstore.CursorAt(&page.Runs[limit-1]).String()
	}
	return page, nil
}

// listed returns rows that f selects as runs. If each stands for a whole run, it has when
// the first of the run's attempts was decided and began.
func (h *runHistory) listed(ctx context.Context, f *logstore.RunFilter, rows []row) ([]runlog.Run, error) {
	runs, err := h.asRuns(ctx, rows)
	if err != nil || f.AllAttempts {
		return runs, err
	}
	again := map[place]int{}
	for i := range rows {
		if rows[i].attempt > 1 {
			again[rows[i].place] = i
		}
	}
	if len(again) == 0 {
		return runs, nil
	}
	ctx, err = withPlaces(ctx, again)
	if err != nil {
		return nil, err
	}
	all, err := h.read(ctx, instants, " WHERE "+byPlaces)
	if err != nil {
		return nil, fmt.Errorf("read when runs began: %w", err)
	}
	for _, attempt := range standing(all) {
		run := &runs[again[attempt.place]]
		run.FirstDecidedAt = firstOf(firstOf(run.FirstDecidedAt, instantAt(attempt.queuedAt)), instantAt(attempt.committedAt))
		run.FirstStartedAt = firstOf(run.FirstStartedAt, instantAt(attempt.startedAt))
	}
	return runs, nil
}

// instants are the columns that show when attempts were decided and began, and which of
// them count.
var instants = columns{"run_id", "broadcast_index", "attempt", "fire_time", "sign", "revision", "job", "queued_at", "committed_at", "started_at"}

// firstOf returns the earlier instant, of those that have come.
func firstOf(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Counts implements [logstore.Store].
func (h *runHistory) Counts(ctx context.Context, filter logstore.RunFilter) (map[job.Status]int, error) {
	filter.Limit, filter.Cursor = 0, ""
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	if err := h.Prepare(ctx); err != nil {
		return nil, err
	}
	c, err := ofRuns(&filter)
	if err != nil {
		return nil, err
	}
	rows, err := h.conn.Query(ctx, "SELECT toString("+statusColumn(&filter)+"), sum(sign * toInt64(count)) AS fires FROM runs"+c.clause()+" GROUP BY 1 HAVING fires > 0", c.args...)
	if err != nil {
		return nil, fmt.Errorf("count runs: %w", database.Explain(err))
	}
	defer func() { _ = rows.Close() }()
	counts := map[job.Status]int{}
	for rows.Next() {
		var status string
		var n int64
		if err := rows.Scan(&status, &n); err != nil {
			return nil, fmt.Errorf("count runs: %w", err)
		}
		counts[job.Status(status)] = int(n)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("count runs: %w", database.Explain(err))
	}
	return counts, nil
}
