package catalog

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// maxJobFacets bounds how many values of a field are counted; the contract states it.
const maxJobFacets = 100

// Facets counts the jobs that match by the values that they have in each field.
func (s *Search) Facets(ctx context.Context, f Filter) (api.JobFacets, error) {
	q, conditions, err := splitFilter(f)
	if err != nil {
		return api.JobFacets{}, err
	}
	all, err := s.matching(ctx, q, details{due: true, cause: true})
	if err != nil {
		return api.JobFacets{}, err
	}
	now := time.Now().UnixMilli()
	counts := map[jobField]map[string]int{}
	for _, field := range jobFacets {
		counts[field] = map[string]int{}
	}
	total, messages := 0, map[string]string{}
	for i := range all {
		holds, but := conditions.hold(&all[i], now)
		if holds {
			total++
		}
		messages[all[i].cause] = all[i].message
		for _, field := range jobFacets {
			if !holds && but != field {
				continue
			}
			for _, value := range all[i].values(field, now) {
				counts[field][value]++
			}
		}
	}
	facets := api.JobFacets{Total: total, Items: map[string][]api.JobFacet{}}
	for field, of := range counts {
		values := make([]api.JobFacet, 0, len(of))
		for value, n := range of {
			facet := api.JobFacet{Value: value, Count: n}
			if field == fieldError {
				facet.Message = reason.Text(messages[value])
			}
			values = append(values, facet)
		}
		slices.SortFunc(values, func(a, b api.JobFacet) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Value, b.Value))
		})
		facets.Items[string(field)] = values[:min(len(values), maxJobFacets)]
	}
	return facets, nil
}
