package sqlite

import (
	"cmp"
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

// reportStatuses are the final statuses, in the order of their codes and columns.
var reportStatuses = []job.Status{
	job.StatusSucceeded, job.StatusFailed, job.StatusTimedOut, job.StatusCancelled, job.StatusLost, job.StatusSkipped, job.StatusMissed,
}

// tally is what a row of a report adds up, or a change to it.
type tally struct {
	counts                                               [7]int64
	unscheduled, unscheduledSucceeded                    int64 // of those of counts that are judged, what no schedule asked for
	attempts, measured, firsts, durationSum, durationMax int64
	spreads                                              [5]spread // durations, committed, started, finished, delivered
}

// tallyColumns are the columns of a tally, in its order, and spreadColumns the last of
// them.
var (
	spreadColumns = []string{"durations", "committed", "started", "finished", "delivered"}
	tallyColumns  = slices.Concat(
		[]string{"succeeded", "failed", "timed_out", "cancelled", "lost", "skipped", "missed", "unscheduled", "unscheduled_succeeded", "attempts", "begun", "firsts", "duration_sum", "duration_max"}, spreadColumns)
)

func (t *tally) values(args []any) []any {
	for _, n := range t.counts {
		args = append(args, n)
	}
	args = append(args, t.unscheduled, t.unscheduledSucceeded, t.attempts, t.measured, t.firsts, t.durationSum, t.durationMax)
	for _, s := range t.spreads {
		args = append(args, []byte(s.compact()))
	}
	return args
}

// count moves an attempt from one status to another and, if it is the newest of its
// run, the run too. The cause stays.
func (t *tally) count(cause, old, oldCount, status, count int64) {
	t.add(cause, old, -oldCount)
	t.add(cause, status, count)
}

func (t *tally) add(cause, status, count int64) {
	if status < firstFinal {
		return
	}
	t.counts[status-firstFinal] += count
	if causeOf[cause].Scheduled() {
		return
	}
	switch ended := reportStatuses[status-firstFinal]; {
	case ended == job.StatusSucceeded:
		t.unscheduledSucceeded += count
		fallthrough
	case runlog.Judged(ended):
		t.unscheduled += count
	}
}

// attempt counts an attempt that is an executed one from now on, or no more.
func (t *tally) attempt(old, status int64) {
	t.attempts += executed(status) - executed(old)
}

func executed(status int64) int64 {
	if status >= firstFinal && status < statusCodes[job.StatusSkipped] {
		return 1
	}
	return 0
}

func (t *tally) measure(e *ended, fire int64) {
	if !e.measured {
		return
	}
	duration := max(e.finishedAt-e.startedAt, 0)
	t.measured++
	t.durationSum += duration
	t.durationMax = max(t.durationMax, duration)
	t.spreads[0] = t.spreads[0].add(duration)
	if e.attempt != 1 || !causeOf[e.cause].Scheduled() {
		return
	}
	t.firsts++
	if e.decidedAt != 0 {
		t.spreads[1] = t.spreads[1].add(e.decidedAt - fire)
	}
	if e.deliveredAt != 0 {
		t.spreads[4] = t.spreads[4].add(e.deliveredAt - fire)
	}
	late := max(e.startedAt-fire, 0)
	t.spreads[2] = t.spreads[2].add(late)
	t.spreads[3] = t.spreads[3].add(late + duration)
}

// reportKey is a row of one of the tables of reports; each has some of it.
type reportKey struct {
	bucket       int64 // Unix seconds
	job, version int64
	group        string
	instance     string
}

// reportTable is one of them, with what its rows are told apart by.
type reportTable struct {
	name   string
	begin  func(time.Time) time.Time // of the bucket of an instant
	key    []string
	args   func(k *reportKey, args []any) []any
	upsert *file.Bulk
}

var (
	reportMinute   = newReportTable("report_minute", whole(time.Minute), []string{"bucket", "grp"}, nil, byGroup)
	reportGroup    = newReportTable("report_group", logstore.HourPart, []string{"bucket", "grp"}, nil, byGroup)
	reportHour     = newReportTable("report_hour", logstore.HourPart, []string{"bucket", "job", "version"}, []string{"grp"}, byJob)
	reportDay      = newReportTable("report_day", whole(logstore.Day), []string{"bucket", "job", "version"}, []string{"grp"}, byJob)
	reportInstance = newReportTable("report_instance", logstore.HourPart, []string{"bucket", "grp", "instance"}, nil, func(k *reportKey, args []any) []any {
		return append(args, k.bucket, k.group, k.instance)
	})
	reportTables = []*reportTable{reportMinute, reportGroup, reportHour, reportDay, reportInstance}
)

func byGroup(k *reportKey, args []any) []any { return append(args, k.bucket, k.group) }

func byJob(k *reportKey, args []any) []any { return append(args, k.bucket, k.job, k.version, k.group) }

// whole is for buckets of one length.
func whole(length time.Duration) func(time.Time) time.Time {
	return func(at time.Time) time.Time { return at.Truncate(length) }
}

func newReportTable(name string, begin func(time.Time) time.Time, key, more []string, args func(*reportKey, []any) []any) *reportTable {
	var set []string
	for _, column := range tallyColumns {
		switch {
		case column == "duration_max":
			set = append(set, "duration_max = max(duration_max, excluded.duration_max)")
		case slices.Contains(spreadColumns, column):
			set = append(set, fmt.Sprintf("%[1]s = CAST(%[1]s || excluded.%[1]s AS BLOB)", column))
		default:
			set = append(set, fmt.Sprintf("%[1]s = %[1]s + excluded.%[1]s", column))
		}
	}
	columns := slices.Concat(key, more, tallyColumns)
	return &reportTable{
		name: name, begin: begin, key: key, args: args,
		upsert: file.NewBulk("INSERT INTO "+name+" ("+strings.Join(columns, ", ")+")", len(columns),
			"ON CONFLICT ("+strings.Join(key, ", ")+") DO UPDATE SET "+strings.Join(set, ", ")),
	}
}

func (w *writer) addTallies(ctx context.Context, t *reportTable, tallies map[reportKey]*tally) error {
	if len(tallies) == 0 {
		return nil
	}
	keys := make([]reportKey, 0, len(tallies))
	for k := range tallies {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b reportKey) int { // neighbours are cheaper to write one after the other
		return cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.job, b.job), cmp.Compare(a.version, b.version), cmp.Compare(a.group, b.group), cmp.Compare(a.instance, b.instance))
	})
	err := w.Insert(ctx, t.upsert, len(keys), func(args []any, i int) []any { return tallies[keys[i]].values(t.args(&keys[i], args)) }, nil)
	if err != nil {
		return err
	}
	return w.compact(ctx, t, keys[0].bucket, keys[len(keys)-1].bucket)
}

// compact shortens the spreads of rows where they have grown long.
func (w *writer) compact(ctx context.Context, t *reportTable, first, last int64) error {
	stmt, err := w.Stmt(ctx, fmt.Sprintf("SELECT %s, %s FROM %s WHERE bucket BETWEEN ? AND ? AND length(durations) > %d",
		strings.Join(t.key, ", "), strings.Join(spreadColumns, ", "), t.name, maxSpread))
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, first, last)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var found [][]any
	for rows.Next() {
		row := make([]any, len(t.key)+len(spreadColumns))
		into := make([]any, len(row))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		found = append(found, row)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	update := fmt.Sprintf("UPDATE %s SET %s = ? WHERE %s = ?", t.name, strings.Join(spreadColumns, " = ?, "), strings.Join(t.key, " = ? AND "))
	for _, row := range found {
		var args []any
		for _, v := range row[len(t.key):] {
			blob, _ := v.([]byte)
			args = append(args, []byte(spread(blob).compact()))
		}
		if _, err := w.Exec(ctx, update, append(args, row[:len(t.key)]...)...); err != nil {
			return err
		}
	}
	return nil
}

// reportsKept is how long the rows of reports are kept.
var reportsKept = map[*reportTable]time.Duration{
	reportMinute: 8 * logstore.Day, reportGroup: logstore.HoursKept, reportHour: logstore.HoursKept, reportInstance: logstore.HoursKept, reportDay: 1830 * logstore.Day,
}

// trimReports deletes rows of reports that are too old.
func (w *writer) trimReports(ctx context.Context, now time.Time) error {
	for t, keep := range reportsKept {
		if _, err := w.Exec(ctx, "DELETE FROM "+t.name+" WHERE bucket < ?", now.Add(-keep).Unix()); err != nil {
			return fmt.Errorf("trim %s: %w", t.name, err)
		}
	}
	return nil
}
