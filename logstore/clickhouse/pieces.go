package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// Pieces implements [logstore.Store]. All pieces of a run are read for any page of
// them: they are few enough, and what became of one depends on others.
func (h *runHistory) Pieces(ctx context.Context, filter logstore.PieceFilter) (logstore.PiecePage, error) {
	var page logstore.PiecePage
	if err := filter.Validate(); err != nil {
		return page, err
	}
	if err := h.Prepare(ctx); err != nil {
		return page, err
	}
	run := placeOf(filter.RunID, runlog.Whole)
	all, err := h.read(ctx, kept, " WHERE fire_time = fromUnixTimestamp64Milli(?, 'UTC') AND run_id = ?", run.fire, run.id)
	if err != nil {
		return page, fmt.Errorf("read pieces of run %s: %w", filter.RunID, err)
	}
	rows := choosePieces(standing(all), uint32(filter.Attempt)) //nolint:gosec // is not negative
	page.Counts = map[job.Status]int{}
	for i := range rows {
		page.Counts[statusOf[rows[i].runStatus]]++
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return pieceOf(r.index) < filter.From })
	if limit := cmp.Or(filter.Limit, logstore.MaxRuns); len(rows) > limit {
		page.Next = pieceOf(rows[limit].index)
		rows = rows[:limit]
	}
	if page.Pieces, err = h.asRuns(ctx, rows); err != nil {
		return page, fmt.Errorf("read pieces of run %s: %w", filter.RunID, err)
	}
	return page, nil
}

// choosePieces returns the pieces among the rows of a run, of one attempt or, for 0, the
// newest of each, in the order of their index. That another attempt of a piece follows
// is not true any more once that has begun, or the run has ended.
func choosePieces(rows []row, attempt uint32) []row {
	var ended uint32 // the highest attempt that has ended by a record
	newest := map[int32]uint32{}
	for i := range rows {
		switch r := &rows[i]; {
		case r.index >= 0:
			newest[r.index] = max(newest[r.index], r.attempt)
		case r.ruled != 0:
			ended = max(ended, r.attempt)
		}
	}
	var pieces []row
	for _, r := range rows {
		if r.index < 0 || r.attempt != cmp.Or(attempt, newest[r.index]) {
			continue
		}
		if r.retry && (r.attempt != newest[r.index] || ended >= r.attempt) {
			r.runStatus = r.status
		}
		pieces = append(pieces, r)
	}
	slices.SortFunc(pieces, func(a, b row) int { return cmp.Compare(a.index, b.index) })
	return pieces
}
