package webapi

import "context"

// RunJob answers POST /jobs/{group}/{name}/run.
func (h *handlers) RunJob(ctx context.Context, r RunJobRequestObject) (RunJobResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	accepted, err := h.runs.Start(ctx, name, r.Body)
	return RunJob202JSONResponse(accepted), err
}
