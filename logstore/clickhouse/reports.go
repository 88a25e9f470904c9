package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// reportTable returns where a report is read: the smallest table that tells it.
func reportTable(f *logstore.ReportFilter) string {
	if slices.Contains(f.By, runlog.ByInstance) {
		return "report_instance"
	}
	switch f.Unit() {
	case runlog.StepMinute:
		return "report_minute"
	case runlog.StepDay:
		return "report_day"
	case runlog.StepHour, runlog.StepNone:
	}
	return "report_hour"
}

// statistics counts runs by what they are: facets, histograms and reports.
type statistics struct{ *server }

// Report implements [logstore.Store].
func (s *statistics) Report(ctx context.Context, filter logstore.ReportFilter) (logstore.Report, error) {
	var report logstore.Report
	if err := filter.Validate(); err != nil {
		return report, err
	}
	if err := s.Prepare(ctx); err != nil {
		return report, err
	}
	f := filter.WithDefaults()
	rows, err := s.firstRows(ctx, &f)
	if err != nil {
		return report, fmt.Errorf("read report: %w", err)
	}
	report = logstore.Report{From: f.From, To: f.To, Rows: rows}
	if !f.Total {
		return report, nil
	}
	report.Total.Statuses = map[job.Status]int{}
	whole := f
	whole.By, whole.Step = nil, runlog.StepNone
	if rows, err = s.reportRows(ctx, &whole, reportTable(&f), timesOf(&f)); err != nil {
		return report, fmt.Errorf("read report: %w", err)
	}
	if len(rows) > 0 {
		report.Total = rows[0]
	}
	return report, nil
}

// reportRows reads all rows of a report from a table that has them.
func (s *statistics) reportRows(ctx context.Context, f *logstore.ReportFilter, table string, wanted times) ([]runlog.ReportRow, error) {
	c, err := where(&logstore.RunFilter{Jobs: f.Jobs, Group: f.Group, Groups: f.Groups})
	if err != nil {
		return nil, err
	}
	c.add("bucket >= fromUnixTimestamp(?)", f.From.Unix())
	c.add("bucket < fromUnixTimestamp(?)", f.To.Unix())
	r := newReportReader(f, wanted)
	found, err := s.conn.Query(ctx, "SELECT "+strings.Join(r.columns, ", ")+" FROM "+table+" AS r"+c.clause()+r.groupBy(), c.args...)
	if err != nil {
		return nil, database.Explain(err)
	}
	defer func() { _ = found.Close() }()
	var all []runlog.ReportRow
	for found.Next() {
		if err := found.Scan(r.into...); err != nil {
			return nil, err
		}
		if r.counted() {
			all = append(all, r.row())
		}
	}
	return all, database.Explain(found.Err())
}

// Failures implements [logstore.Store].
func (s *statistics) Failures(ctx context.Context, filter logstore.FailureFilter) ([]runlog.Failure, error) {
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	if err := s.Prepare(ctx); err != nil {
		return nil, err
	}
	limit := filter.Limit
	if limit == 0 {
		limit = logstore.DefaultFailures
	}
	runs := filter.Runs()
	c, err := ofRuns(&runs)
	if err != nil {
		return nil, err
	}
	// Attempts that are no failures any more are left out one by one: in sums they would
	// cancel out, and still be the newest, or of a job that has no such failure.
	counts := "[]"
	if filter.Parts > 0 {
		from, to := ceilMillis(filter.From), ceilMillis(filter.To)
		counts = fmt.Sprintf("countResample(0, %[2]d, 1)(intDiv((toUnixTimestamp64Milli(fire_time) - %[1]d) * %[2]d, %[3]d))", from, filter.Parts, to-from)
	}
	rows, err := s.conn.Query(ctx, fmt.Sprintf("SELECT "+printed("said")+" AS print, count() AS n, argMax(said, fire_time), "+
		"arraySort(groupUniqArray(%d)(toString(name))), uniqExact(name) AS names, if(names = 1, arraySlice(arrayReverseSort(groupUniqArray(number)), 1, %d), []), "+
		"%s::Array(Int64), min(fire_time), max(fire_time), argMax(toString(run_id), fire_time) FROM ("+
		"SELECT fire_time, run_id, any(job) AS name, any(version) AS number, "+failureText+" AS said "+
		"FROM runs%s GROUP BY fire_time, run_id, attempt, said HAVING sum(sign) > 0) GROUP BY print ORDER BY n DESC, print LIMIT %d",
		logstore.FailureJobs, logstore.FailureVersions, counts, c.clause(), limit), append([]any{logstore.Variable}, c.args...)...)
	if err != nil {
		return nil, fmt.Errorf("group failures: %w", database.Explain(err))
	}
	defer func() { _ = rows.Close() }()
	found := []runlog.Failure{}
	for rows.Next() {
		var f runlog.Failure
		var n, names uint64
		var jobs []string
		var versions []uint32
		var counts []int64
		var last string
		if err := rows.Scan(&f.Fingerprint, &n, (*string)(&f.Message), &jobs, &names, &versions, &counts, &f.First, &f.Last, &last); err != nil {
			return nil, fmt.Errorf("group failures: %w", err)
		}
		f.Attempts, f.JobCount, f.First, f.Last, f.LastRun = int(n), int(names), f.First.UTC(), f.Last.UTC(), job.RunID(last)
		for _, name := range jobs {
			f.Jobs = append(f.Jobs, job.Name(name))
		}
		for _, version := range versions {
			f.Versions = append(f.Versions, int(version))
		}
		for _, count := range counts {
			f.Counts = append(f.Counts, int(count))
		}
		found = append(found, f)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("group failures: %w", database.Explain(err))
	}
	return found, nil
}

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
func (s *statistics) firstRows(ctx context.Context, f *logstore.ReportFilter) ([]runlog.ReportRow, error) {
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
