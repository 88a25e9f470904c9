package webapi

import "context"

// BackfillJob answers POST /jobs/{group}/{name}/backfills.
func (h *handlers) BackfillJob(ctx context.Context, r BackfillJobRequestObject) (BackfillJobResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	result, err := h.runs.Backfill(ctx, name, r.Body)
	return BackfillJob200JSONResponse(result), err
}

// ListBackfills answers GET /jobs/{group}/{name}/backfills.
func (h *handlers) ListBackfills(ctx context.Context, r ListBackfillsRequestObject) (ListBackfillsResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	list, err := h.runs.Backfills(ctx, name)
	return ListBackfills200JSONResponse(list), err
}

// CancelBackfill answers POST /jobs/{group}/{name}/backfills/{backfill}/cancel.
func (h *handlers) CancelBackfill(ctx context.Context, r CancelBackfillRequestObject) (CancelBackfillResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	reason := ""
	if r.Body != nil {
		reason = r.Body.Note
	}
	state, err := h.runs.CancelBackfill(ctx, name, r.Backfill, reason)
	return CancelBackfill200JSONResponse(state), err
}
