package webapi

import "context"

// RetryRun answers POST /runs/{run_id}/retry.
func (h *handlers) RetryRun(ctx context.Context, r RetryRunRequestObject) (RetryRunResponseObject, error) {
	attempts, err := h.runs.Attempts(ctx, r.RunID)
	if err != nil {
		return nil, err
	}
	accepted, err := h.runs.Rerun(ctx, attempts, r.Body)
	return RetryRun202JSONResponse(accepted), err
}
