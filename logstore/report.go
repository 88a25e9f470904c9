package logstore

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"carillon/job"
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

// Step is how long each row of a report lasts. Days begin at midnight UTC.
type Step string

// The steps.
const (
	StepNone   Step = "" // a row is about the whole range
	StepMinute Step = "minute"
	StepHour   Step = "hour"
	StepDay    Step = "day"
)

// Steps are those that people may ask for.
var Steps = []Step{StepMinute, StepHour, StepDay}

// Length returns how long a step is.
func (s Step) Length() time.Duration {
	switch s {
	case StepMinute:
		return time.Minute
	case StepDay:
		return 24 * time.Hour
	case StepHour, StepNone:
	}
	return time.Hour
}

// Order says which rows of a report come first.
type Order string

// The orders.
const (
	OrderTime     Order = "time"     // the oldest
	OrderRuns     Order = "runs"     // the most runs
	OrderFailures Order = "failures" // the most that failed, timed out or were lost
	OrderRatio    Order = "ratio"    // the highest share of those
	OrderDuration Order = "duration" // the longest attempts, by their 95th percentile
	OrderLateness Order = "lateness" // the latest starts, by their 95th percentile
)

// Orders are all of them.
var Orders = []Order{OrderTime, OrderRuns, OrderFailures, OrderRatio, OrderDuration, OrderLateness}

// Timing is something that a report tells the times of.
type Timing string

// All of them but TimeNone are named as the fields of [ReportRow] are.
const (
	TimeDuration  Timing = "duration"
	TimeCommitted Timing = "committed_after"
	TimeDelivered Timing = "delivered_after"
	TimeStarted   Timing = "started_after"
	TimeFinished  Timing = "finished_after"
	TimeNone      Timing = "none"
)

// Timings are all that there are.
var Timings = []Timing{TimeDuration, TimeCommitted, TimeDelivered, TimeStarted, TimeFinished}

// ReportFilter says what a report is to tell.
type ReportFilter struct {
	From, To time.Time  // fire time; widened to whole steps
	Jobs     []job.Name //
	Group    string     // executor group
	Groups   []string   // one of these executor groups; nil is any

	// By is what has a row of its own: group, job, and version with job; or group and
	// instance. Empty is all together.
	By    []Dimension
	Step  Step  // minutes are not known by job, version or instance
	Order Order // defaults to time with a step, else to runs
	Limit int   // of rows: from 1 to MaxReportRows; defaults to DefaultReportRows
	// Times are what rows tell the times of; spreads of others are zero. To add one up
	// takes as long as all the counts do. Defaults to all; TimeNone alone is none.
	Times []Timing
	Total bool // of all rows together, too
}

// Validate returns an *InvalidError that names the first field that is wrong.
func (f *ReportFilter) Validate() error {
	runs := RunFilter{Jobs: f.Jobs, Group: f.Group, Groups: f.Groups}
	if err := runs.Validate(); err != nil {
		return err
	}
	has := func(d Dimension) bool { return slices.Contains(f.By, d) }
	for _, d := range f.By {
		if d == ByStatus || d == ByCause || !slices.Contains(Dimensions, d) {
			return invalid("by", "%q must be group, job, version or instance", d)
		}
	}
	switch {
	case has(ByInstance) && (has(ByJob) || has(ByVersion) || len(f.Jobs) > 0):
		return invalid("by", "instances are counted by group, and not by job or version")
	case has(ByVersion) && !has(ByJob):
		return invalid("by", "has version without job, whose version it is")
	case f.Step != StepNone && !slices.Contains(Steps, f.Step):
		return invalid("step", "%q must be one of %v", f.Step, Steps)
	case f.Step == StepMinute && (has(ByJob) || has(ByInstance) || len(f.Jobs) > 0):
		return invalid("step", "minutes are counted by group, and not by job, version or instance")
	case f.Order != "" && !slices.Contains(Orders, f.Order):
		return invalid("order", "%q must be one of %v", f.Order, Orders)
	case f.Limit < 0 || f.Limit > MaxReportRows:
		return invalid("limit", "must be from 1 to %d", MaxReportRows)
	}
	for _, t := range f.Times {
		switch {
		case t == TimeNone && len(f.Times) > 1:
			return invalid("times", "has none beside others")
		case t != TimeNone && !slices.Contains(Timings, t):
			return invalid("times", "%q must be one of %v, or none", t, Timings)
		}
	}
	return checkRange(f.From, f.To)
}

func checkRange(from, to time.Time) error {
	switch {
	case from.IsZero():
		return invalid("from", "is missing")
	case to.IsZero() || !to.After(from):
		return invalid("to", "must lie after from")
	case to.Sub(from) > maxCountedSpan:
		return invalid("to", "must lie within ten years of from")
	case to.UTC().Year() > lastReportYear: // the end of its step could not be written
		return invalid("to", "must not lie after the year %d", lastReportYear)
	}
	return nil
}

// WithDefaults returns f with what is not set at its default, and the range in whole
// steps.
func (f ReportFilter) WithDefaults() ReportFilter {
	if f.Order == "" {
		if f.Order = OrderRuns; f.Step != StepNone {
			f.Order = OrderTime
		}
	}
	f.Limit = cmp.Or(f.Limit, DefaultReportRows)
	if len(f.Times) == 0 {
		f.Times = Timings
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
func (f *ReportFilter) Tells(t Timing) bool {
	return slices.Contains(f.Times, t) || t == TimeDuration && f.Order == OrderDuration || t == TimeStarted && f.Order == OrderLateness
}

// Unit is the step of which the report is made.
func (f *ReportFilter) Unit() Step {
	switch {
	case f.Step != StepNone:
		return f.Step
	case f.To.Sub(f.From) > byDays:
		return StepDay
	}
	return StepHour
}

// Report is what became of the runs of a range of fire times.
type Report struct {
	From time.Time   `json:"from"` // what the rows cover: whole steps
	To   time.Time   `json:"to"`
	Rows []ReportRow `json:"rows"`
	// Total is that of all rows, those beyond the limit too, if it was asked for.
	Total ReportRow `json:"total"`
}

// ReportRow is what became of some of them.
type ReportRow struct {
	At       time.Time `json:"at,omitzero"` // when the step begins
	Group    string    `json:"group,omitempty"`
	Job      job.Name  `json:"job,omitempty"`
	Version  int       `json:"version,omitempty"`
	Instance string    `json:"instance,omitempty"`

	// Runs is how many fires have come to an end, and Statuses which; of an instance, it
	// is how many attempts.
	Runs     int                `json:"runs"`
	Statuses map[job.Status]int `json:"statuses"`
	// FailureRatio is the share of failed, timed out and lost ones among those that were
	// executed, from 0 to 1.
	FailureRatio float64 `json:"failure_ratio"`
	// Attempts is how many attempts were executed.
	Attempts int `json:"attempts"`

	// Of the attempts that were begun: how long they took; and of the first ones, how long
	// after the fire time they were committed, delivered to an instance, begun and ended. A
	// time is what it was when the attempt's end was first heard of. When attempts of older
	// executors were delivered is not known: these are not counted there.
	Duration  Spread `json:"duration"`
	Committed Spread `json:"committed_after"`
	Delivered Spread `json:"delivered_after"`
	Started   Spread `json:"started_after"`
	Finished  Spread `json:"finished_after"`
}

// Failed is how many runs failed, timed out or were lost.
func (r *ReportRow) Failed() int {
	return r.Statuses[job.StatusFailed] + r.Statuses[job.StatusTimedOut] + r.Statuses[job.StatusLost]
}

// Judge sets what follows from the counts.
func (r *ReportRow) Judge() {
	r.Runs, r.FailureRatio = 0, 0
	executed := 0
	for status, n := range r.Statuses {
		r.Runs += n
		if status.Executed() {
			executed += n
		}
	}
	if executed > 0 {
		r.FailureRatio = float64(r.Failed()) / float64(executed)
	}
}

// Spread says how long something took. Percentiles are exact to about one percent.
type Spread struct {
	Count              int
	Mean, Max          time.Duration // of durations only, else 0
	P50, P90, P95, P99 time.Duration
}

// spread is a Spread as JSON has it.
type spread struct {
	Count int   `json:"count"`
	Mean  int64 `json:"mean_ms,omitempty"`
	Max   int64 `json:"max_ms,omitempty"`
	P50   int64 `json:"p50_ms"`
	P90   int64 `json:"p90_ms"`
	P95   int64 `json:"p95_ms"`
	P99   int64 `json:"p99_ms"`
}

// MarshalJSON writes durations as milliseconds.
func (s Spread) MarshalJSON() ([]byte, error) {
	return json.Marshal(spread{
		s.Count, s.Mean.Milliseconds(), s.Max.Milliseconds(),
		s.P50.Milliseconds(), s.P90.Milliseconds(), s.P95.Milliseconds(), s.P99.Milliseconds(),
	})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Spread) UnmarshalJSON(data []byte) error {
	var in spread
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	const ms = time.Millisecond
	*s = Spread{
		in.Count, time.Duration(in.Mean) * ms, time.Duration(in.Max) * ms,
		time.Duration(in.P50) * ms, time.Duration(in.P90) * ms, time.Duration(in.P95) * ms, time.Duration(in.P99) * ms,
	}
	return nil
}

// SortReport puts rows into an order, and returns the first so many.
func SortReport(rows []ReportRow, order Order, limit int) []ReportRow {
	slices.SortFunc(rows, func(a, b ReportRow) int {
		byWhat := 0
		switch order {
		case OrderRuns:
			byWhat = cmp.Compare(b.Runs, a.Runs)
		case OrderFailures:
			byWhat = cmp.Compare(b.Failed(), a.Failed())
		case OrderRatio:
			byWhat = cmp.Or(cmp.Compare(b.FailureRatio, a.FailureRatio), cmp.Compare(b.Failed(), a.Failed()))
		case OrderDuration:
			byWhat = cmp.Compare(b.Duration.P95, a.Duration.P95)
		case OrderLateness:
			byWhat = cmp.Compare(b.Started.P95, a.Started.P95)
		case OrderTime:
		}
		return cmp.Or(byWhat, a.At.Compare(b.At), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Job, b.Job),
			cmp.Compare(a.Version, b.Version), cmp.Compare(a.Instance, b.Instance))
	})
	return rows[:min(len(rows), limit)]
}
