package webapi

import (
	"cmp"
	"context"

	"carillon/logstore"
	"carillon/webapi/problem"
	"carillon/webapi/runs"
)

// CountRuns answers GET /runs/counts.
func (h *handlers) CountRuns(ctx context.Context, r CountRunsRequestObject) (CountRunsResponseObject, error) {
	p := r.Params
	filter := logstore.RunFilter{
		Jobs: runs.Names(p.Job), Group: p.Group, Statuses: p.Status, Causes: p.Cause, Instance: p.Instance, Version: p.Version, From: p.From.UTC(), To: p.To.UTC(),
		MinAttempt: p.MinAttempt,
	}
	items, err := h.store.Histogram(ctx, filter, cmp.Or(p.Parts, 1))
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	return CountRuns200JSONResponse{From: filter.From, To: filter.To, Items: items}, nil
}

// FacetRuns answers GET /runs/facets.
func (h *handlers) FacetRuns(ctx context.Context, r FacetRunsRequestObject) (FacetRunsResponseObject, error) {
	p := r.Params
	filter := logstore.FacetFilter{
		RunFilter: logstore.RunFilter{
			Jobs: runs.Names(p.Job), Group: p.Group, Statuses: p.Status, Causes: p.Cause, Instance: p.Instance, Version: p.Version, From: p.From.UTC(), To: p.To.UTC(),
			MinAttempt: p.MinAttempt,
		},
		By: p.By, Values: p.Values,
	}
	facets, err := h.store.Facets(ctx, filter)
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	return FacetRuns200JSONResponse{Items: facets}, nil
}
