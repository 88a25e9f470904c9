package webapi

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"carillon/job"
	"carillon/logstore"
)

// countsAtOnce is how many counts a request asks of the log store at a time.
const countsAtOnce = 4

// CountRuns answers GET /runs/counts.
func (h *handlers) CountRuns(ctx context.Context, r CountRunsRequestObject) (CountRunsResponseObject, error) {
	p := r.Params
	filter := logstore.RunFilter{Group: p.Group, Statuses: p.Status, Causes: p.Cause, Instance: p.Instance, Version: p.Version, From: p.From.UTC(), To: p.To.UTC()}
	for _, name := range p.Job {
		filter.Jobs = append(filter.Jobs, job.Name(name))
	}
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	n := orDefault(p.Parts, 1)
	span := p.To.Sub(p.From)
	if span < time.Duration(n)*time.Millisecond {
		return nil, invalid("to", fmt.Sprintf("must lie at least %d ms after from, one for each part", n))
	}
	counts := RunCounts{From: filter.From, To: filter.To, Items: make([]StatusCounts, n)}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(countsAtOnce)
	for i := range n {
		part := filter
		part.From = filter.From.Add(span / time.Duration(n) * time.Duration(i)).Truncate(time.Millisecond)
		if i < n-1 {
			part.To = filter.From.Add(span / time.Duration(n) * time.Duration(i+1)).Truncate(time.Millisecond)
		}
		g.Go(func() (err error) {
			counts.Items[i], err = h.store.Counts(ctx, part)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, storeError(err)
	}
	return CountRuns200JSONResponse(counts), nil
}
