package logstore

import (
	"cmp"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Bounds of reports.
const (
	DefaultReportRows = 100
	MaxReportRows     = 5000
	maxCountedSpan    = 10 * 366 * 24 * time.Hour
	lastReportYear    = 9998 // RFC 3339 has four digits
	// byDays is from which span on a report without a step is made of whole days.
	byDays = 14 * 24 * time.Hour
)

// ReportFilter says what a report is to tell.
type ReportFilter struct {
	From, To time.Time  // fire time; widened to whole steps
	Jobs     []job.Name //
	Group    string     // executor group
	Groups   []string   // as of a [RunFilter]

	// By is what has a row of its own: group, job, and version with job; or group and
	// instance. Empty is all together.
	By   []runlog.Dimension
	Step runlog.Step // minutes are not known by job, version or instance
	// Zone is whose days a step of days has, or a range without a step. Defaults to UTC.
	Zone  *time.Location
	Order runlog.Order // defaults to time with a step, else to runs
	Limit int          // of rows: from 1 to MaxReportRows; defaults to DefaultReportRows
	// Times are what rows tell the times of; spreads of others are zero. To add one up
	// takes as long as all the counts do. Defaults to all; TimeNone alone is none.
	Times []runlog.Timing
	Total bool // of all rows together, too
}

// Validate returns an *InvalidError that names the first field that is wrong.
func (f *ReportFilter) Validate() error {
	runs := RunFilter{Jobs: f.Jobs, Group: f.Group, Groups: f.Groups}
	if err := runs.Validate(); err != nil {
		return err
	}
	has := func(d runlog.Dimension) bool { return slices.Contains(f.By, d) }
	for _, d := range f.By {
		if d == runlog.ByStatus || d == runlog.ByCause || !slices.Contains(runlog.Dimensions, d) {
			return job.Invalid("by", "%q must be group, job, version or instance", d)
		}
	}
	switch {
	case has(runlog.ByInstance) && (has(runlog.ByJob) || has(runlog.ByVersion) || len(f.Jobs) > 0):
		return job.Invalid("by", "instances are counted by group, and not by job or version")
	case has(runlog.ByVersion) && !has(runlog.ByJob):
		return job.Invalid("by", "has version without job, whose version it is")
	case f.Step != runlog.StepNone && !slices.Contains(runlog.Steps, f.Step):
		return job.Invalid("step", "%q must be one of %v", f.Step, runlog.Steps)
	case f.Step == runlog.StepMinute && (has(runlog.ByJob) || has(runlog.ByInstance) || len(f.Jobs) > 0):
		return job.Invalid("step", "minutes are counted by group, and not by job, version or instance")
	case f.Zone != nil && f.Step != runlog.StepDay && f.Step != runlog.StepNone:
		return job.Invalid("zone", "needs the step day, or none: it says when days begin")
	case f.Order != "" && !slices.Contains(runlog.Orders, f.Order):
		return job.Invalid("order", "%q must be one of %v", f.Order, runlog.Orders)
	case f.Limit < 0 || f.Limit > MaxReportRows:
		return job.Invalid("limit", "must be from 1 to %d", MaxReportRows)
	}
	for _, t := range f.Times {
		switch {
		case t == runlog.TimeNone && len(f.Times) > 1:
			return job.Invalid("times", "has none beside others")
		case t != runlog.TimeNone && !slices.Contains(runlog.Timings, t):
			return job.Invalid("times", "%q must be one of %v, or none", t, runlog.Timings)
		}
	}
	return checkRange(f.From, f.To)
}

func checkRange(from, to time.Time) error {
	switch {
	case from.IsZero():
		return job.Invalid("from", "is missing")
	case to.IsZero() || !to.After(from):
		return job.Invalid("to", "%s", refusal.MustLieAfter.With("from"))
	case to.Sub(from) > maxCountedSpan:
		return job.Invalid("to", "must lie within ten years of from")
	case to.UTC().Year() > lastReportYear: // the end of its step could not be written
		return job.Invalid("to", "must not lie after the year %d", lastReportYear)
	}
	return nil
}

// WithDefaults returns f with what is not set at its default, and the range in whole
// steps. A zone whose days of this range are those of UTC is left out.
func (f ReportFilter) WithDefaults() ReportFilter {
	if f.Order == "" {
		if f.Order = runlog.OrderRuns; f.Step != runlog.StepNone {
			f.Order = runlog.OrderTime
		}
	}
	f.Limit = cmp.Or(f.Limit, DefaultReportRows)
	if len(f.Times) == 0 {
		f.Times = runlog.Timings
	}
	if f.Zone != nil {
		days := f.Days()
		if f.From, f.To = days[0], days[len(days)-1]; !areOfUTC(days) {
			return f
		}
		f.Zone = nil
	}
	length := f.Unit().Length()
	f.From = f.From.UTC().Truncate(length)
	if to := f.To.UTC().Truncate(length); to.Before(f.To) {
		f.To = to.Add(length)
	} else {
		f.To = to
	}
	return f
}

// Tells reports whether rows are to tell the times of something, or need them for their
// order. It expects a filter with its defaults.
func (f *ReportFilter) Tells(t runlog.Timing) bool {
	return slices.Contains(f.Times, t) || t == runlog.TimeDuration && f.Order == runlog.OrderDuration || t == runlog.TimeStarted && f.Order == runlog.OrderLateness
}

// Unit is the step of the counts that the report adds up.
func (f *ReportFilter) Unit() runlog.Step {
	switch {
	case f.Zone != nil:
		return runlog.StepHour
	case f.Step != runlog.StepNone:
		return f.Step
	case f.To.Sub(f.From) > byDays:
		return runlog.StepDay
	}
	return runlog.StepHour
}

// Report is what became of the runs of a range of fire times.
type Report struct {
	From time.Time          `json:"from"` // what the rows cover: whole steps
	To   time.Time          `json:"to"`
	Rows []runlog.ReportRow `json:"rows"`
	// Total is that of all rows, those beyond the limit too, if it was asked for.
	Total runlog.ReportRow `json:"total"`
}

// SortReport puts rows into an order, and returns the first so many.
func SortReport(rows []runlog.ReportRow, order runlog.Order, limit int) []runlog.ReportRow {
	slices.SortFunc(rows, func(a, b runlog.ReportRow) int {
		byWhat := 0
		switch order {
		case runlog.OrderRuns:
			byWhat = cmp.Compare(b.Runs, a.Runs)
		case runlog.OrderFailures:
			byWhat = cmp.Compare(b.Failed(), a.Failed())
		case runlog.OrderRatio:
			byWhat = cmp.Or(cmp.Compare(b.FailureRatio, a.FailureRatio), cmp.Compare(b.Failed(), a.Failed()))
		case runlog.OrderDuration:
			byWhat = cmp.Compare(b.Duration.P95, a.Duration.P95)
		case runlog.OrderLateness:
			byWhat = cmp.Compare(b.Started.P95, a.Started.P95)
		case runlog.OrderTime:
		}
		return cmp.Or(byWhat, a.At.Compare(b.At), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Job, b.Job),
			cmp.Compare(a.Version, b.Version), cmp.Compare(a.Instance, b.Instance))
	})
	return rows[:min(len(rows), limit)]
}
