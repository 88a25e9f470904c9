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

// Report implements [logstore.Store].
func (s *Store) Report(ctx context.Context, filter logstore.ReportFilter) (logstore.Report, error) {
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
func (s *Store) reportRows(ctx context.Context, f *logstore.ReportFilter, table string, wanted times) ([]runlog.ReportRow, error) {
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
func (s *Store) Failures(ctx context.Context, filter logstore.FailureFilter) ([]runlog.Failure, error) {
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
		"SELECT fire_time, run_id, any(job) AS name, any(version) AS number, "+said+" AS said "+
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
