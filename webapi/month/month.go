package month

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// Bounds of a report's lists; the contract states them.
const (
	mostReasons  = 20
	mostTargets  = 200
	mostFailures = 10
	mostSlowest  = 10
	mostChanges  = 20
)

// atOnce is how many questions a report asks at a time.
const atOnce = 2

// Reporter makes reports of months. It is safe for concurrent use. Who calls is in the context, see
// package access.
type Reporter struct {
	store logstore.Store // as access.VisibleStore has it
	jobs  *catalog.Search
	audit *auditlog.Recorder
}

// New returns a reporter.
func New(store logstore.Store, jobs *catalog.Search, audit *auditlog.Recorder) *Reporter {
	return &Reporter{store, jobs, audit}
}

// Request says which month, of which jobs.
type Request struct {
	Month string         // such as 2026-10
	Zone  *time.Location // nil is UTC
	Of    catalog.Of
}

// Read returns the report of a month, as far as it is over. Errors: job.ErrInvalid, which names the
// parameter; job.ErrUnavailable.
func (r *Reporter) Read(ctx context.Context, q Request, now time.Time) (*api.MonthReport, error) {
	if q.Zone == nil {
		q.Zone = time.UTC
	}
	m, err := parseSpan(q.Month, q.Zone, now)
	if err != nil {
		return nil, err
	}
	scope, err := r.jobs.Scope(ctx, q.Of)
	if err != nil {
		return nil, err
	}
	made := &making{r, scope, r.side(m, q.Of, scope), r.side(m.before(), q.Of, scope), &api.MonthReport{
		Month: q.Month, Zone: q.Zone.String(), Group: q.Of.Group, Owner: q.Of.Owner, Tag: q.Of.Tag, Jobs: scope.Jobs,
	}}
	made.From, made.To = made.now.from, made.now.to
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, part := range []func(context.Context) error{made.addTotals, made.addSlowest, made.addTargets, made.addFailures, made.addReasons} {
		g.Go(func() error { return problem.StoreAway(part(ctx)) })
	}
	g.Go(func() error { return made.addChanges(ctx, q.Of) })
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if q.Of.Group != "" && scope.Jobs == 0 && made.Total.Runs == 0 && made.Before.Runs == 0 {
		return nil, job.Invalid("group", "%s", refusal.NoJobOfGroup.With(q.Of.Group))
	}
	return made.MonthReport, nil
}

// side is one of the two months that are compared.
type side struct {
	base     logstore.ReportFilter
	from, to time.Time
}

func (r *Reporter) side(m span, of catalog.Of, scope catalog.Scope) side {
	s := side{base: m.filter()}
	s.base.Group, s.base.Jobs = of.Group, scope.Names
	s.from, s.to = m.bounds()
	return s
}

// runs returns the filter of the runs of the month that reports count.
func (s *side) runs() logstore.RunFilter {
	return logstore.RunFilter{From: s.from, To: s.to, Group: s.base.Group, Jobs: s.base.Jobs, Causes: job.CountedCauses}
}

// making is a report that is being made. Its parts are made at the same time, and each fills fields of
// its own.
type making struct {
	*Reporter
	scope       catalog.Scope
	now, before side
	*api.MonthReport
}

func (m *making) addTotals(ctx context.Context) error {
	var err error
	if m.Total, err = m.total(ctx, &m.now); err != nil {
		return err
	}
	if m.Before, err = m.total(ctx, &m.before); err != nil {
		return err
	}
	return m.addRunsSince(ctx)
}

// addRunsSince adds since when runs are kept, if days before that have counts.
func (m *making) addRunsSince(ctx context.Context) error {
	stats, err := m.store.Stats(ctx)
	if err != nil {
		return err
	}
	gone := m.before.base
	gone.Zone, gone.Times = nil, []runlog.Timing{runlog.TimeNone}
	gone.From, gone.To = m.before.from, stats.OldestRun.UTC().Truncate(logstore.Day)
	if m.now.to.Before(gone.To) {
		gone.To = m.now.to
	}
	if !gone.To.After(gone.From) {
		return nil
	}
	found, err := m.store.Report(ctx, gone)
	if err == nil && len(found.Rows) > 0 {
		m.RunsSince = stats.OldestRun
	}
	return err
}

func (m *making) total(ctx context.Context, s *side) (runlog.ReportRow, error) {
	found, err := m.store.Report(ctx, s.base)
	if err != nil || len(found.Rows) == 0 {
		return runlog.ReportRow{Statuses: map[job.Status]int{}}, err
	}
	return found.Rows[0], nil
}

func (m *making) addSlowest(ctx context.Context) error {
	slow := m.now.base
	slow.By, slow.Order, slow.Limit, slow.Times = []runlog.Dimension{runlog.ByJob}, runlog.OrderDuration, mostSlowest, []runlog.Timing{runlog.TimeDuration}
	found, err := m.store.Report(ctx, slow)
	if err != nil {
		return err
	}
	rows := slices.DeleteFunc(found.Rows, func(r runlog.ReportRow) bool { return r.Duration.Count == 0 })
	m.Slowest, err = m.compared(ctx, rows, slow.Times)
	return err
}

// targetTimes are what a verdict needs.
var targetTimes = []runlog.Timing{runlog.TimeStarted}

func (m *making) addTargets(ctx context.Context) error {
	if m.Targets = []api.MonthJob{}; len(m.scope.Targets) == 0 {
		return nil
	}
	judged := m.now.base
	judged.By, judged.Times = []runlog.Dimension{runlog.ByJob}, targetTimes
	judged.Jobs = slices.Sorted(maps.Keys(m.scope.Targets))
	judged.Jobs = judged.Jobs[:min(len(judged.Jobs), logstore.MaxReportRows)]
	found, err := m.store.Report(ctx, judged)
	if err != nil {
		return err
	}
	rows := found.Rows
	for i := range rows {
		rows[i].Target = rows[i].Against(m.scope.Targets[rows[i].Job])
	}
	rows = slices.DeleteFunc(rows, func(r runlog.ReportRow) bool { return r.Target == nil })
	slices.SortFunc(rows, func(a, b runlog.ReportRow) int {
		return cmp.Or(compareBool(a.Target.Met, b.Target.Met), cmp.Compare(a.Target.Budget, b.Target.Budget), cmp.Compare(a.Job, b.Job))
	})
	m.Targets, err = m.compared(ctx, rows[:min(len(rows), mostTargets)], targetTimes)
	for i := range m.Targets {
		m.Targets[i].Before.Target = m.Targets[i].Before.Against(m.scope.Targets[m.Targets[i].Job])
	}
	return err
}

// compareBool puts false first.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// compared returns rows of jobs beside those of the month before.
func (m *making) compared(ctx context.Context, rows []runlog.ReportRow, times []runlog.Timing) ([]api.MonthJob, error) {
	jobs := make([]api.MonthJob, len(rows))
	if len(rows) == 0 {
		return jobs, nil
	}
	past := m.before.base
	past.By, past.Times, past.Jobs = []runlog.Dimension{runlog.ByJob}, times, nil
	for i := range rows {
		past.Jobs = append(past.Jobs, rows[i].Job)
	}
	found, err := m.store.Report(ctx, past)
	if err != nil {
		return nil, err
	}
	was := map[job.Name]runlog.ReportRow{}
	for _, r := range found.Rows {
		was[r.Job] = r
	}
	for i, r := range rows {
		before, ran := was[r.Job]
		if !ran {
			before = runlog.ReportRow{Job: r.Job, Statuses: map[job.Status]int{}}
		}
		jobs[i] = api.MonthJob{Job: r.Job, Total: r, Before: before}
	}
	return jobs, nil
}

func (m *making) addFailures(ctx context.Context) error {
	failures := func(s *side, limit int) ([]runlog.Failure, error) {
		return m.store.Failures(ctx, logstore.FailureFilter{From: s.from, To: s.to, Group: s.base.Group, Jobs: s.base.Jobs, Causes: job.CountedCauses, Limit: limit})
	}
	found, err := failures(&m.now, mostFailures)
	if m.Failures = []api.MonthFailure{}; err != nil || len(found) == 0 {
		return err
	}
	past, err := failures(&m.before, logstore.MaxFailures)
	if err != nil {
		return err
	}
	was := map[string]int{}
	for i := range past {
		was[past[i].Fingerprint] = past[i].Attempts
	}
	for _, f := range found {
		m.Failures = append(m.Failures, api.MonthFailure{Failure: f, Before: was[f.Fingerprint]})
	}
	return nil
}

// absent are the statuses of fires that did not run.
var absent = []job.Status{job.StatusSkipped, job.StatusMissed}

func (m *making) addReasons(ctx context.Context) error {
	found, err := m.reasons(ctx, &m.now)
	if m.Reasons = []api.MonthReason{}; err != nil || len(found) == 0 {
		return err
	}
	past, err := m.reasons(ctx, &m.before)
	if err != nil {
		return err
	}
	for key, r := range found {
		r.Before = past[key].Fires
		m.Reasons = append(m.Reasons, r)
	}
	slices.SortFunc(m.Reasons, func(a, b api.MonthReason) int {
		return cmp.Or(cmp.Compare(b.Fires, a.Fires), cmp.Compare(a.Status, b.Status), cmp.Compare(a.Reason, b.Reason))
	})
	m.Reasons = m.Reasons[:min(len(m.Reasons), mostReasons)]
	return nil
}

// reasonKey tells reasons apart that differ in more than numbers.
type reasonKey struct {
	status      job.Status
	fingerprint string
}

// reasons counts the fires of a month that did not run. Of reasons that differ only in numbers, the most
// frequent stands for all.
func (m *making) reasons(ctx context.Context, s *side) (map[reasonKey]api.MonthReason, error) {
	counts := map[reasonKey]api.MonthReason{}
	for _, status := range absent {
		f := logstore.FacetFilter{RunFilter: s.runs(), By: []runlog.Dimension{runlog.ByReason}, Values: logstore.MaxFacetValues}
		f.Statuses = []job.Status{status}
		found, err := m.store.Facets(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, v := range found[runlog.ByReason] {
			key := reasonKey{status, logstore.Fingerprint(v.Value)}
			r, seen := counts[key]
			if !seen {
				r = api.MonthReason{Status: status, Reason: reason.Text(v.Value)}
			}
			r.Fires += v.Count
			counts[key] = r
		}
	}
	return counts, nil
}
