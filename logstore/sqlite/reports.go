package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon/job"
	"carillon/logstore"
)

// readFrom returns the smallest table that tells a report.
func readFrom(f *logstore.ReportFilter) *reportTable {
	if slices.Contains(f.By, logstore.ByInstance) {
		return reportInstance
	}
	switch f.Unit() {
	case logstore.StepMinute:
		return reportMinute
	case logstore.StepDay:
		return reportDay
	case logstore.StepHour, logstore.StepNone:
	}
	return reportHour
}

// Report implements [logstore.Store]. Rows are added up by SQLite, spreads too.
func (s *Store) Report(ctx context.Context, filter logstore.ReportFilter) (logstore.Report, error) {
	if err := filter.Validate(); err != nil {
		return logstore.Report{}, err
	}
	f := filter.WithDefaults()
	report := logstore.Report{From: f.From, To: f.To}
	query, args := s.reportQuery(&f)
	rows, err := s.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return report, fmt.Errorf("read report: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var r logstore.ReportRow
		var t tally
		var at, number int64
		into := []any{&at, &r.Group, &number, &r.Version, &r.Instance}
		for i := range t.counts {
			into = append(into, &t.counts[i])
		}
		into = append(into, &t.attempts, &t.measured, &t.firsts, &t.durationSum, &t.durationMax)
		for i := range t.spreads {
			into = append(into, (*[]byte)(&t.spreads[i]))
		}
		if err := rows.Scan(into...); err != nil {
			return report, fmt.Errorf("read report: %w", err)
		}
		if at != 0 {
			r.At = time.Unix(at, 0).UTC()
		}
		if number != 0 {
			r.Job = s.jobs.name(number)
		}
		if t.tell(&r); r.Runs != 0 || r.Attempts != 0 {
			report.Rows = append(report.Rows, r)
		}
	}
	if err := rows.Err(); err != nil {
		return report, fmt.Errorf("read report: %w", err)
	}
	report.Rows = logstore.SortReport(report.Rows, f.Order, f.Limit)
	return report, nil
}

// reportQuery returns the statement for the rows of a report.
func (s *Store) reportQuery(f *logstore.ReportFilter) (string, []any) {
	conditions, args := []string{"bucket >= ?", "bucket < ?"}, []any{f.From.Unix(), f.To.Unix()}
	if f.Group != "" {
		conditions, args = append(conditions, "grp = ?"), append(args, f.Group)
	}
	if f.Groups != nil {
		conditions = append(conditions, "grp IN (NULL"+strings.Repeat(", ?", len(f.Groups))+")")
		for _, g := range f.Groups {
			args = append(args, g)
		}
	}
	if len(f.Jobs) > 0 {
		ids, _ := selectJobs(logstore.RunFilter{Jobs: f.Jobs}, s.jobs)
		conditions = append(conditions, "job IN ("+join(ids)+")")
	}
	at := "0"
	switch f.Step {
	case logstore.StepMinute, logstore.StepHour:
		at = "bucket"
	case logstore.StepDay:
		at = "bucket / 86400 * 86400"
	case logstore.StepNone:
	}
	columns := map[logstore.Dimension]string{logstore.ByGroup: "''", logstore.ByJob: "0", logstore.ByVersion: "0", logstore.ByInstance: "''"}
	for _, d := range f.By {
		if columns[d] = string(d); d == logstore.ByGroup {
			columns[d] = "grp"
		}
	}
	return fmt.Sprintf("SELECT %s, %s, %s, %s, %s, %s FROM %s WHERE %s GROUP BY 1, 2, 3, 4, 5", at, columns[logstore.ByGroup], columns[logstore.ByJob], columns[logstore.ByVersion], columns[logstore.ByInstance],
		strings.Join(addedUp, ", "), readFrom(f).name, strings.Join(conditions, " AND ")), args
}

// addedUp are the columns of a tally over some rows.
var addedUp = func() []string {
	added := make([]string, len(tallyColumns))
	for i, column := range tallyColumns {
		switch {
		case column == "duration_max":
			added[i] = "max(duration_max)"
		case slices.Contains(spreadColumns, column):
			added[i] = "CAST(group_concat(" + column + ", '') AS BLOB)"
		default:
			added[i] = "sum(" + column + ")"
		}
	}
	return added
}()

// tell writes into r what t has added up.
func (t *tally) tell(r *logstore.ReportRow) {
	r.Statuses, r.Attempts = map[job.Status]int{}, int(t.attempts)
	for i, n := range t.counts {
		if n != 0 {
			r.Statuses[reportStatuses[i]] = int(n)
		}
	}
	r.Judge()
	r.Duration, r.Committed, r.Started, r.Finished = t.spreads[0].summary(), t.spreads[1].summary(), t.spreads[2].summary(), t.spreads[3].summary()
	if t.measured > 0 {
		r.Duration.Mean, r.Duration.Max = time.Duration(t.durationSum/t.measured)*time.Millisecond, time.Duration(t.durationMax)*time.Millisecond
	}
}

// Failures implements [logstore.Store].
func (s *Store) Failures(ctx context.Context, filter logstore.FailureFilter) ([]logstore.Failure, error) {
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	q := newQuery(filter.Runs(), s.jobs)
	if q.empty {
		return []logstore.Failure{}, nil
	}
	query, args := q.failures()
	rows, err := s.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read failures: %w", err)
	}
	defer func() { _ = rows.Close() }()
	byPrint, prints := map[string]*failure{}, map[string]string{}
	for rows.Next() {
		var id job.RunID
		var number, status int64
		var message, endReason, reason string
		if err := rows.Scan((*scanID)(&id), &number, &status, &message, &endReason, &reason); err != nil {
			return nil, fmt.Errorf("read failures: %w", err)
		}
		said := cmp.Or(message, endReason, reason, string(statusOf[status]))
		fingerprint, ok := prints[said]
		if !ok {
			fingerprint = logstore.Fingerprint(said)
			prints[said] = fingerprint
		}
		f := byPrint[fingerprint]
		if f == nil { // the newest comes first
			f = &failure{Failure: logstore.Failure{Fingerprint: fingerprint, Message: said, Last: id.Time(), LastRun: id}, jobs: map[job.Name]bool{}}
			byPrint[fingerprint] = f
		}
		f.Attempts, f.First = f.Attempts+1, id.Time()
		f.jobs[s.jobs.name(number)] = true
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read failures: %w", err)
	}
	found := make([]logstore.Failure, 0, len(byPrint))
	for _, f := range byPrint {
		for name := range f.jobs {
			f.Jobs = append(f.Jobs, name)
		}
		slices.Sort(f.Jobs)
		f.Jobs = f.Jobs[:min(len(f.Jobs), logstore.FailureJobs)]
		found = append(found, f.Failure)
	}
	slices.SortFunc(found, func(a, b logstore.Failure) int {
		return cmp.Or(cmp.Compare(b.Attempts, a.Attempts), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	return found[:min(len(found), cmp.Or(filter.Limit, logstore.DefaultFailures))], nil
}

// failures returns the statement for attempts that failed, the newest first.
func (q *query) failures() (string, []any) {
	return "SELECT run_id, job, status, message, end_reason, reason FROM runs INDEXED BY runs_failed WHERE status IN (11, 12, 14)" + q.where + " ORDER BY run_id DESC", q.args
}

// failure is one that is being counted.
type failure struct {
	logstore.Failure
	jobs map[job.Name]bool
}
