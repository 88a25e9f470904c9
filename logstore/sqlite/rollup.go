package sqlite

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon/job"
)

// The reports are kept by what changes in runs. Triggers of the connection that writes
// put every change of an attempt that has ended into a temporary table, with what it
// was before; at the end of the transaction the changes are added up and merged into
// the tables. A repeat changes no row, and so no report.
const watchEnds = `
CREATE TEMP TABLE ended (
  run_id BLOB, attempt INTEGER, job INTEGER, version INTEGER,
  state INTEGER, status INTEGER, count INTEGER, instance TEXT,
  old_state INTEGER, old_status INTEGER, old_count INTEGER, old_instance TEXT,
  committed_at INTEGER, started_at INTEGER, finished_at INTEGER, measured INTEGER
);
CREATE TEMP TRIGGER ended_at_once AFTER INSERT ON main.runs WHEN NEW.status >= 10 BEGIN
  INSERT INTO ended VALUES (` + endedNew + `, 0, 0, 0, '', ` + endedTimes + `, NEW.started_at <> 0);
END;
CREATE TEMP TRIGGER ended_later AFTER UPDATE ON main.runs WHEN NEW.status >= 10 AND (
  OLD.status <> NEW.status OR OLD.state <> NEW.state OR OLD.count <> NEW.count OR OLD.instance <> NEW.instance OR (OLD.started_at = 0 AND NEW.started_at <> 0)
) BEGIN
  INSERT INTO ended VALUES (` + endedNew + `, OLD.state, OLD.status, OLD.count, OLD.instance, ` + endedTimes + `,
    NEW.started_at <> 0 AND NOT (OLD.status >= 10 AND OLD.started_at <> 0));
END`

const (
	endedNew   = "NEW.run_id, NEW.attempt, NEW.job, NEW.version, NEW.state, NEW.status, NEW.count, NEW.instance"
	endedTimes = "NEW.committed_at, NEW.started_at, iif(NEW.ruled <> 0 AND NEW.ruled <> NEW.reported, NEW.ruled_at, NEW.finished_at)"
)

// ended is a change of an attempt that has ended.
type ended struct {
	id                                 []byte
	attempt, version                   int
	job                                int64
	state, status, count               int64
	oldState, oldStatus, oldCount      int64
	instance, oldInstance              string
	committedAt, startedAt, finishedAt int64
	measured                           bool
}

// reportStatuses are the final statuses, in the order of their codes and columns.
var reportStatuses = []job.Status{
	job.StatusSucceeded, job.StatusFailed, job.StatusTimedOut, job.StatusCancelled, job.StatusLost, job.StatusSkipped, job.StatusMissed,
}

// tally is what a row of a report adds up, or a change to it.
type tally struct {
	counts                                               [7]int64
	attempts, measured, firsts, durationSum, durationMax int64
	spreads                                              [4]spread // durations, committed, started, finished
}

// tallyColumns are the columns of a tally, in its order, and spreadColumns the last of
// them.
var (
	spreadColumns = []string{"durations", "committed", "started", "finished"}
	tallyColumns  = slices.Concat(
		[]string{"succeeded", "failed", "timed_out", "cancelled", "lost", "skipped", "missed", "attempts", "begun", "firsts", "duration_sum", "duration_max"}, spreadColumns)
)

func (t *tally) values(args []any) []any {
	for _, n := range t.counts {
		args = append(args, n)
	}
	args = append(args, t.attempts, t.measured, t.firsts, t.durationSum, t.durationMax)
	for _, s := range t.spreads {
		args = append(args, []byte(s.compact()))
	}
	return args
}

// count takes an attempt, or the run of which it is the newest, from one status to
// another.
func (t *tally) count(old, oldCount, status, count int64) {
	if old >= firstFinal {
		t.counts[old-firstFinal] -= oldCount
	}
	if status >= firstFinal {
		t.counts[status-firstFinal] += count
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
	if e.attempt != 1 {
		return
	}
	t.firsts++
	if e.committedAt != 0 {
		t.spreads[1] = t.spreads[1].add(e.committedAt - fire)
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
	step   time.Duration
	key    []string
	args   func(k *reportKey, args []any) []any
	upsert *bulk
}

var (
	reportMinute   = newReportTable("report_minute", time.Minute, []string{"bucket", "grp"}, nil, func(k *reportKey, args []any) []any { return append(args, k.bucket, k.group) })
	reportHour     = newReportTable("report_hour", time.Hour, []string{"bucket", "job", "version"}, []string{"grp"}, byJob)
	reportDay      = newReportTable("report_day", 24*time.Hour, []string{"bucket", "job", "version"}, []string{"grp"}, byJob)
	reportInstance = newReportTable("report_instance", time.Hour, []string{"bucket", "grp", "instance"}, nil, func(k *reportKey, args []any) []any {
		return append(args, k.bucket, k.group, k.instance)
	})
	reportTables = []*reportTable{reportMinute, reportHour, reportDay, reportInstance}
)

func byJob(k *reportKey, args []any) []any { return append(args, k.bucket, k.job, k.version, k.group) }

func newReportTable(name string, step time.Duration, key, more []string, args func(*reportKey, []any) []any) *reportTable {
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
		name: name, step: step, key: key, args: args,
		upsert: newBulk("INSERT INTO "+name+" ("+strings.Join(columns, ", ")+")", len(columns),
			"ON CONFLICT ("+strings.Join(key, ", ")+") DO UPDATE SET "+strings.Join(set, ", ")),
	}
}

// countEnds adds what has changed in the transaction to the reports.
func (w *writer) countEnds(ctx context.Context) error {
	changes, err := w.takeEnds(ctx)
	if err != nil || len(changes) == 0 {
		return err
	}
	tallies := map[*reportTable]map[reportKey]*tally{}
	of := func(t *reportTable, k reportKey, fire int64) *tally {
		k.bucket = fire / t.step.Milliseconds() * int64(t.step.Seconds())
		if tallies[t] == nil {
			tallies[t] = map[reportKey]*tally{}
		}
		if tallies[t][k] == nil {
			tallies[t][k] = &tally{}
		}
		return tallies[t][k]
	}
	for i := range changes {
		e := &changes[i]
		fire := fireOf(e.id)
		group := w.nameOf(e.job).Group()
		run := reportKey{job: e.job, version: int64(e.version), group: group}
		for _, t := range []*tally{of(reportMinute, reportKey{group: group}, fire), of(reportHour, run, fire), of(reportDay, run, fire)} {
			t.count(e.oldState, e.oldCount, e.state, e.count)
			t.attempt(e.oldStatus, e.status)
			t.measure(e, fire)
		}
		if e.oldInstance != "" && e.oldStatus != 0 {
			t := of(reportInstance, reportKey{group: group, instance: e.oldInstance}, fire)
			t.count(e.oldStatus, 1, 0, 0)
			t.attempt(e.oldStatus, 0)
		}
		if e.instance != "" {
			t := of(reportInstance, reportKey{group: group, instance: e.instance}, fire)
			t.count(0, 0, e.status, 1)
			t.attempt(0, e.status)
			t.measure(e, fire)
		}
	}
	for _, t := range reportTables {
		if err := w.addTallies(ctx, t, tallies[t]); err != nil {
			return fmt.Errorf("add to %s: %w", t.name, err)
		}
	}
	return nil
}

// takeEnds returns the changes of the transaction, and forgets them.
func (w *writer) takeEnds(ctx context.Context) ([]ended, error) {
	stmt, err := w.stmt(ctx, "SELECT * FROM ended")
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what has ended: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var all []ended
	for rows.Next() {
		var e ended
		if err := rows.Scan(&e.id, &e.attempt, &e.job, &e.version, &e.state, &e.status, &e.count, &e.instance,
			&e.oldState, &e.oldStatus, &e.oldCount, &e.oldInstance, &e.committedAt, &e.startedAt, &e.finishedAt, &e.measured); err != nil {
			return nil, fmt.Errorf("read what has ended: %w", err)
		}
		all = append(all, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read what has ended: %w", err)
	}
	if len(all) > 0 {
		if _, err := w.exec(ctx, "DELETE FROM ended"); err != nil {
			return nil, fmt.Errorf("forget what has ended: %w", err)
		}
	}
	return all, nil
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
	err := w.insert(ctx, t.upsert, len(keys), func(args []any, i int) []any { return tallies[keys[i]].values(t.args(&keys[i], args)) }, nil)
	if err != nil {
		return err
	}
	return w.compact(ctx, t, keys[0].bucket, keys[len(keys)-1].bucket)
}

// compact shortens the spreads of rows where they have grown long.
func (w *writer) compact(ctx context.Context, t *reportTable, first, last int64) error {
	stmt, err := w.stmt(ctx, fmt.Sprintf("SELECT %s, %s FROM %s WHERE bucket BETWEEN ? AND ? AND length(durations) > %d",
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
		if _, err := w.exec(ctx, update, append(args, row[:len(t.key)]...)...); err != nil {
			return err
		}
	}
	return nil
}

// fireOf returns the fire time within a packed id, in milliseconds.
func fireOf(id []byte) int64 {
	return int64(binary.BigEndian.Uint64(id) >> 16)
}

// reportsKept is how long the rows of reports are kept.
var reportsKept = map[*reportTable]time.Duration{
	reportMinute: 8 * 24 * time.Hour, reportHour: 100 * 24 * time.Hour, reportInstance: 100 * 24 * time.Hour, reportDay: 1830 * 24 * time.Hour,
}

// trimReports deletes rows of reports that are too old.
func (w *writer) trimReports(ctx context.Context, now time.Time) error {
	for t, keep := range reportsKept {
		if _, err := w.exec(ctx, "DELETE FROM "+t.name+" WHERE bucket < ?", now.Add(-keep).Unix()); err != nil {
			return fmt.Errorf("trim %s: %w", t.name, err)
		}
	}
	return nil
}

// Repair implements [logstore.Store]. It may be any day, as writers wait meanwhile.
func (s *Store) Repair(ctx context.Context, day time.Time) error {
	day = day.UTC().Truncate(24 * time.Hour)
	err := s.write(ctx, func(ctx context.Context, w *writer) error { return w.repair(ctx, day, day.Add(24*time.Hour)) })
	if err != nil {
		return fmt.Errorf("repair reports of %s: %w", day.Format(time.DateOnly), err)
	}
	return nil
}

func (w *writer) repair(ctx context.Context, from, to time.Time) error {
	n, err := w.exec(ctx, "INSERT INTO ended SELECT run_id, attempt, job, version, state, status, count, instance, 0, 0, 0, '', "+
		"committed_at, started_at, iif(ruled <> 0 AND ruled <> reported, ruled_at, finished_at), started_at <> 0 FROM runs WHERE status >= 10 AND run_id >= ? AND run_id < ?", idAt(from), idAt(to))
	if err != nil {
		return err
	}
	if n == 0 {
		return &job.InvalidError{Field: "day", Reason: "has no runs from which reports could be made"}
	}
	for _, t := range reportTables {
		if _, err := w.exec(ctx, "DELETE FROM "+t.name+" WHERE bucket >= ? AND bucket < ?", from.Unix(), to.Unix()); err != nil {
			return err
		}
	}
	return w.countEnds(ctx)
}

// makeReports makes the reports of a file that has runs and no reports, as it was
// written by a program that kept none.
func (s *Store) makeReports(ctx context.Context) error {
	var missing bool
	err := s.writer.conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM runs WHERE status >= 10) AND NOT EXISTS (SELECT 1 FROM report_day)").Scan(&missing)
	if err != nil || !missing {
		return err
	}
	var first, last []byte
	if err := s.writer.conn.QueryRowContext(ctx, "SELECT min(run_id), max(run_id) FROM runs").Scan(&first, &last); err != nil {
		return err
	}
	return s.write(ctx, func(ctx context.Context, w *writer) error {
		return w.repair(ctx, unpackID(first).Time(), unpackID(last).Time().Add(time.Millisecond))
	})
}
