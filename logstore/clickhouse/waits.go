package clickhouse

import (
	"context"
	"fmt"
	"slices"

	"github.com/carillon-scheduler/carillon/job/runlog"
)

// OpenWaits implements [logstore.Store]. Of a step that waits no more, both the row and the one that takes it back are
// read, or none of them.
func (h *runHistory) OpenWaits(ctx context.Context, kind runlog.WaitKind, limit int) ([]runlog.Run, error) {
	if err := h.Prepare(ctx); err != nil {
		return nil, err
	}
	all, err := h.read(ctx, kept, " WHERE run_status = 'queued' AND status = 'queued' AND wait <> '' AND JSONExtractString(wait, 'kind') = ?", string(kind))
	if err != nil {
		return nil, fmt.Errorf("list open waits: %w", err)
	}
	rows := standing(all)
	slices.Reverse(rows)
	runs, err := h.asRuns(ctx, rows[:min(limit, len(rows))])
	if err != nil {
		return nil, fmt.Errorf("list open waits: %w", err)
	}
	return runs, nil
}
