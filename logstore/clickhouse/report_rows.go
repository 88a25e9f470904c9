package clickhouse

import (
	"context"
	"slices"

	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
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

var timings = map[runlog.Timing]times{
	runlog.TimeDuration: durations, runlog.TimeCommitted: commits, runlog.TimeDelivered: deliveries, runlog.TimeStarted: starts, runlog.TimeFinished: ends,
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

// fewRows is up to how many rows of a report are found by what they are in the order of,
// before anything else is read of them.
const fewRows = 200

// firstRows reads the rows of a report that it shows. The twenty worst of many jobs are
// looked for by what makes them so, and all else is added up for these jobs only, which
// takes half the time.
func (s *Store) firstRows(ctx context.Context, f *logstore.ReportFilter) ([]runlog.ReportRow, error) {
	narrow := *f
	by := noTimes
	switch f.Order {
	case runlog.OrderDuration:
		by = durations
	case runlog.OrderLateness:
		by = starts
	case runlog.OrderTime, runlog.OrderRuns, runlog.OrderFailures, runlog.OrderRatio:
	}
	if by != timesOf(f) && f.Order != runlog.OrderTime && f.Limit <= fewRows && slices.Contains(f.By, runlog.ByJob) {
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
