package alerts

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/alert"
	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/internal/estimate"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// maxDeadlines is how many live runs are considered, the newest first; the contract states it.
const maxDeadlines = 200

// Deadlines returns by when the live runs of a store must end, and when they will likely end: of one run if id is
// given.
func (a *Alerts) Deadlines(ctx context.Context, jobs *catalog.Search, store logstore.Store, id string) (api.DeadlineList, error) {
	list := api.DeadlineList{Items: []api.Deadline{}}
	live, err := liveRuns(ctx, store, id)
	if err != nil || len(live) == 0 {
		return list, err
	}
	rules, err := a.book.Rules(ctx)
	if err != nil {
		return list, err
	}
	var names []job.Name
	for i := range live {
		names = append(names, live[i].Job)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	found, err := jobs.Find(ctx, catalog.Filter{Jobs: names}, "", "", len(names))
	if err != nil {
		return list, err
	}
	versions := map[job.Name]*job.Version{}
	for _, e := range found.Entries {
		versions[e.Job.Job] = &e.Version
	}
	for i := range live {
		if v := versions[live[i].Job]; v != nil {
			if d, ok := deadlineOf(&live[i], v, rules); ok {
				list.Items = append(list.Items, d)
			}
		}
	}
	if err := expect(ctx, store, list.Items, live); err != nil {
		return list, err
	}
	slices.SortStableFunc(list.Items, func(a, b api.Deadline) int {
		if a.Late != b.Late {
			return map[bool]int{true: -1, false: 1}[a.Late]
		}
		return a.At.Compare(b.At)
	})
	return list, nil
}

// liveRuns returns the newest live runs, each by its newest attempt: one if id is given. Those that wait for a later
// time are not alive yet.
func liveRuns(ctx context.Context, store logstore.Store, id string) ([]runlog.Run, error) {
	if id == "" {
		page, err := store.Runs(ctx, logstore.RunFilter{
			Statuses: []job.Status{job.StatusPending, job.StatusQueued, job.StatusRunning}, Causes: job.CountedCauses, Limit: maxDeadlines,
			To: time.Now().Add(logstore.ClocksApart),
		})
		return page.Runs, problem.StoreAway(err)
	}
	asked, err := job.ParseRunID(id)
	if err != nil {
		return nil, err
	}
	attempts, err := store.Run(ctx, asked)
	if errors.Is(err, job.ErrNotFound) {
		return nil, nil // it is too new to be stored
	}
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	run := attempts[0]
	if run.RunStatus().Final() || !run.Cause.Counted() || run.FireTime.After(time.Now().Add(logstore.ClocksApart)) {
		return nil, nil
	}
	run.FirstDecidedAt = attempts[len(attempts)-1].DecidedAt()
	return []runlog.Run{run}, nil
}

// deadlineOf returns the first deadline of a live run. ok is false if it has none.
func deadlineOf(r *runlog.Run, v *job.Version, rules []alert.Entry[alerting.Rule]) (first api.Deadline, ok bool) {
	consider := func(limit job.Duration, from time.Time, by api.DeadlineBy, rule string) {
		at := from.Add(limit.Std())
		if limit > 0 && !from.IsZero() && (!ok || at.Before(first.At)) {
			first, ok = api.Deadline{Job: r.Job, RunID: r.RunID, At: at, By: by, Alert: rule}, true
		}
	}
	if v.Version == r.Version { // the limits of a run are those of its version
		if r.RunStatus() == job.StatusRunning {
			consider(v.Timeout, r.StartedAt, api.DeadlineByTimeout, "")
		}
		from := r.RunDecidedAt()
		if r.FireTime.After(from) { // it was requested for a later time
			from = r.FireTime
		}
		consider(v.TotalTimeout, from, api.DeadlineByTotalTimeout, "")
	}
	for i := range rules {
		rule := &rules[i].Doc
		if !rule.Disabled && rule.Match.Selects(r.Job, func(job.Name) job.Labels { return v.Labels }) {
			consider(rule.When.EndsWithin, r.FireTime, api.DeadlineByAlert, rule.Alert)
		}
	}
	return first, ok
}

// expect adds to deadlines when their runs will likely end.
func expect(ctx context.Context, store logstore.Store, deadlines []api.Deadline, live []runlog.Run) error {
	if len(deadlines) == 0 {
		return nil
	}
	began := map[job.RunID]time.Time{}
	for i := range live {
		if live[i].RunStatus() == job.StatusRunning {
			began[live[i].RunID] = live[i].StartedAt
		}
	}
	var names []job.Name
	for i := range deadlines {
		names = append(names, deadlines[i].Job)
	}
	slices.Sort(names)
	last, err := store.LastRuns(ctx, slices.Compact(names), logstore.MaxLastRuns)
	if err != nil {
		return problem.StoreAway(err)
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	for i := range deadlines {
		d := &deadlines[i]
		e, ok := estimate.End(tookOf(last[d.Job]), began[d.RunID], now)
		if ok {
			d.ExpectedEnd, d.UsualMs, d.Runs = e.End, e.Usual.Milliseconds(), e.Runs
		}
		d.Late = now.After(d.At) || d.ExpectedEnd.After(d.At)
	}
	return nil
}

// tookOf returns how long the runs took that succeeded.
func tookOf(runs []runlog.Run) []time.Duration {
	var took []time.Duration
	for i := range runs {
		if r := &runs[i]; r.RunStatus() == job.StatusSucceeded && !r.StartedAt.IsZero() && r.FinishedAt.After(r.StartedAt) {
			took = append(took, r.FinishedAt.Sub(r.StartedAt))
		}
	}
	return took
}
