package webapi

import "context"

// ChangeRuns answers POST /runs/bulk.
func (h *handlers) ChangeRuns(ctx context.Context, r ChangeRunsRequestObject) (ChangeRunsResponseObject, error) {
	result, err := h.bulk.Runs(ctx, r.Body)
	return ChangeRuns200JSONResponse(result), err
}
