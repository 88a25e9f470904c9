package runlog

import (
	"encoding/json"
	"time"

	"github.com/carillon-scheduler/carillon/job"
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
	// Scheduled is how many of the fires that a schedule asked for (causes schedule and misfire)
	// are judged: they succeeded, failed, timed out, were lost or missed. ScheduledSucceeded is
	// how many of these succeeded.
	Scheduled          int `json:"scheduled"`
	ScheduledSucceeded int `json:"scheduled_succeeded"`
	// SuccessRate is the share of these that succeeded, from 0 to 1. Where no schedule asked for
	// any it is that of all runs that are judged; nil if there are none.
	SuccessRate *float64 `json:"success_rate,omitempty"`
	// Target is how this compares with the target of the job, if it has one and the row is about
	// the whole job. Stores leave it out.
	Target *Verdict `json:"target,omitempty"`
	// Attempts is how many attempts were executed.
	Attempts int `json:"attempts"`

	// Of the attempts that were begun: how long they took; and of the first ones of what a
	// schedule asked for (causes schedule and misfire), how long after the fire time they
	// were committed, delivered to an instance, begun and ended. A
	// time is what it was when the attempt's end was first heard of. Attempts
	// whose executor does not tell when they were delivered are not counted there.
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

// Judged reports whether a fire that ended so went well or not. What was cancelled or skipped is
// not judged: somebody, or a policy of the job, wanted it so.
func Judged(s job.Status) bool {
	return s == job.StatusMissed || s.Executed() && s != job.StatusCancelled
}

// Judge sets what follows from the counts. unscheduled is how many of the runs that are judged no
// schedule asked for, and succeeded how many of these succeeded.
func (r *ReportRow) Judge(unscheduled, succeeded int) {
	r.Runs, r.FailureRatio, r.SuccessRate = 0, 0, nil
	executed, judged := 0, 0
	for status, n := range r.Statuses {
		r.Runs += n
		if status.Executed() {
			executed += n
		}
		if Judged(status) {
			judged += n
		}
	}
	if executed > 0 {
		r.FailureRatio = float64(r.Failed()) / float64(executed)
	}
	r.Scheduled, r.ScheduledSucceeded = judged-unscheduled, r.Statuses[job.StatusSucceeded]-succeeded
	switch {
	case r.Scheduled > 0:
		r.SuccessRate = new(float64(r.ScheduledSucceeded) / float64(r.Scheduled))
	case judged > 0:
		r.SuccessRate = new(float64(r.Statuses[job.StatusSucceeded]) / float64(judged))
	}
}

// Spread says how long something took. Percentiles are exact to about one percent.
type Spread struct {
	Count              int
	Mean, Max          time.Duration // of durations only, else 0
	P50, P90, P95, P99 time.Duration
}

// WithMax returns s with the longest and the mean duration. As percentiles are not exact, they are
// cut to the longest, which no duration exceeds.
func (s Spread) WithMax(longest, mean time.Duration) Spread {
	s.Max, s.Mean = longest, mean
	for _, p := range []*time.Duration{&s.P50, &s.P90, &s.P95, &s.P99} {
		*p = min(*p, longest)
	}
	return s
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

// Overview is how things are, and were over a range of fire times.
type Overview struct {
	From     time.Time          `json:"from"`
	To       time.Time          `json:"to"`
	Alive    map[job.Status]int `json:"alive"` // pending, queued and running now
	Total    ReportRow          `json:"total"`
	Trend    []ReportRow        `json:"trend"`    // by hour, or by day beyond three days
	Busiest  []ReportRow        `json:"busiest"`  // minutes with the most runs, without times
	Slowest  []ReportRow        `json:"slowest"`  // jobs by the 95th percentile of their duration
	Failing  []ReportRow        `json:"failing"`  // jobs by the share of their runs that failed
	Failures []Failure          `json:"failures"` // the most frequent
}
