package sqlite

import (
	"context"
	"fmt"

	"github.com/carillon-scheduler/carillon/job/runlog"
)

// OpenWaits implements [logstore.Store]. The condition is that of an index, word for word.
func (h *runHistory) OpenWaits(ctx context.Context, kind runlog.WaitKind, limit int) ([]runlog.Run, error) {
	rows, err := h.prepared.query(ctx, "SELECT "+attemptColumns+
		" FROM runs INDEXED BY runs_waits WHERE wait <> '' AND status = 1 AND wait ->> 'kind' = ? ORDER BY run_id, attempt LIMIT ?", string(kind), limit)
	if err != nil {
		return nil, fmt.Errorf("list open waits: %w", err)
	}
	entries, err := h.scan(rows, false)
	if err != nil {
		return nil, fmt.Errorf("list open waits: %w", err)
	}
	return asRuns(entries), nil
}
