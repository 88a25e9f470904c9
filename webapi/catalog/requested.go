package catalog

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

// requestedAhead is how far ahead the requested runs of a job are listed; the contract states it.
const requestedAhead = 366 * 24 * time.Hour

// Requested finds and counts runs that wait for a later time at which they were requested.
type Requested struct{ *Catalog }

// RequestedOf returns what finds and counts the requested runs of jobs.
func RequestedOf(c *Catalog) Requested { return Requested{c} }

// waiting selects the runs that wait for a later time at which they were requested, in (from, to].
func waiting(from, to time.Time) logstore.RunFilter {
	if now := time.Now(); from.Before(now) {
		from = now
	}
	after := func(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond).Add(time.Millisecond) }
	return logstore.RunFilter{From: after(from), To: after(to), Statuses: []job.Status{job.StatusQueued}, Causes: job.CountedCauses}
}

// matching returns the requested runs of the jobs that match a query, in (from, to].
func (r Requested) matching(ctx context.Context, q *query, from, to time.Time) (*api.RequestedRuns, error) {
	f := waiting(from, to)
	f.Group, f.Jobs = q.group, slices.Collect(maps.Keys(q.jobs))
	if q.text != "" {
		all := *q
		all.firing, all.after = false, ""
		matching, err := r.index.copies(ctx, all)
		if err != nil {
			return nil, err
		}
		if len(matching) == 0 {
			return &api.RequestedRuns{Runs: []api.RequestedRun{}}, nil
		}
		f.Jobs = nil
		for i := range matching {
			f.Jobs = append(f.Jobs, matching[i].name)
		}
	}
	return r.list(ctx, f), nil
}

// OfJob returns the requested runs of a job within 366 days after an instant, by default now, or how many there
// are in each hour if there are too many; nil if the log store does not answer.
func (r Requested) OfJob(ctx context.Context, name job.Name, from time.Time) *api.RequestedRuns {
	if from.IsZero() {
		from = time.Now()
	}
	f := waiting(from, from.Add(requestedAhead))
	f.Jobs = []job.Name{name}
	return r.list(ctx, f)
}

// list returns the requested runs that a filter selects, or how many there are in each hour if there are
// too many; nil if the log store does not answer.
func (r Requested) list(ctx context.Context, f logstore.RunFilter) *api.RequestedRuns {
	found := &api.RequestedRuns{Runs: []api.RequestedRun{}}
	if !f.From.Before(f.To) {
		return found
	}
	list := f
	list.Limit = logstore.MaxRuns
	page, err := r.store.Runs(ctx, list)
	if err == nil && page.Next != "" {
		found.Hours, err = r.hours(ctx, f)
		page.Runs = nil
	}
	if err != nil {
		r.log.WarnContext(ctx, "requested runs cannot be read", "error", err)
		return nil
	}
	for i := range page.Runs {
		run := &page.Runs[i]
		found.Runs = append(found.Runs, api.RequestedRun{RunID: run.RunID, Job: run.Job, FireTime: run.FireTime})
	}
	slices.Reverse(found.Runs) // a store lists the newest fire first
	return found
}

// hours counts the runs that a filter selects by the hours of their fire times, at most 31 days of them.
func (r Requested) hours(ctx context.Context, f logstore.RunFilter) ([]api.RequestedHour, error) {
	begin := f.From.Truncate(time.Hour)
	at := func(i int) time.Time { return begin.Add(time.Duration(i) * time.Hour) }
	counts, err := r.countParts(ctx, f, at, min(int(f.To.Sub(begin)/time.Hour)+1, int(maxRange/time.Hour)))
	hours := []api.RequestedHour{}
	for i, n := range counts {
		if n > 0 {
			hours = append(hours, api.RequestedHour{From: at(i), Runs: n})
		}
	}
	return hours, err
}

// parts counts the requested runs that a filter selects in equal parts of (from, to]; nil if the log
// store does not answer.
func (r Requested) parts(ctx context.Context, f logstore.RunFilter, from, to time.Time, parts int) []int {
	step := to.Sub(from) / time.Duration(parts)
	counts, err := r.countParts(ctx, f, func(i int) time.Time {
		return from.Add(time.Duration(i) * step).Truncate(time.Millisecond).Add(time.Millisecond)
	}, parts)
	if err != nil {
		r.log.WarnContext(ctx, "requested runs cannot be counted", "error", err)
		return nil
	}
	return counts
}

// countParts counts the queued runs that a filter selects in equal parts of time, of which at tells where each
// begins. The range of the filter may cut them.
func (r Requested) countParts(ctx context.Context, f logstore.RunFilter, at func(int) time.Time, parts int) ([]int, error) {
	counts := make([]int, parts)
	begin, end := f.From, f.To
	for i, n := 0, 1; i < parts; i, n = i+n, 1 {
		if f.From, f.To = at(i), at(i+1); f.From.Before(begin) {
			f.From = begin
		} else {
			for n < min(parts-i, logstore.MaxParts) && !at(i+n+1).After(end) {
				n++
			}
			f.To = at(i + n)
		}
		if f.To.After(end) {
			f.To = end
		}
		if !f.From.Before(f.To) {
			continue
		}
		h, err := r.store.Histogram(ctx, f, n)
		if err != nil {
			return nil, err
		}
		for k, statuses := range h.All {
			counts[i+k] = statuses[job.StatusQueued]
		}
	}
	return counts, nil
}
