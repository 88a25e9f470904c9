package webapi

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/cron"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/month"
	"github.com/carillon-scheduler/carillon/webapi/problem"
	"github.com/carillon-scheduler/carillon/webapi/runs"
)

// reportHandlers answer requests about what runs add up to.
type reportHandlers struct {
	store   logstore.Store // as access.VisibleStore has it
	catalog *catalog.Catalog
	months  *month.Reporter
	mailer  *month.Mailer
}

// rangeOf returns the range of a report: the last day where it is not given.
func rangeOf(from, to, now time.Time) (time.Time, time.Time) {
	if to.IsZero() {
		to = now
	}
	if from.IsZero() {
		from = to.Add(-24 * time.Hour)
	}
	return from.UTC(), to.UTC()
}

// zoneOf returns the time zone with a name; nil if there is none.
func zoneOf(name string) (*time.Location, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // stores take no zone for UTC
	}
	zone, err := cron.LoadZone(name)
	if parse, ok := errors.AsType[*cron.ParseError](err); ok {
		return nil, job.Invalid(parse.Field, "%q %s", parse.Text, parse.Reason)
	} else if err != nil {
		return nil, err
	}
	return zone.Location(), nil
}

// within returns the jobs that a report is narrowed to, see [catalog.Search.Within].
func (h *reportHandlers) within(ctx context.Context, group, owner, tag string, named []string) ([]job.Name, error) {
	return h.catalog.Search().Within(ctx, catalog.Of{Group: group, Owner: owner, Tag: tag}, runs.Names(named))
}

// GetOverview answers GET /overview.
func (h *reportHandlers) GetOverview(ctx context.Context, r GetOverviewRequestObject) (*Overview, error) {
	p, now := r.Params, time.Now()
	from, to := rangeOf(p.From, p.To, now)
	zone, err := zoneOf(p.Zone)
	if err != nil {
		return nil, err
	}
	jobs, err := h.within(ctx, p.Group, p.Owner, p.Tag, nil)
	if err != nil {
		return nil, err
	}
	o, err := logstore.ReadOverview(ctx, h.store, logstore.OverviewFilter{From: from, To: to, Group: p.Group, Jobs: jobs, Top: p.Top, Zone: zone}, now)
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	return &o, nil
}

// ReportRuns answers GET /reports/runs.
func (h *reportHandlers) ReportRuns(ctx context.Context, r ReportRunsRequestObject) (*Report, error) {
	p, now := r.Params, time.Now()
	zone, err := zoneOf(p.Zone)
	if err != nil {
		return nil, err
	}
	filter := logstore.ReportFilter{Jobs: runs.Names(p.Job), Group: p.Group, By: p.By, Step: p.Step, Zone: zone, Order: p.Order, Limit: p.Limit, Times: p.Times}
	filter.From, filter.To = rangeOf(p.From, p.To, now)
	if err := filter.CheckDays(now); err != nil {
		return nil, err
	}
	report, err := h.store.Report(ctx, filter)
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	if err := h.judge(ctx, &filter, report.Rows); err != nil {
		return nil, err
	}
	return &Report{From: report.From, To: report.To, Items: append([]runlog.ReportRow{}, report.Rows...)}, nil
}

// judge compares rows that are each about a whole job with the jobs' targets.
func (h *reportHandlers) judge(ctx context.Context, f *logstore.ReportFilter, rows []runlog.ReportRow) error {
	whole := f.WithDefaults()
	if f.Step != runlog.StepNone || !slices.Equal(f.By, []runlog.Dimension{runlog.ByJob}) || !whole.Tells(runlog.TimeStarted) {
		return nil
	}
	names := make([]job.Name, len(rows))
	for i := range rows {
		names[i] = rows[i].Job
	}
	targets, err := h.catalog.Targets(ctx, names)
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].Target = rows[i].Against(targets[rows[i].Job])
	}
	return nil
}

// ReportFailures answers GET /reports/failures.
func (h *reportHandlers) ReportFailures(ctx context.Context, r ReportFailuresRequestObject) (*FailureList, error) {
	p := r.Params
	jobs, err := h.within(ctx, p.Group, p.Owner, p.Tag, p.Job)
	if err != nil {
		return nil, err
	}
	filter := logstore.FailureFilter{
		Jobs: jobs, Group: p.Group, Statuses: p.Status, Causes: runs.Causes(p.Cause), Instance: p.Instance, Version: p.Version, MinAttempt: p.MinAttempt, Error: p.Error,
		Limit: cmp.Or(p.Limit, logstore.DefaultFailures), Parts: p.Parts,
	}
	filter.From, filter.To = rangeOf(p.From, p.To, time.Now())
	found, err := h.store.Failures(ctx, filter)
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	return &FailureList{Items: found}, nil
}

// RepairReports answers POST /reports/days/{day}/repair.
func (h *reportHandlers) RepairReports(ctx context.Context, r RepairReportsRequestObject) (*none, error) {
	day, err := time.Parse(time.DateOnly, r.Day)
	if err != nil {
		return nil, job.Invalid("day", "must be a day in UTC, such as 2026-03-01")
	}
	if err := h.store.Repair(ctx, day); err != nil {
		return nil, problem.StoreAway(err)
	}
	return &none{}, nil
}

// CountRuns answers GET /runs/counts.
func (h *reportHandlers) CountRuns(ctx context.Context, r CountRunsRequestObject) (*RunCounts, error) {
	p := r.Params
	jobs, err := h.within(ctx, p.Group, p.Owner, p.Tag, p.Job)
	if err != nil {
		return nil, err
	}
	filter := logstore.RunFilter{
		Jobs: jobs, Group: p.Group, Statuses: p.Status, Causes: runs.Causes(p.Cause), Instance: p.Instance, Version: p.Version, From: p.From.UTC(), To: p.To.UTC(),
		MinAttempt: p.MinAttempt, Error: p.Error,
	}
	counts, err := h.store.Histogram(ctx, filter, cmp.Or(p.Parts, 1))
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	return &RunCounts{From: filter.From, To: filter.To, Items: counts.All, Scheduled: counts.Scheduled}, nil
}

// FacetRuns answers GET /runs/facets.
func (h *reportHandlers) FacetRuns(ctx context.Context, r FacetRunsRequestObject) (*RunFacets, error) {
	p := r.Params
	jobs, err := h.within(ctx, p.Group, p.Owner, p.Tag, p.Job)
	if err != nil {
		return nil, err
	}
	filter := logstore.FacetFilter{
		RunFilter: logstore.RunFilter{
			Jobs: jobs, Group: p.Group, Statuses: p.Status, Causes: runs.Causes(p.Cause), Instance: p.Instance, Version: p.Version, From: p.From.UTC(), To: p.To.UTC(),
			MinAttempt: p.MinAttempt, Error: p.Error,
		},
		By: p.By, Values: p.Values,
	}
	facets, err := h.store.Facets(ctx, filter)
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	if values, asked := facets[runlog.ByJob]; asked && p.Owner+p.Tag != "" { // by job, the store counts those of others, too
		facets[runlog.ByJob] = slices.DeleteFunc(values, func(v runlog.FacetValue) bool { return !slices.Contains(jobs, job.Name(v.Value)) })
	}
	return &RunFacets{Items: facets}, nil
}
