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
func (h *fireHandlers) SuggestOffsets(ctx context.Context, r SuggestOffsetsRequestObject) (*OffsetSuggestions, error) {
	found, err := h.catalog.SuggestOffsets(ctx, &r.Params)
	return &found, err
}

// ListFires answers GET /fires.
func (h *fireHandlers) ListFires(ctx context.Context, r ListFiresRequestObject) (*FirePage, error) {
	found, err := h.catalog.Fires(ctx, &r.Params)
	return &found, err
}

// CountFires answers GET /fires/counts.
func (h *fireHandlers) CountFires(ctx context.Context, r CountFiresRequestObject) (*FireCounts, error) {
	found, err := h.catalog.CountFires(ctx, &r.Params)
	return &found, err
}

// PreviewJob answers GET /jobs/{group}/{name}/preview.
func (h *fireHandlers) PreviewJob(ctx context.Context, r PreviewJobRequestObject) (*Preview, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	p, err := h.catalog.Preview(ctx, name, r.Params.From, r.Params.N)
	if err == nil && r.Params.Requested {
		p.Requested = catalog.RequestedOf(h.catalog).OfJob(ctx, name, r.Params.From)
	}
	return &p, err
}

// PreviewSchedule answers POST /preview.
func (h *fireHandlers) PreviewSchedule(ctx context.Context, r PreviewScheduleRequestObject) (*Preview, error) {
	p, err := h.catalog.PreviewSchedule(ctx, r.Body)
	return &p, err
}
