package webapi

import "context"

// ListRuns answers GET /runs.
func (h *handlers) ListRuns(ctx context.Context, r ListRunsRequestObject) (ListRunsResponseObject, error) {
	found, err := h.runs.List(ctx, &r.Params)
	return ListRuns200JSONResponse(found), err
}

// GetRun answers GET /runs/{run_id}.
func (h *handlers) GetRun(ctx context.Context, r GetRunRequestObject) (GetRunResponseObject, error) {
	detail, err := h.runs.Detail(ctx, r.RunID)
	return GetRun200JSONResponse(detail), err
}

// CancelRun answers POST /runs/{run_id}/cancel.
func (h *handlers) CancelRun(ctx context.Context, r CancelRunRequestObject) (CancelRunResponseObject, error) {
	accepted, err := h.runs.CancelNamed(ctx, r.RunID, r.Body)
	return CancelRun202JSONResponse(accepted), err
}
