package webapi

import (
	"context"
	"time"
)

// GetHistory answers GET /history.
func (h *handlers) GetHistory(ctx context.Context, _ GetHistoryRequestObject) (GetHistoryResponseObject, error) {
	state := HistoryState{AsOf: time.Now().UTC().Truncate(time.Millisecond), StoreAnswers: true}
	backlogs, err := h.conn.IngestBacklogs(ctx)
	if err != nil {
		return nil, err
	}
	state.Backlog = backlogs
	for _, b := range backlogs {
		if !b.Since.IsZero() && b.Since.Before(state.AsOf) {
			state.AsOf = b.Since
		}
	}
	asking, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	stats, err := h.store.Stats(asking)
	if err != nil {
		h.log.DebugContext(ctx, "log store does not answer", "error", err)
		state.StoreAnswers = false
		return GetHistory200JSONResponse(state), nil
	}
	state.Bytes, state.OldestRun = stats.Bytes, stats.OldestRun
	state.DiskBytes, state.DiskFreeBytes = stats.Disk.Total, stats.Disk.Free
	return GetHistory200JSONResponse(state), nil
}
