package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// alike is what filters have in common that look at the same jobs.
type alike struct {
	group, text   string
	paused, isSet bool
}

// tally counts the jobs that match each of several conditions. It looks at them once.
type tally struct {
	query      query
	conditions []jobConditions
	filters    []int // which filter each condition is of
}

// Counts returns how many jobs match each filter; nil where only the store could tell, and is away.
func (s *Search) Counts(ctx context.Context, filters []Filter) ([]*int, error) {
	tallies := map[alike]*tally{}
	for i, f := range filters {
		q, conditions, err := splitFilter(f)
		if invalid := (*job.InvalidError)(nil); errors.As(err, &invalid) {
			return nil, &job.InvalidError{Field: fmt.Sprintf("filters[%d].%s", i, invalid.Field), Reason: invalid.Reason}
		}
		if err != nil {
			return nil, err
		}
		key := alike{group: q.group, text: q.text}
		if q.paused != nil {
			key.paused, key.isSet = *q.paused, true
		}
		t := tallies[key]
		if t == nil {
			t = &tally{query: q}
			tallies[key] = t
		}
		t.conditions, t.filters = append(t.conditions, conditions), append(t.filters, i)
	}
	totals := make([]*int, len(filters))
	for _, t := range tallies {
		if err := s.count(ctx, t, totals); err != nil {
			return nil, err
		}
	}
	return totals, nil
}

// ask reports whether one of the conditions is about one of the fields.
func (t *tally) ask(fields ...jobField) bool {
	for _, conditions := range t.conditions {
		if conditions.ask(fields...) {
			return true
		}
	}
	return false
}

// any reports whether there are conditions at all.
func (t *tally) any() bool { return t.ask(jobFields...) }

func (s *Search) count(ctx context.Context, t *tally, totals []*int) error {
	if !t.any() {
		_, total, _, err := s.index.find(ctx, t.query)
		for _, filter := range t.filters {
			totals[filter] = &total
		}
		return problem.Explain(err, refusal.JobsNotLoaded.String())
	}
	all, err := s.matching(ctx, t.query, details{due: t.ask(fieldState, fieldFires)})
	if err != nil {
		return err
	}
	if t.ask(fieldLast, fieldError) {
		err = s.addStandings(ctx, all)
	}
	if err == nil && t.ask(fieldError) {
		err = s.addCauses(ctx, all)
	}
	isAway := errors.Is(err, job.ErrUnavailable) && ctx.Err() == nil
	if err != nil && !isAway {
		return err
	}
	now := time.Now().UnixMilli()
	for i, conditions := range t.conditions {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if isAway && conditions.ask(fieldLast, fieldError) {
			continue
		}
		total := 0
		for j := range all {
			if holds, _ := conditions.hold(&all[j], now); holds {
				total++
			}
		}
		totals[t.filters[i]] = &total
	}
	return nil
}
