package webapi

import (
	"context"
	"errors"
	"time"

	"carillon/job"
	"carillon/job/fleet"
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
	if state.CaughtUpAt, err = h.forecast(ctx, backlogs); err != nil {
		return nil, err
	}
	if state.DeadLetters, err = h.conn.CountDeadLetters(ctx); err != nil {
		return nil, err
	}
	if h.stoodIn != nil {
		if state.StandIn = h.stoodIn.StandIn(); state.StandIn != nil { // nor would it answer us
			state.StoreAnswers = false
			return GetHistory200JSONResponse(state), nil
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

// forecast notes in backlogs how fast they shrink, and returns when the log store will have
// caught up; zero when it is not behind, or nobody knows.
func (h *handlers) forecast(ctx context.Context, backlogs []fleet.IngestBacklog) (time.Time, error) {
	pace, err := h.conn.GetIngestPace(ctx)
	if errors.Is(err, job.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return pace.Forecast(backlogs, time.Now()).UTC().Truncate(time.Second), nil
}
