package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// readFrom returns the smallest table that tells a report.
func readFrom(f *logstore.ReportFilter) *reportTable {
	if slices.Contains(f.By, runlog.ByInstance) {
		return reportInstance
	}
	switch f.Unit() {
	case runlog.StepMinute:
		return reportMinute
	case runlog.StepDay:
		return reportDay
	case runlog.StepHour, runlog.StepNone:
	}
	if len(f.Jobs) == 0 && !slices.Contains(f.By, runlog.ByJob) {
		return reportGroup
	}
	return reportHour
}

// statistics counts runs by what they are: facets, histograms and reports.
type statistics struct{ *database }

// Report implements [logstore.Store]. Rows are added up by SQLite, spreads too.
func (s *statistics) Report(ctx context.Context, filter logstore.ReportFilter) (logstore.Report, error) {
	if err := filter.Validate(); err != nil {
		return logstore.Report{}, err
	}
	if err := s.settle(ctx); err != nil {
		return logstore.Report{}, err
	}
	f := filter.WithDefaults()
	if !f.Total { // which is of all rows
		switch f.Order {
		case runlog.OrderDuration:
			if f.Step == runlog.StepNone && slices.Equal(f.By, []runlog.Dimension{runlog.ByJob}) {
				return s.slowest(ctx, f)
			}
		case runlog.OrderFailures, runlog.OrderRatio:
			return s.failing(ctx, f)
		case runlog.OrderTime, runlog.OrderRuns, runlog.OrderLateness:
		}
	}
	return s.readReport(ctx, f, "")
}

// readReport reads the rows of a report for which a condition holds, if one is named.
func (s *statistics) readReport(ctx context.Context, f logstore.ReportFilter, having string) (logstore.Report, error) {
	report := logstore.Report{From: f.From, To: f.To}
	tallies, total, step := map[rowKey]*tally{}, tally{}, stepsOf(&f)
	query, args := s.reportQuery(&f)
	if having != "" {
		query += " HAVING " + having
	}
	rows, err := s.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return report, fmt.Errorf("read report: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var found []runlog.ReportRow
	for rows.Next() {
		var r runlog.ReportRow
		t := &tally{}
		var at, number int64
		into := []any{&at, &r.Group, &number, &r.Version, &r.Instance}
		for i := range t.counts {
			into = append(into, &t.counts[i])
		}
		into = append(into, &t.unscheduled, &t.unscheduledSucceeded, &t.attempts, &t.measured, &t.firsts, &t.durationSum, &t.durationMax)
		for i := range t.spreads {
			into = append(into, (*[]byte)(&t.spreads[i]))
		}
		if err := rows.Scan(into...); err != nil {
			return report, fmt.Errorf("read report: %w", err)
		}
		if at != 0 {
			r.At = step(time.Unix(at, 0).UTC())
		}
		if number != 0 {
			r.Job = s.jobs.Name(number)
		}
		if part := tallies[keyOf(&r)]; part != nil {
			part.merge(t)
		} else {
			found, tallies[keyOf(&r)] = append(found, r), t
		}
	}
	if err := rows.Err(); err != nil {
		return report, fmt.Errorf("read report: %w", err)
	}
	for i := range found {
		r, t := &found[i], tallies[keyOf(&found[i])]
		if t.tellCounts(r); r.Runs == 0 && r.Attempts == 0 {
			continue
		}
		switch f.Order { // of all others, the times of those rows will do that are shown
		case runlog.OrderDuration:
			r.Duration = t.spreads[0].summary()
		case runlog.OrderLateness:
			r.Started = t.spreads[2].summary()
		case runlog.OrderTime, runlog.OrderRuns, runlog.OrderFailures, runlog.OrderRatio:
		}
		report.Rows = append(report.Rows, *r)
		if f.Total {
			total.merge(t)
		}
	}
	report.Rows = logstore.SortReport(report.Rows, f.Order, f.Limit)
	for i := range report.Rows {
		tallies[keyOf(&report.Rows[i])].tellTimes(&report.Rows[i])
	}
	if f.Total {
		total.tellCounts(&report.Total)
		total.tellTimes(&report.Total)
	}
	return report, nil
}

// rowKey tells the rows of a report apart.
type rowKey struct {
	at       int64
	group    string
	job      job.Name
	version  int
	instance string
}

func keyOf(r *runlog.ReportRow) rowKey {
	return rowKey{r.At.Unix(), r.Group, r.Job, r.Version, r.Instance}
}

// reportConditions returns what is true of rows that a report adds up.
func (s *statistics) reportConditions(f *logstore.ReportFilter) (conditions []string, args []any) {
	conditions, args = []string{"bucket >= ?", "bucket < ?"}, []any{f.From.Unix(), f.To.Unix()}
	if f.Group != "" {
		conditions, args = append(conditions, "grp = ?"), append(args, f.Group)
	}
	if f.Groups != nil {
		part, values := inGroups(f.Groups)
		conditions, args = append(conditions, part), append(args, values...)
	}
	if len(f.Jobs) > 0 {
		ids, _ := s.jobs.Select(logstore.RunFilter{Jobs: f.Jobs})
		conditions = append(conditions, "job IN ("+file.Join(ids)+")")
	}
	return conditions, args
}

// reportQuery returns the statement for the rows of a report.
func (s *statistics) reportQuery(f *logstore.ReportFilter) (string, []any) {
	conditions, args := s.reportConditions(f)
	if f.Step == runlog.StepMinute && f.Order == runlog.OrderRuns && len(f.By) == 0 && !f.Total {
		// Most minutes of a day are read only to be left out: to find which, one sum will do.
		busiest := fmt.Sprintf("bucket IN (SELECT bucket FROM report_minute WHERE %s GROUP BY bucket ORDER BY sum(succeeded + failed + timed_out + cancelled + lost + skipped + missed) DESC, bucket LIMIT %d)",
			strings.Join(conditions, " AND "), f.Limit)
		conditions, args = append(conditions, busiest), append(args, args...)
	}
	at := "0"
	switch {
	case f.Step == runlog.StepMinute, inParts(f):
		at = "bucket"
	case f.Step == runlog.StepDay:
		at = "bucket / 86400 * 86400"
	}
	// Only by what is asked for: the rows of a table are in the order of their buckets.
	group := []string{}
	if at != "0" {
		group = append(group, at)
	}
	columns := map[runlog.Dimension]string{runlog.ByGroup: "''", runlog.ByJob: "0", runlog.ByVersion: "0", runlog.ByInstance: "''"}
	for _, d := range f.By {
		if columns[d] = string(d); d == runlog.ByGroup {
			columns[d] = "grp"
		}
		group = append(group, columns[d])
	}
	if len(group) == 0 {
		group = []string{"''"}
	}
	return fmt.Sprintf("SELECT %s, %s, %s, %s, %s, %s FROM %s WHERE %s GROUP BY %s", at, columns[runlog.ByGroup], columns[runlog.ByJob], columns[runlog.ByVersion], columns[runlog.ByInstance],
		strings.Join(addedUp(f), ", "), readFrom(f).name, strings.Join(conditions, " AND "), strings.Join(group, ", ")), args
}

// inParts reports whether the rows of a report are added up from those of parts of an hour by
// who reads them. SQLite would sort them all for that.
func inParts(f *logstore.ReportFilter) bool {
	return f.Step == runlog.StepHour || f.Zone != nil && f.Step == runlog.StepDay
}

// stepsOf returns what tells when the step of a report begins in which a bucket lies.
func stepsOf(f *logstore.ReportFilter) func(bucket time.Time) time.Time {
	switch {
	case f.Zone != nil && f.Step == runlog.StepDay:
		days := f.Days()
		return func(bucket time.Time) time.Time {
			i, exact := slices.BinarySearchFunc(days, bucket, time.Time.Compare)
			if !exact {
				i--
			}
			return days[i].UTC()
		}
	case f.Step == runlog.StepHour:
		return func(bucket time.Time) time.Time { return bucket.Truncate(time.Hour) }
	}
	return func(bucket time.Time) time.Time { return bucket }
}

// spreadTimings are what the spreads of a tally are of.
var spreadTimings = []runlog.Timing{runlog.TimeDuration, runlog.TimeCommitted, runlog.TimeStarted, runlog.TimeFinished, runlog.TimeDelivered}

// addedUp are the columns of a tally over some rows, without what tells times that f does
// not.
func addedUp(f *logstore.ReportFilter) []string {
	added := make([]string, len(tallyColumns))
	for i, column := range tallyColumns {
		spread := slices.Index(spreadColumns, column)
		switch {
		case spread >= 0 && !f.Tells(spreadTimings[spread]):
			added[i] = "x''"
		case spread >= 0:
			added[i] = "CAST(group_concat(" + column + ", '') AS BLOB)"
		case slices.Contains([]string{"begun", "duration_sum", "duration_max"}, column) && !f.Tells(runlog.TimeDuration):
			added[i] = "0"
		case column == "duration_max":
			added[i] = "max(duration_max)"
		default:
			added[i] = "sum(" + column + ")"
		}
	}
	return added
}

// merge adds another tally.
func (t *tally) merge(other *tally) {
	for i, n := range other.counts {
		t.counts[i] += n
	}
	t.unscheduled, t.unscheduledSucceeded = t.unscheduled+other.unscheduled, t.unscheduledSucceeded+other.unscheduledSucceeded
	t.attempts, t.measured, t.firsts = t.attempts+other.attempts, t.measured+other.measured, t.firsts+other.firsts
	t.durationSum, t.durationMax = t.durationSum+other.durationSum, max(t.durationMax, other.durationMax)
	for i, s := range other.spreads {
		t.spreads[i] = append(t.spreads[i], s...)
	}
}

// tellCounts writes into r what t has counted.
func (t *tally) tellCounts(r *runlog.ReportRow) {
	r.Statuses, r.Attempts = map[job.Status]int{}, int(t.attempts)
	for i, n := range t.counts {
		if n != 0 {
			r.Statuses[reportStatuses[i]] = int(n)
		}
	}
	r.Judge(int(t.unscheduled), int(t.unscheduledSucceeded))
}

// tellTimes writes into r how long things took.
func (t *tally) tellTimes(r *runlog.ReportRow) {
	r.Duration, r.Committed, r.Delivered = t.spreads[0].summary(), t.spreads[1].summary(), t.spreads[4].summary()
	r.Started, r.Finished = t.spreads[2].summary(), t.spreads[3].summary()
	if t.measured > 0 {
		r.Duration = r.Duration.WithMax(time.Duration(t.durationMax)*time.Millisecond, time.Duration(t.durationSum/t.measured)*time.Millisecond)
	}
}
