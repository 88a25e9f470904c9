package webapi

import "context"

// ChangeJobs answers POST /jobs/bulk.
func (h *handlers) ChangeJobs(ctx context.Context, r ChangeJobsRequestObject) (ChangeJobsResponseObject, error) {
	result, err := h.bulk.Jobs(ctx, r.Body)
	return ChangeJobs200JSONResponse(result), err
}
