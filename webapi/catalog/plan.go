package catalog

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

const (
	// maxRange is the longest range of fires; the contract states it.
	maxRange = 31 * 24 * time.Hour
	// maxCounted bounds the fires that one request counts: a tenth of a second's work.
	maxCounted = 2_000_000
	// firesPerJob is how many fires a job has in a list by default; the contract
	// states it.
	firesPerJob = 100
)

// Fires returns a page of jobs with their fires in a range.
func (c *Catalog) Fires(ctx context.Context, p *api.ListFiresParams) (api.FirePage, error) {
	from, to, err := rangeAhead(p.From, p.To)
	if err != nil {
		return api.FirePage{}, err
	}
	if p.Group != "" {
		if err := job.CheckSlug("group", p.Group); err != nil {
			return api.FirePage{}, err
		}
	}
	q := query{group: p.Group, text: strings.ToLower(p.Q), firing: true, after: job.Name(p.Cursor), limit: cmp.Or(p.Limit, pageSize)}
	if err := c.Search().narrow(ctx, &q, Of{p.Group, p.Owner, p.Tag}); err != nil {
		return api.FirePage{}, err
	}
	entries, _, more, err := c.index.find(ctx, q)
	if err != nil {
		return api.FirePage{}, problem.Explain(err, refusal.JobsNotLoaded.String())
	}
	page := api.FirePage{From: from, To: to, Items: []api.JobFires{}}
	f := c.forecast(from)
	var week map[job.Name]api.JobWeek
	if p.Usual {
		week = c.week.usual(ctx)
	}
	for _, e := range entries {
		fires, err := f.within(ctx, e, to, cmp.Or(p.PerJob, firesPerJob))
		if err != nil {
			return api.FirePage{}, err
		}
		fires.UsualMs = week[e.Job.Job].P50Ms
		if !p.Excluded {
			fires.Excluded = nil
		}
		if len(fires.Fires)+len(fires.Excluded) > 0 {
			page.Items = append(page.Items, fires)
		}
	}
	if more {
		page.Next = string(entries[len(entries)-1].Job.Job)
	}
	if p.Requested && p.Cursor == "" {
		page.Requested, err = RequestedOf(c).matching(ctx, &q, from, to)
	}
	return page, err
}

// CountFires counts the fires of all jobs in each part of a range.
func (c *Catalog) CountFires(ctx context.Context, p *api.CountFiresParams) (api.FireCounts, error) {
	from, to, err := rangeAhead(p.From, p.To)
	if err != nil {
		return api.FireCounts{}, err
	}
	if p.Group != "" {
		if err := job.CheckSlug("group", p.Group); err != nil {
			return api.FireCounts{}, err
		}
	}
	var apart time.Duration
	if p.Apart != "" {
		if apart, err = job.ParseDuration(p.Apart); err != nil || apart < 0 {
			return api.FireCounts{}, job.Invalid("apart", "%q must be a length of time, such as 5m", p.Apart)
		}
	}
	q := query{group: p.Group, firing: true}
	if err := c.Search().narrow(ctx, &q, Of{p.Group, p.Owner, p.Tag}); err != nil {
		return api.FireCounts{}, err
	}
	count := counter{forecast: c.forecast(from), apart: apart, left: maxCounted, FireCounts: api.FireCounts{
		From: from, To: to, Counts: make([]int, cmp.Or(p.Parts, 1)), Complete: true,
	}}
	if p.Load {
		count.Minutes = make([]int, minutesOfHour)
		if count.week = c.week.usual(ctx); count.week != nil {
			count.SlotMs = make([]int64, len(count.Counts))
		}
	}
	err = c.index.eachPlan(ctx, q, func(name job.Name, plan job.Plan) bool {
		return count.add(ctx, name, plan)
	})
	if err = cmp.Or(err, count.err); err != nil {
		return api.FireCounts{}, problem.Explain(err, refusal.JobsNotLoaded.String())
	}
	if p.Requested {
		f := waiting(from, to)
		f.Group, f.Jobs = p.Group, slices.Collect(maps.Keys(q.jobs))
		count.Requested = RequestedOf(c).parts(ctx, f, from, to, len(count.Counts))
	}
	return count.FireCounts, nil
}

// rangeAhead returns a range of time to plan for.
func rangeAhead(from, to time.Time) (time.Time, time.Time, error) {
	if from.IsZero() {
		from = time.Now()
	}
	from, to = from.UTC().Truncate(time.Millisecond), to.UTC().Truncate(time.Millisecond)
	switch {
	case !to.After(from):
		return from, to, &job.InvalidError{Field: "to", Reason: refusal.MustLieAfter.With("from")}
	case to.Sub(from) > maxRange:
		return from, to, job.Invalid("to", "must lie at most 31 days after from")
	}
	return from, to, nil
}

// plan returns the fires of a stored job as a history with one version. ok is false
// for a job that was valid where it was saved, and is not here: a list must not fail
// for it.
func (f *forecast) plan(e *bus.JobEntry) (h job.History, ok bool, err error) {
	plan, err := f.planner.Plan(&e.Version)
	if errors.Is(err, job.ErrInvalid) {
		return nil, false, nil
	}
	return job.History{plan}, err == nil, err
}

// within returns the first n fires of a stored job up to the given instant that neither
// a calendar nor somebody skips, nor a pause; with them the first n that calendars exclude.
func (f *forecast) within(ctx context.Context, e *bus.JobEntry, to time.Time, n int) (api.JobFires, error) {
	fires := api.JobFires{Job: e.Job.Job, Fires: []time.Time{}}
	history, ok, err := f.plan(e)
	if !ok {
		return fires, err
	}
	fires.Offset = job.Duration(time.Duration(history[0].Offset) * time.Millisecond)
	history.Fires(0, f.after.UnixMilli(), to.UnixMilli(), func(fire job.Fire) bool {
		if history[0].WhyOff(fire.At) != "" || f.paused.skips(e.Job.Job.Group(), fire.At) {
			return true
		}
		why, none, failed := f.judge(ctx, &history[0], fire.At)
		if err = failed; err != nil || none {
			return err == nil
		}
		if why != "" {
			if len(fires.Excluded) < n {
				fires.Excluded = append(fires.Excluded, time.UnixMilli(fire.Due).UTC())
			}
			return true
		}
		if fires.More = len(fires.Fires) == n; !fires.More {
			fires.Fires = append(fires.Fires, time.UnixMilli(fire.Due).UTC())
		}
		return !fires.More
	})
	return fires, err
}
