package webapi

import (
	"context"

	"carillon/webapi/catalog"
)

// FacetJobs answers GET /jobs/facets.
func (h *handlers) FacetJobs(ctx context.Context, r FacetJobsRequestObject) (FacetJobsResponseObject, error) {
	p := r.Params
	facets, err := h.catalog.Facets(ctx, catalog.Filter{Group: p.Group, Text: p.Q, Paused: p.Paused, Last: p.Last, Where: p.Where})
	return FacetJobs200JSONResponse(facets), err
}
