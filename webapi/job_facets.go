package webapi

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// maxJobFacets bounds how many values of a field are counted; the contract states it.
const maxJobFacets = 100

// FacetJobs answers GET /jobs/facets.
func (h *handlers) FacetJobs(ctx context.Context, r FacetJobsRequestObject) (FacetJobsResponseObject, error) {
	p := r.Params
	facets, err := h.jobFacets(ctx, jobFilter{group: p.Group, text: p.Q, paused: p.Paused, last: p.Last, where: p.Where})
	return FacetJobs200JSONResponse(facets), err
}

// jobFacets counts the jobs that match by the values that they have in each field.
func (h *handlers) jobFacets(ctx context.Context, f jobFilter) (JobFacets, error) {
	q, conditions, err := h.jobConditions(f)
	if err != nil {
		return JobFacets{}, err
	}
	all, err := h.look(ctx, q, lookFor{due: true, last: true})
	if err != nil {
		return JobFacets{}, err
	}
	now := time.Now().UnixMilli()
	counts := map[jobField]map[string]int{}
	for _, field := range jobFacets {
		counts[field] = map[string]int{}
	}
	total := 0
	for i := range all {
		holds, but := conditions.hold(&all[i], now)
		if holds {
			total++
		}
		for _, field := range jobFacets {
			if !holds && but != field {
				continue
			}
			for _, value := range all[i].values(field, now) {
				counts[field][value]++
			}
		}
	}
	facets := JobFacets{Total: total, Items: map[string][]JobFacet{}}
	for field, of := range counts {
		values := make([]JobFacet, 0, len(of))
		for value, n := range of {
			values = append(values, JobFacet{Value: value, Count: n})
		}
		slices.SortFunc(values, func(a, b JobFacet) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Value, b.Value))
		})
		facets.Items[string(field)] = values[:min(len(values), maxJobFacets)]
	}
	return facets, nil
}
