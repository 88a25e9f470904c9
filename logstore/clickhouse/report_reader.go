package clickhouse

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// reportReader reads rows of reports, in no more columns than they need: to plan for those
// that are constant, and for what this side can tell as well, takes ClickHouse a quarter
// of the time of a report over hours.
type reportReader struct {
	columns []string
	keys    int // of the columns, which come first
	into    []any

	at                                        time.Time
	group, name, instance                     string
	version                                   uint32
	counts                                    []int64 // as database.ReportStatuses has them
	attempts                                  int64
	unscheduled, unscheduledSucceeded         int64
	begun, firsts, delivered, sum, longest    uint64
	duration, commit, delivery, start, finish []float32
}

func newReportReader(f *logstore.ReportFilter, wanted times) *reportReader {
	r := &reportReader{counts: make([]int64, len(database.ReportStatuses))}
	add := func(column string, into any) {
		r.columns, r.into = append(r.columns, column), append(r.into, into)
	}
	switch f.Step {
	case runlog.StepMinute:
		add("r.bucket", &r.at)
	case runlog.StepHour:
		add("toStartOfHour(r.bucket)", &r.at)
	case runlog.StepDay:
		if f.Zone == nil {
			add("toDateTime(toStartOfDay(r.bucket), 'UTC')", &r.at)
		} else {
			add(dayOf(f), &r.at)
		}
	case runlog.StepNone:
	}
	keys := map[runlog.Dimension]any{runlog.ByGroup: &r.group, runlog.ByJob: &r.name, runlog.ByVersion: &r.version, runlog.ByInstance: &r.instance}
	for _, d := range f.By {
		if into, ok := keys[d]; ok { // not yet
			add("r."+facetColumn[d], into)
			delete(keys, d)
		}
	}
	r.keys = len(r.columns)
	for i, status := range database.ReportStatuses {
		add("sum(r."+status+")", &r.counts[i])
	}
	add("sum(r.attempts)", &r.attempts)
	add("sum(r.unscheduled)", &r.unscheduled)
	add("sum(r.unscheduled_succeeded)", &r.unscheduledSucceeded)
	for _, c := range []struct {
		of     times
		column string
		into   any
	}{
		{durations, "sum(r.begun)", &r.begun},
		{durations, "sum(r.duration_sum_ms)", &r.sum},
		{durations, "max(r.duration_max_ms)", &r.longest},
		{durations, percentiles("duration_q"), &r.duration},
		{commits | starts | ends, "sum(r.firsts)", &r.firsts},
		{commits, percentiles("committed_q"), &r.commit},
		{deliveries, "sum(r.delivered)", &r.delivered},
		{deliveries, percentiles("delivered_q"), &r.delivery},
		{starts, percentiles("started_q"), &r.start},
		{ends, percentiles("finished_q"), &r.finish},
	} {
		if wanted&c.of != 0 {
			add(c.column, c.into)
		}
	}
	return r
}

// dayOf is the beginning of a bucket's day in the filter's zone. ClickHouse has rules of zones
// too, but they may be of another year.
func dayOf(f *logstore.ReportFilter) string {
	days := f.Days()
	seconds := make([]string, len(days))
	for i, day := range days {
		seconds[i] = strconv.FormatInt(day.Unix(), 10)
	}
	return "toDateTime(roundDown(toUnixTimestamp(r.bucket), [" + strings.Join(seconds, ", ") + "]), 'UTC')"
}

func percentiles(column string) string {
	return "quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r." + column + ")"
}

// groupBy is the clause that goes with the columns.
func (r *reportReader) groupBy() string {
	if r.keys == 0 {
		return ""
	}
	return " GROUP BY " + strings.Join(r.columns[:r.keys], ", ")
}

// counted reports whether there is anything in the row that was read: what was may have
// been taken back.
func (r *reportReader) counted() bool {
	for _, n := range r.counts {
		if n != 0 {
			return true
		}
	}
	return r.attempts != 0
}

// row returns the row that was read.
func (r *reportReader) row() runlog.ReportRow {
	row := runlog.ReportRow{
		At: instant(r.at), Group: r.group, Job: job.Name(r.name), Version: int(r.version), Instance: r.instance,
		Attempts: int(r.attempts), Statuses: map[job.Status]int{},
	}
	for i, n := range r.counts {
		if n != 0 {
			row.Statuses[job.Status(database.ReportStatuses[i])] = int(n)
		}
	}
	row.Judge(int(r.unscheduled), int(r.unscheduledSucceeded))
	if row.Duration = spreadOf(r.begun, r.duration); r.begun > 0 {
		row.Duration = row.Duration.WithMax(milliseconds(r.longest), milliseconds(r.sum/r.begun))
	}
	row.Committed, row.Delivered = spreadOf(r.firsts, r.commit), spreadOf(r.delivered, r.delivery)
	row.Started, row.Finished = spreadOf(r.firsts, r.start), spreadOf(r.firsts, r.finish)
	return row
}

func milliseconds(n uint64) time.Duration { return time.Duration(n) * time.Millisecond } //nolint:gosec // are years at most

// spreadOf reads the quantiles of a scale of 32 steps for each doubling, if they were read.
func spreadOf(n uint64, quantiles []float32) runlog.Spread {
	if n == 0 || len(quantiles) == 0 {
		return runlog.Spread{}
	}
	s := runlog.Spread{Count: int(n)} //nolint:gosec // counts rows
	for i, into := range []*time.Duration{&s.P50, &s.P90, &s.P95, &s.P99} {
		*into = time.Duration(math.Round(math.Exp2(float64(quantiles[i])/32)-1)) * time.Millisecond
	}
	return s
}
