package sqlite

import (
	"cmp"
	"context"
	"fmt"

	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// Pieces implements [logstore.Store].
func (h *runHistory) Pieces(ctx context.Context, filter logstore.PieceFilter) (logstore.PiecePage, error) {
	var page logstore.PiecePage
	if err := filter.Validate(); err != nil {
		return page, err
	}
	const newest = "run_id = ? AND attempt = " + pieceNewest
	const ofAttempt = "run_id = ? AND attempt = ?"
	const count, read = "SELECT " + pieceState + ", count(*) FROM pieces WHERE ", "SELECT " + pieceColumns + " FROM pieces WHERE "
	const since = " AND piece >= ? ORDER BY piece LIMIT ?"
	counts, some, args := count+newest+" GROUP BY 1", read+newest+since, []any{file.PackID(filter.RunID)}
	if filter.Attempt != 0 {
		counts, some, args = count+ofAttempt+" GROUP BY 1", read+ofAttempt+since, append(args, filter.Attempt)
	}
	var err error
	page.Counts, err = h.count(ctx, counts, args...)
	if err != nil {
		return page, fmt.Errorf("count pieces of run %s: %w", filter.RunID, err)
	}
	limit := cmp.Or(filter.Limit, logstore.MaxRuns)
	rows, err := h.reads.QueryContext(ctx, some, append(args, int(filter.From), limit+1)...) // one more tells whether there is another page
	if err != nil {
		return page, fmt.Errorf("read pieces of run %s: %w", filter.RunID, err)
	}
	entries, err := h.scan(rows, false)
	if err != nil {
		return page, fmt.Errorf("read pieces of run %s: %w", filter.RunID, err)
	}
	if len(entries) > limit {
		page.Next = entries[limit].Piece
		entries = entries[:limit]
	}
	page.Pieces = asRuns(entries)
	return page, nil
}
