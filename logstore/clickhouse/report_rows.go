package clickhouse

import (
	"context"
	"slices"
	"strings"

	"carillon/logstore"
)

// times are the columns of a report that tell how long things took. To add up each of
// them costs more than all the counts.
type times uint8

const (
	durations times = 1 << iota
	commits
	deliveries
	starts
	ends

	noTimes times = 0
)

var timings = map[logstore.Timing]times{
	logstore.TimeDuration: durations, logstore.TimeCommitted: commits, logstore.TimeDelivered: deliveries, logstore.TimeStarted: starts, logstore.TimeFinished: ends,
}

// timesOf returns those that a report shows.
func timesOf(f *logstore.ReportFilter) times {
	wanted := noTimes
	for timing, one := range timings {
		if f.Tells(timing) {
			wanted |= one
		}
	}
	return wanted
}

// columns are those that reportRows reads, the ones that are not wanted empty.
func (t times) columns() string {
	sum := func(some times, column string) string {
		if t&some == 0 {
			return "toUInt64(0)"
		}
		return column
	}
	quantiles := func(one times, column string) string {
		if t&one == 0 {
			return "CAST([], 'Array(Float32)')"
		}
		return "quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r." + column + ")"
	}
	return strings.Join([]string{
		sum(durations, "sum(r.begun)"), sum(commits|starts|ends, "sum(r.firsts)"), sum(deliveries, "sum(r.delivered)"), sum(durations, "sum(r.duration_sum_ms)"), sum(durations, "max(r.duration_max_ms)"),
		quantiles(durations, "duration_q"), quantiles(commits, "committed_q"), quantiles(deliveries, "delivered_q"), quantiles(starts, "started_q"), quantiles(ends, "finished_q"),
	}, ", ")
}

// fewRows is up to how many rows of a report are found by what they are in the order of,
// before anything else is read of them.
const fewRows = 200

// firstRows reads the rows of a report that it shows. The twenty worst of many jobs are
// looked for by what makes them so, and all else is added up for these jobs only, which
// takes half the time.
func (s *Store) firstRows(ctx context.Context, f *logstore.ReportFilter) ([]logstore.ReportRow, error) {
	narrow := *f
	by := noTimes
	switch f.Order {
	case logstore.OrderDuration:
		by = durations
	case logstore.OrderLateness:
		by = starts
	case logstore.OrderTime, logstore.OrderRuns, logstore.OrderFailures, logstore.OrderRatio:
	}
	if by != timesOf(f) && f.Order != logstore.OrderTime && f.Limit <= fewRows && slices.Contains(f.By, logstore.ByJob) {
		found, err := s.reportRows(ctx, f, reportTable(f), by)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		narrow.Jobs = nil
		for _, r := range logstore.SortReport(found, f.Order, f.Limit) {
			if !slices.Contains(narrow.Jobs, r.Job) {
				narrow.Jobs = append(narrow.Jobs, r.Job)
			}
		}
	}
	rows, err := s.reportRows(ctx, &narrow, reportTable(f), timesOf(f))
	if err != nil {
		return nil, err
	}
	return logstore.SortReport(rows, f.Order, f.Limit), nil
}
