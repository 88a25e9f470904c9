package webapi

import "context"

// PreviewJob answers GET /jobs/{group}/{name}/preview.
func (h *handlers) PreviewJob(ctx context.Context, r PreviewJobRequestObject) (PreviewJobResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	p, err := h.catalog.Preview(ctx, name, r.Params.From, r.Params.N)
	return PreviewJob200JSONResponse(p), err
}

// PreviewSchedule answers POST /preview.
func (h *handlers) PreviewSchedule(ctx context.Context, r PreviewScheduleRequestObject) (PreviewScheduleResponseObject, error) {
	p, err := h.catalog.PreviewSchedule(ctx, r.Body)
	return PreviewSchedule200JSONResponse(p), err
}
