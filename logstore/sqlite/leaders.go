package sqlite

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

// longest is a job and a bound of how long its attempts took.
type longest struct {
	job   job.Name
	bound time.Duration
}

// slowest reads a report of jobs by the 95th percentile of their duration. No percentile is
// above the longest duration, and to add up numbers takes a fraction of what spreads take: so
// only the spreads of those jobs are read that can be in the report.
func (s *statistics) slowest(ctx context.Context, f logstore.ReportFilter) (logstore.Report, error) {
	all, err := s.longest(ctx, &f)
	if err != nil {
		return logstore.Report{}, fmt.Errorf("read report: %w", err)
	}
	for n := 8 * f.Limit; n < len(all); n *= 4 {
		some := f
		some.Jobs = make([]job.Name, n)
		for i := range some.Jobs {
			some.Jobs[i] = all[i].job
		}
		report, err := s.readReport(ctx, some, "")
		if err != nil {
			return report, err
		}
		if last := len(report.Rows) - 1; last == f.Limit-1 && report.Rows[last].Duration.P95 > all[n].bound {
			return report, nil
		}
	}
	return s.readReport(ctx, f, "")
}

// failing reads a report in the order of failures: the rows with failures come first, and
// are few. If the report is read in parts, perhaps only some parts have failures.
func (s *statistics) failing(ctx context.Context, f logstore.ReportFilter) (logstore.Report, error) {
	if inParts(&f) {
		return s.readReport(ctx, f, "")
	}
	report, err := s.readReport(ctx, f, "sum(failed + timed_out + lost) > 0")
	if err != nil || len(report.Rows) == f.Limit {
		return report, err
	}
	return s.readReport(ctx, f, "")
}

// longest returns the jobs of a report, those whose longest attempt took the longest first.
func (s *statistics) longest(ctx context.Context, f *logstore.ReportFilter) ([]longest, error) {
	query, args := s.longestQuery(f)
	rows, err := s.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []longest
	for rows.Next() {
		var number, ms int64
		if err := rows.Scan(&number, &ms); err != nil {
			return nil, err
		}
		all = append(all, longest{s.jobs.Name(number), time.Duration(millisOf(stepOf(ms))) * time.Millisecond})
	}
	return all, rows.Err()
}

func (s *statistics) longestQuery(f *logstore.ReportFilter) (string, []any) {
	conditions, args := s.reportConditions(f)
	return fmt.Sprintf("SELECT job, max(duration_max) AS longest FROM %s WHERE %s GROUP BY job ORDER BY longest DESC", readFrom(f).name, strings.Join(conditions, " AND ")), args
}
