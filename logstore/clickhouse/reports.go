package clickhouse

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"carillon/job"
	"carillon/logstore"
)

// reportTable returns where a report is read: the smallest table that tells it.
func reportTable(f *logstore.ReportFilter) string {
	if slices.Contains(f.By, logstore.ByInstance) {
		return "report_instance"
	}
	switch f.Unit() {
	case logstore.StepMinute:
		return "report_minute"
	case logstore.StepDay:
		return "report_day"
	case logstore.StepHour, logstore.StepNone:
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
	whole.By, whole.Step = nil, logstore.StepNone
	if rows, err = s.reportRows(ctx, &whole, reportTable(&f), timesOf(&f)); err != nil {
		return report, fmt.Errorf("read report: %w", err)
	}
	if len(rows) > 0 {
		report.Total = rows[0]
	}
	return report, nil
}

// reportRows reads all rows of a report from a table that has them.
func (s *Store) reportRows(ctx context.Context, f *logstore.ReportFilter, table string, wanted times) ([]logstore.ReportRow, error) {
	c, err := where(&logstore.RunFilter{Jobs: f.Jobs, Group: f.Group, Groups: f.Groups})
	if err != nil {
		return nil, err
	}
	c.add("bucket >= fromUnixTimestamp(?)", f.From.Unix())
	c.add("bucket < fromUnixTimestamp(?)", f.To.Unix())
	at := "toDateTime(0, 'UTC')"
	switch f.Step {
	case logstore.StepMinute, logstore.StepHour:
		at = "bucket"
	case logstore.StepDay:
		at = "toDateTime(toStartOfDay(bucket), 'UTC')"
	case logstore.StepNone:
	}
	columns := map[logstore.Dimension]string{logstore.ByGroup: "''", logstore.ByJob: "''", logstore.ByVersion: "toUInt32(0)", logstore.ByInstance: "''"}
	for _, d := range f.By {
		columns[d] = "r." + facetColumn[d]
	}
	sums := make([]string, len(reportStatuses))
	for i, status := range reportStatuses {
		sums[i] = "sum(r." + status + ")"
	}
	query := fmt.Sprintf("SELECT %s AS d0, toString(%s) AS d1, toString(%s) AS d2, %s AS d3, toString(%s) AS d4, [%s] AS counts, sum(r.attempts) AS tries, %s "+
		"FROM %s AS r%s GROUP BY d0, d1, d2, d3, d4 HAVING arraySum(counts) != 0 OR tries != 0",
		at, columns[logstore.ByGroup], columns[logstore.ByJob], columns[logstore.ByVersion], columns[logstore.ByInstance], strings.Join(sums, ", "),
		wanted.columns(), table, c.clause())
	found, err := s.conn.Query(ctx, query, c.args...)
	if err != nil {
		return nil, explain(err)
	}
	defer func() { _ = found.Close() }()
	var all []logstore.ReportRow
	for found.Next() {
		var r logstore.ReportRow
		var at time.Time
		var name string
		var version uint32
		var counts []int64
		var attempts int64
		var measured, firsts, known, sum, longest uint64
		var duration, committed, delivered, started, finished []float32
		err := found.Scan(&at, &r.Group, &name, &version, &r.Instance, &counts, &attempts, &measured, &firsts, &known, &sum, &longest,
			&duration, &committed, &delivered, &started, &finished)
		if err != nil {
			return nil, err
		}
		r.At, r.Job, r.Version, r.Attempts = instant(at), job.Name(name), int(version), int(attempts)
		r.Statuses = map[job.Status]int{}
		for i, n := range counts {
			if n != 0 {
				r.Statuses[job.Status(reportStatuses[i])] = int(n)
			}
		}
		r.Judge()
		r.Duration = spreadOf(measured, duration)
		if measured > 0 {
			r.Duration.Mean, r.Duration.Max = milliseconds(sum/measured), milliseconds(longest)
		}
		r.Committed, r.Delivered = spreadOf(firsts, committed), spreadOf(known, delivered)
		r.Started, r.Finished = spreadOf(firsts, started), spreadOf(firsts, finished)
		all = append(all, r)
	}
	return all, explain(found.Err())
}

func milliseconds(n uint64) time.Duration { return time.Duration(n) * time.Millisecond } //nolint:gosec // are years at most

// spreadOf reads the quantiles of a scale of 32 steps for each doubling, if they were read.
func spreadOf(n uint64, quantiles []float32) logstore.Spread {
	if n == 0 || len(quantiles) == 0 {
		return logstore.Spread{}
	}
	s := logstore.Spread{Count: int(n)} //nolint:gosec // counts rows
	for i, into := range []*time.Duration{&s.P50, &s.P90, &s.P95, &s.P99} {
		*into = time.Duration(math.Round(math.Exp2(float64(quantiles[i])/32)-1)) * time.Millisecond
	}
	return s
}

// Failures implements [logstore.Store].
func (s *Store) Failures(ctx context.Context, filter logstore.FailureFilter) ([]logstore.Failure, error) {
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
	rows, err := s.conn.Query(ctx, fmt.Sprintf("SELECT print, sum(sign) AS n, argMax(said, fire_time), arraySort(groupUniqArray(%d)(toString(job))), min(fire_time), max(fire_time), argMax(toString(run_id), fire_time) FROM ("+
		"SELECT sign, fire_time, run_id, job, multiIf(message != '', message, end_reason != '', end_reason, reason != '', reason, toString(status)) AS said, "+
		"replaceRegexpAll(leftUTF8(splitByChar('\\n', said)[1], %d), ?, '#') AS print FROM runs%s) GROUP BY print HAVING n > 0 ORDER BY n DESC, print LIMIT %d",
		logstore.FailureJobs, logstore.FingerprintLength, c.clause(), limit), append([]any{logstore.Variable}, c.args...)...)
	if err != nil {
		return nil, fmt.Errorf("group failures: %w", explain(err))
	}
	defer func() { _ = rows.Close() }()
	found := []logstore.Failure{}
	for rows.Next() {
		var f logstore.Failure
		var n int64
		var jobs []string
		var last string
		if err := rows.Scan(&f.Fingerprint, &n, &f.Message, &jobs, &f.First, &f.Last, &last); err != nil {
			return nil, fmt.Errorf("group failures: %w", err)
		}
		f.Attempts, f.First, f.Last, f.LastRun = int(n), f.First.UTC(), f.Last.UTC(), job.RunID(last)
		for _, name := range jobs {
			f.Jobs = append(f.Jobs, job.Name(name))
		}
		found = append(found, f)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("group failures: %w", explain(err))
	}
	return found, nil
}

// settled is how long after its end a day may be repaired: what comes in meanwhile would
// be counted twice, or not at all.
const settled = time.Hour

// Repair implements [logstore.Store]. Minutes are repaired as long as they are kept.
func (s *Store) Repair(ctx context.Context, day time.Time) error {
	day = day.UTC().Truncate(24 * time.Hour)
	end := day.Add(24 * time.Hour)
	if time.Since(end) < settled {
		return &job.InvalidError{Field: "day", Reason: "must have been over for an hour"}
	}
	if err := s.Prepare(ctx); err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	const ofDay = "fire_time >= fromUnixTimestamp(?) AND fire_time < fromUnixTimestamp(?)"
	var n uint64
	if err := s.conn.QueryRow(ctx, "SELECT count() FROM runs WHERE "+ofDay, day.Unix(), end.Unix()).Scan(&n); err != nil {
		return fmt.Errorf("look for runs of %s: %w", day.Format(time.DateOnly), explain(err))
	}
	if n == 0 {
		return &job.InvalidError{Field: "day", Reason: "has no runs from which reports could be made"}
	}
	for _, table := range []string{"report_minute", "report_hour", "report_day", "report_instance"} {
		err := s.conn.Exec(ctx, fmt.Sprintf("ALTER TABLE %s %s DELETE WHERE bucket >= fromUnixTimestamp(%d) AND bucket < fromUnixTimestamp(%d) SETTINGS mutations_sync = 2",
			s.layout.Local(table), s.layout.OnCluster(), day.Unix(), end.Unix()))
		if err != nil {
			return fmt.Errorf("clear %s of %s: %w", table, day.Format(time.DateOnly), explain(err))
		}
	}
	// Days follow from hours by their view.
	const measurable = "(status >= 'succeeded' AND duration_ms >= 0)"
	for _, r := range []struct{ table, keys, by, condition string }{
		{"report_minute", "toStartOfMinute(fire_time) AS bucket, group", "run_status", ""},
		{"report_hour", "toStartOfHour(fire_time) AS bucket, group, job, version", "run_status", ""},
		{"report_instance", "toStartOfHour(fire_time) AS bucket, group, instance", "status", " AND instance != ''"},
	} {
		keys := strings.ReplaceAll(strings.ReplaceAll(r.keys, "toStartOfMinute(fire_time) AS ", ""), "toStartOfHour(fire_time) AS ", "")
		names := keys + ", " + strings.Join(reportStatuses, ", ") + ", attempts, begun, firsts, duration_sum_ms, duration_max_ms, duration_q, committed_q, started_q, finished_q, delivered, delivered_q"
		err := s.conn.Exec(ctx, fmt.Sprintf("INSERT INTO %s (%s) SELECT %s, %s, %s FROM runs FINAL WHERE %s AND broadcast_index = -1 AND status >= 'succeeded'%s GROUP BY %s",
			r.table, names, r.keys, s.layout.ReportColumns(r.by, measurable), s.layout.DeliveredColumns(measurable), ofDay, r.condition, keys), day.Unix(), end.Unix())
		if err != nil {
			return fmt.Errorf("make %s of %s: %w", r.table, day.Format(time.DateOnly), explain(err))
		}
	}
	return nil
}
