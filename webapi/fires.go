package webapi

import (
	"context"

	"github.com/carillon-scheduler/carillon/webapi/catalog"
)

// fireHandlers answer requests about fires that are to come.
type fireHandlers struct {
	catalog *catalog.Catalog
}

// SuggestOffsets answers GET /fires/offsets.
func (h *fireHandlers) SuggestOffsets(ctx context.Context, r SuggestOffsetsRequestObject) (SuggestOffsetsResponseObject, error) {
	found, err := h.catalog.SuggestOffsets(ctx, &r.Params)
	return SuggestOffsets200JSONResponse(found), err
}

// ListFires answers GET /fires.
func (h *fireHandlers) ListFires(ctx context.Context, r ListFiresRequestObject) (ListFiresResponseObject, error) {
	found, err := h.catalog.Fires(ctx, &r.Params)
	return ListFires200JSONResponse(found), err
}

// CountFires answers GET /fires/counts.
func (h *fireHandlers) CountFires(ctx context.Context, r CountFiresRequestObject) (CountFiresResponseObject, error) {
	found, err := h.catalog.CountFires(ctx, &r.Params)
	return CountFires200JSONResponse(found), err
}

// PreviewJob answers GET /jobs/{group}/{name}/preview.
func (h *fireHandlers) PreviewJob(ctx context.Context, r PreviewJobRequestObject) (PreviewJobResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	p, err := h.catalog.Preview(ctx, name, r.Params.From, r.Params.N)
	return PreviewJob200JSONResponse(p), err
}

// PreviewSchedule answers POST /preview.
func (h *fireHandlers) PreviewSchedule(ctx context.Context, r PreviewScheduleRequestObject) (PreviewScheduleResponseObject, error) {
	p, err := h.catalog.PreviewSchedule(ctx, r.Body)
	return PreviewSchedule200JSONResponse(p), err
}
