package webapi

import (
	"cmp"
	"context"

	"carillon/webapi/catalog"
)

// Defaults of a list; the contract states them.
const (
	pageSize    = 100
	listedFires = 1
	listedRuns  = 1
)

// ListJobs answers GET /jobs.
func (h *handlers) ListJobs(ctx context.Context, r ListJobsRequestObject) (ListJobsResponseObject, error) {
	p := r.Params
	page, err := h.catalog.Find(ctx, catalog.Filter{Group: p.Group, Text: p.Q, Paused: p.Paused, Last: p.Last, Where: p.Where}, p.Sort, p.Cursor, cmp.Or(p.Limit, pageSize))
	if err != nil {
		return nil, err
	}
	items, err := h.catalog.Items(ctx, page.Entries, valueOr(p.Fires, listedFires), valueOr(p.Runs, listedRuns), p.Week)
	if err != nil {
		return nil, err
	}
	return ListJobs200JSONResponse{Items: items, Total: page.Total, Next: page.Next}, nil
}
