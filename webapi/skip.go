package webapi

import (
	"context"

	"carillon/bus"
	"carillon/job"
)

// SkipFire answers POST /jobs/{group}/{name}/skip.
func (h *handlers) SkipFire(ctx context.Context, r SkipFireRequestObject) (SkipFireResponseObject, error) {
	item, err := h.skipsChanged(ctx, r.Group, r.Name, *r.Body, h.catalog.Skip)
	if err != nil {
		return nil, err
	}
	return SkipFire200JSONResponse{Body: item, Headers: SkipFire200ResponseHeaders{ETag: etag(item.Revision)}}, nil
}

// UnskipFire answers POST /jobs/{group}/{name}/unskip.
func (h *handlers) UnskipFire(ctx context.Context, r UnskipFireRequestObject) (UnskipFireResponseObject, error) {
	item, err := h.skipsChanged(ctx, r.Group, r.Name, *r.Body, h.catalog.Unskip)
	if err != nil {
		return nil, err
	}
	return UnskipFire200JSONResponse{Body: item, Headers: UnskipFire200ResponseHeaders{ETag: etag(item.Revision)}}, nil
}

// skipsChanged makes a change to the fires that are called off, and returns the job as it is then.
func (h *handlers) skipsChanged(ctx context.Context, group, short string, r SkipRequest, change func(context.Context, job.Name, *SkipRequest) (*bus.JobEntry, error)) (JobItem, error) {
	name, err := nameOf(group, short)
	if err != nil {
		return JobItem{}, err
	}
	entry, err := change(ctx, name, &r)
	if err != nil {
		return JobItem{}, err
	}
	return h.catalog.Item(ctx, entry, shownFires, shownRuns)
}

// RunFireEarly answers POST /jobs/{group}/{name}/run-early.
func (h *handlers) RunFireEarly(ctx context.Context, r RunFireEarlyRequestObject) (RunFireEarlyResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	accepted, err := h.runs.StartEarly(ctx, name, r.Body)
	return RunFireEarly202JSONResponse(accepted), err
}
