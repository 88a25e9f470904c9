package logstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

const (
	// trendByHours is up to which range an overview's trend is by hour.
	trendByHours = 72 * time.Hour
	// minutesKept is how far back stores know minutes.
	minutesKept = 8 * 24 * time.Hour
	// overviewAtOnce is how many questions an overview asks of its store at a time.
	overviewAtOnce = 2
)

// OverviewFilter says what an overview is of.
type OverviewFilter struct {
	From, To time.Time  // fire time; widened to whole steps
	Group    string     // executor group
	Jobs     []job.Name // these only; empty is any. Minutes are not counted by job, and none is the busiest
	Top      int        // how long its lists may be; defaults to 5
	// Zone is whose days the trend has, if it is by day. Defaults to UTC.
	Zone *time.Location
}

// ReadOverview asks a store for all of an overview, some of it at a time.
func ReadOverview(ctx context.Context, store Store, filter OverviewFilter, now time.Time) (runlog.Overview, error) {
	top := cmp.Or(filter.Top, 5)
	base := ReportFilter{From: filter.From, To: filter.To, Group: filter.Group, Jobs: filter.Jobs, Limit: MaxReportRows}
	if err := base.Validate(); err != nil {
		return runlog.Overview{}, err
	}
	trend := base
	trend.Order, trend.Total = runlog.OrderTime, true
	if trend.Step = runlog.StepHour; base.To.Sub(base.From) > trendByHours {
		trend.Step, trend.Zone = runlog.StepDay, filter.Zone
	}
	if err := trend.CheckDays(now); err != nil {
		return runlog.Overview{}, err
	}
	trend = trend.WithDefaults()
	o := runlog.Overview{From: trend.From, To: trend.To}
	report := func(f ReportFilter, into func(Report)) func() error {
		return func() error {
			r, err := store.Report(ctx, f)
			if err == nil {
				r.Rows = append([]runlog.ReportRow{}, r.Rows...)
				into(r)
			}
			return err
		}
	}
	slowest, failing, minutes := base, base, base
	slowest.By, slowest.Order, slowest.Limit, slowest.Times = []runlog.Dimension{runlog.ByJob}, runlog.OrderDuration, top, []runlog.Timing{runlog.TimeDuration}
	failing.By, failing.Order, failing.Limit, failing.Times = []runlog.Dimension{runlog.ByJob}, runlog.OrderRatio, top, []runlog.Timing{runlog.TimeNone}
	minutes.Step, minutes.Order, minutes.Limit, minutes.Times = runlog.StepMinute, runlog.OrderRuns, top, []runlog.Timing{runlog.TimeNone}
	if oldest := now.Add(-minutesKept); minutes.From.Before(oldest) {
		minutes.From = oldest
	}

	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(overviewAtOnce)
	g.Go(func() error {
		if err := report(failing, func(r Report) {
			o.Failing = slices.DeleteFunc(r.Rows, func(r runlog.ReportRow) bool { return r.Failed() == 0 })
		})(); err != nil {
			return err
		}
		if err := report(slowest, func(r Report) {
			o.Slowest = slices.DeleteFunc(r.Rows, func(r runlog.ReportRow) bool { return r.Duration.Count == 0 })
		})(); err != nil {
			return err
		}
		return addTimes(ctx, store, base, o.Slowest, o.Failing)
	})
	g.Go(report(trend, func(r Report) { o.Trend, o.Total = r.Rows, r.Total }))
	if o.Busiest = []runlog.ReportRow{}; len(filter.Jobs) == 0 && minutes.From.Before(minutes.To) {
		g.Go(report(minutes, func(r Report) { o.Busiest = r.Rows }))
	}
	g.Go(func() (err error) {
		o.Alive, err = store.Counts(ctx, RunFilter{Group: filter.Group, Jobs: filter.Jobs, Causes: job.CountedCauses, Statuses: []job.Status{job.StatusPending, job.StatusQueued, job.StatusRunning}})
		return err
	})
	g.Go(func() (err error) {
		o.Failures, err = store.Failures(ctx, FailureFilter{From: base.From, To: base.To, Group: filter.Group, Jobs: filter.Jobs, Causes: job.CountedCauses, Limit: top})
		return err
	})
	return o, g.Wait()
}

// addTimes adds to rows of jobs their times. To read those of all jobs takes long, and a
// second look at a few jobs hardly anything.
func addTimes(ctx context.Context, store Store, f ReportFilter, lists ...[]runlog.ReportRow) error {
	f.By, f.Jobs = []runlog.Dimension{runlog.ByJob}, nil
	for _, rows := range lists {
		for i := range rows {
			if !slices.Contains(f.Jobs, rows[i].Job) {
				f.Jobs = append(f.Jobs, rows[i].Job)
			}
		}
	}
	if len(f.Jobs) == 0 {
		return nil
	}
	r, err := store.Report(ctx, f)
	if err != nil {
		return err
	}
	for _, all := range r.Rows {
		for _, rows := range lists {
			if i := slices.IndexFunc(rows, func(row runlog.ReportRow) bool { return row.Job == all.Job }); i >= 0 {
				rows[i].Duration, rows[i].Committed, rows[i].Delivered, rows[i].Started, rows[i].Finished = all.Duration, all.Committed, all.Delivered, all.Started, all.Finished
			}
		}
	}
	return nil
}
