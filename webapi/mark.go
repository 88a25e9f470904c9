package webapi

import (
	"context"

	"carillon/job"
)

// MarkRun answers POST /runs/{run_id}/mark.
func (h *handlers) MarkRun(ctx context.Context, r MarkRunRequestObject) (MarkRunResponseObject, error) {
	if err := job.CheckMark(r.Body.As, r.Body.Note); err != nil {
		return nil, err
	}
	attempts, err := h.runs.Attempts(ctx, r.RunID)
	if err != nil {
		return nil, err
	}
	mark, err := h.runs.Mark(ctx, &attempts[0], r.Body.As, r.Body.Note)
	if err != nil {
		return nil, err
	}
	return MarkRun200JSONResponse{As: mark.As, Note: mark.Note, By: mark.By, At: mark.At}, nil
}
