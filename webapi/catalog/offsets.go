package catalog

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

const (
	// maxOffsetRange is the longest range for which offsets are suggested; the contract
	// states it.
	maxOffsetRange = 24 * time.Hour
	// mostOffsets bounds the suggestions of one answer: more nobody would review.
	mostOffsets = 200
	// leastGap is how far apart a job's fires must be for it to be moved at all.
	leastGap = 4 * time.Minute
)

// spreads are the lengths over which a job may be asked to spread, the longest first.
var spreads = []time.Duration{10 * time.Minute, 5 * time.Minute, 2 * time.Minute, time.Minute}

// SuggestOffsets returns the jobs of crowded minutes that could as well fire a little later.
func (c *Catalog) SuggestOffsets(ctx context.Context, p *api.SuggestOffsetsParams) (api.OffsetSuggestions, error) {
	from, to, err := rangeAhead(p.From, p.To)
	if err != nil {
		return api.OffsetSuggestions{}, err
	}
	if to.Sub(from) > maxOffsetRange {
		return api.OffsetSuggestions{}, job.Invalid("to", "must lie at most 24 hours after from")
	}
	if p.Group != "" {
		if err := job.CheckSlug("group", p.Group); err != nil {
			return api.OffsetSuggestions{}, err
		}
	}
	q := query{group: p.Group, firing: true, limit: logstore.MaxRuns}
	plan := crowding{from: from.UnixMilli(), to: to.UnixMilli(), left: maxCounted}
	skipped := c.index.pauses.now(from)
	for more := true; more; {
		var entries []*bus.JobEntry
		if entries, _, more, err = c.index.find(ctx, q); err != nil {
			return api.OffsetSuggestions{}, problem.Explain(err, refusal.JobsNotLoaded.String())
		}
		for _, e := range entries {
			q.after = e.Job.Job
			if skipped[e.Job.Job.Group()].Paused {
				continue
			}
			if err := plan.add(e); err != nil {
				return api.OffsetSuggestions{}, err
			}
		}
	}
	items, before, after := plan.suggest()
	return api.OffsetSuggestions{From: from, To: to, BusiestBefore: before, BusiestAfter: after, Items: items}, nil
}

// crowding finds the minutes of a range in which many jobs fire at once, and the jobs
// that could as well fire a little later. Instants are Unix milliseconds.
type crowding struct {
	from, to int64 // exclusive, inclusive
	left     int   // how many more fires are looked at

	planner job.Planner
	jobs    []crowded
}

// crowded is a job that fires within the range.
type crowded struct {
	entry  *bus.JobEntry
	fires  []int64       // when they are due
	spread time.Duration // over which it could be spread; 0 is not at all
	moved  []int64       // when they would be due then
	crowd  int           // how many fires that can move the fullest of its minutes has
}

// add looks at a job's fires. One that was valid where it was saved, and is not here,
// is left out.
func (c *crowding) add(e *bus.JobEntry) error {
	fires, gap, err := c.fires(e)
	if err != nil || len(fires) == 0 {
		return err
	}
	next := crowded{entry: e, fires: fires}
	kind := e.Schedule.Kind()
	if e.Schedule.Spread == 0 && (kind.OnWall() || kind == job.KindFixedRate) && gap >= leastGap {
		next.spread = spreads[slices.IndexFunc(spreads, func(s time.Duration) bool { return s <= gap/4 })]
		spread := *e
		spread.Schedule.Spread = job.Duration(next.spread)
		if next.moved, _, err = c.fires(&spread); err != nil {
			return err
		}
	}
	c.jobs = append(c.jobs, next)
	return nil
}

// fires returns when the fires of a job within the range are due, and how far its
// first two are apart, at most a day.
func (c *crowding) fires(e *bus.JobEntry) (due []int64, gap time.Duration, err error) {
	plan, err := c.planner.Plan(&e.Version)
	if errors.Is(err, job.ErrInvalid) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	const day = 24 * time.Hour
	gap = day
	var first int64
	seen := 0
	job.History{plan}.Fires(0, c.from, c.from+2*day.Milliseconds(), func(f job.Fire) bool {
		if !plan.Nominal(f.At) {
			return true
		}
		switch seen++; seen {
		case 1:
			first = f.At
		case 2:
			gap = min(day, time.Duration(f.At-first)*time.Millisecond)
		}
		if f.Due <= c.to && c.left > 0 {
			c.left--
			due = append(due, f.Due)
		}
		return seen < 2 || f.Due <= c.to && c.left > 0
	})
	return due, gap, nil
}

// suggest returns the jobs that fire in crowded minutes and could be spread, those in
// the most crowded first, and how many fires the busiest minute has before and after.
func (c *crowding) suggest() (items []api.OffsetSuggestion, before, after int) {
	minute := func(at int64) int64 { return at / time.Minute.Milliseconds() }
	load, canMove := map[int64]int{}, map[int64]int{}
	total := 0
	for i := range c.jobs {
		for _, at := range c.jobs[i].fires {
			load[minute(at)]++
			if c.jobs[i].spread > 0 {
				canMove[minute(at)]++
				total++
			}
		}
	}
	minutes := max(1, (c.to-c.from)/time.Minute.Milliseconds())
	// More than twice what there would be if all that can move were spread evenly. Jobs that fire
	// every few seconds would hide the others: what they add is the same in each minute.
	limit := 2*total/int(minutes) + 2
	var movable []*crowded
	for i := range c.jobs {
		j := &c.jobs[i]
		for _, at := range j.fires {
			j.crowd = max(j.crowd, canMove[minute(at)])
		}
		if j.spread > 0 && j.crowd > limit {
			movable = append(movable, j)
		}
	}
	slices.SortStableFunc(movable, func(a, b *crowded) int { return cmp.Compare(b.crowd, a.crowd) })
	movable = movable[:min(len(movable), mostOffsets)]
	for _, n := range load {
		before = max(before, n)
	}
	items = make([]api.OffsetSuggestion, 0, len(movable))
	for _, j := range movable {
		items = append(items, api.OffsetSuggestion{Job: string(j.entry.Job.Job), Fires: len(j.fires), Spread: job.Duration(j.spread)})
	}
	for _, j := range movable {
		for _, at := range j.fires {
			load[minute(at)]--
		}
		for _, at := range j.moved {
			load[minute(at)]++
		}
	}
	for _, n := range load {
		after = max(after, n)
	}
	return items, before, after
}
