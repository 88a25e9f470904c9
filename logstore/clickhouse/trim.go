package clickhouse

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// runTables are the tables with the history of runs, and the expression of each for when a
// row came to be. Each has group, job and fire_time, and a partition for each day.
var runTables = []struct{ name, at string }{
	{"runs", "committed_at"},
	{"run_events", "if(at > now64(3, 'UTC'), fire_time, at)"}, // an executor's clock may be anywhere
}

// trimmer removes what is older than retention keeps, foresees what that will be, and measures what
// is left.
type trimmer struct{ *server }

// Trim implements [logstore.Store]. It drops whole days, in UTC, which takes no time
// whatever they hold. On a day from which some runs stay, it deletes the rows of the
// others; they are few compared to the lines.
func (t *trimmer) Trim(ctx context.Context, now time.Time, r job.Retention) (logstore.Trimmed, error) {
	var trimmed logstore.Trimmed
	if err := t.Prepare(ctx); err != nil {
		return trimmed, err
	}
	old, err := t.countOld(ctx, now, &r)
	if err != nil {
		return trimmed, fmt.Errorf("trim runs: %w", err)
	}
	for _, table := range runTables {
		if err := t.trimTable(ctx, table.name, isOld(now, &r, table.at), now); err != nil {
			return trimmed, err
		}
	}
	trimmed.Runs = old
	due, err := t.dueLines(ctx, now, &r)
	if err != nil {
		return trimmed, err
	}
	for _, p := range due {
		if err := t.drop(ctx, "run_logs", p.id); err != nil {
			return trimmed, err
		}
		trimmed.Lines += p.rows
	}
	trimmed.Facts, err = t.trimFacts(ctx, now, &r)
	return trimmed, err
}

// keepRuns is how many seconds the runs of a row's job are kept, and keepLogs its lines.
func keepRuns(r *job.Retention) string {
	return keepOf(r, func(k job.Keep) job.Duration { return k.Runs })
}

func keepLogs(r *job.Retention) string {
	return keepOf(r, func(k job.Keep) job.Duration { return k.Logs })
}

// keepOf writes r as an expression of job and group. Both were validated, and so have
// no quotes in them.
func keepOf(r *job.Retention, part func(job.Keep) job.Duration) string {
	seconds := func(k job.Keep) string { return strconv.FormatInt(int64(time.Duration(part(k)).Seconds()), 10) }
	transform := func(column string, names, values []string, otherwise string) string {
		if len(names) == 0 {
			return otherwise
		}
		return fmt.Sprintf("transform(toString(%s), ['%s'], [%s], %s)", column, strings.Join(names, "', '"), strings.Join(values, ", "), otherwise)
	}
	var groups, ofGroups, jobs, ofJobs []string
	for _, group := range slices.Sorted(maps.Keys(r.Groups)) {
		groups, ofGroups = append(groups, group), append(ofGroups, seconds(r.OfGroup(group)))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Jobs)) {
		jobs, ofJobs = append(jobs, string(name)), append(ofJobs, seconds(r.Of(name)))
	}
	return "toUInt32(" + transform("job", jobs, ofJobs, transform("group", groups, ofGroups, seconds(r.Default))) + ")"
}

// isOld is true of the rows of days that r keeps no longer, and that came to be long
// enough ago. Of a row of runs and the one that takes it back it says the same.
func isOld(now time.Time, r *job.Retention, at string) string {
	shortest, _ := r.Bounds()
	oldest := now.Add(-time.Duration(shortest.Runs)).UTC().Truncate(logstore.Day)
	return fmt.Sprintf("fire_time < toDateTime64(%d, 3, 'UTC') AND greatest(toStartOfDay(fire_time) + INTERVAL 1 DAY, toDateTime(%s)) + toIntervalSecond(%s) <= toDateTime(%d, 'UTC')",
		oldest.Unix(), at, keepRuns(r), now.Unix())
}

// countOld returns how many attempts are too old.
func (t *trimmer) countOld(ctx context.Context, now time.Time, r *job.Retention) (n int64, err error) {
	err = t.conn.QueryRow(ctx, "SELECT sumIf(sign, broadcast_index = -1) FROM runs WHERE "+isOld(now, r, runTables[0].at)).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count old runs: %w", database.Explain(err))
	}
	return n, nil
}

// trimTable deletes what is too old: a whole day if nothing of it stays, else its rows.
func (t *trimmer) trimTable(ctx context.Context, table, old string, now time.Time) error {
	rows, err := t.conn.Query(ctx, "SELECT _partition_id, countIf("+old+") AS old, countIf(NOT ("+old+")) AS left FROM "+table+
		" WHERE fire_time < toDateTime64(?, 3, 'UTC') GROUP BY _partition_id HAVING old > 0 ORDER BY _partition_id", now.Unix())
	if err != nil {
		return fmt.Errorf("count old rows of %s: %w", table, database.Explain(err))
	}
	defer func() { _ = rows.Close() }()
	var whole []string
	some := false
	for rows.Next() {
		var id string
		var n, left uint64
		if err := rows.Scan(&id, &n, &left); err != nil {
			return fmt.Errorf("count old rows of %s: %w", table, err)
		}
		if some = some || left > 0; left == 0 {
			whole = append(whole, id)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("count old rows of %s: %w", table, database.Explain(err))
	}
	for _, id := range whole {
		if err := t.drop(ctx, table, id); err != nil {
			return err
		}
	}
	if !some {
		return nil
	}
	if err := t.conn.Exec(ctx, "DELETE FROM "+t.db.Layout.Local(table)+" "+t.db.Layout.OnCluster()+" WHERE "+old); err != nil {
		return fmt.Errorf("delete old rows of %s: %w", table, database.Explain(err))
	}
	return nil
}

// partition is one day of a table; of lines, in one class of retention.
type partition struct {
	id          string
	day         time.Time
	class       int
	rows, bytes int64
}

// partitions returns those of a table, the oldest first, as all servers have them.
func (t *trimmer) partitions(ctx context.Context, table string) ([]partition, error) {
	rows, err := t.conn.Query(ctx, "SELECT partition_id, sum(rows), sum(bytes_on_disk) FROM "+t.db.Layout.Everyone("system.parts")+
		" WHERE active AND database = ? AND table = ? GROUP BY partition_id ORDER BY partition_id", t.db.Layout.Database, t.db.Layout.Local(table))
	if err != nil {
		return nil, fmt.Errorf("list days of %s: %w", table, database.Explain(err))
	}
	defer func() { _ = rows.Close() }()
	var all []partition
	for rows.Next() {
		var p partition
		var n, bytes uint64
		if err := rows.Scan(&p.id, &n, &bytes); err != nil {
			return nil, fmt.Errorf("list days of %s: %w", table, err)
		}
		day, class, _ := strings.Cut(p.id, "-")
		if p.day, err = time.Parse("20060102", day); err != nil {
			return nil, fmt.Errorf("read partition %q of %s: %w", p.id, table, err)
		}
		_, _ = fmt.Sscan(class, &p.class) // only lines have one
		p.rows, p.bytes = int64(n), int64(bytes)
		all = append(all, p)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list days of %s: %w", table, database.Explain(err))
	}
	return all, nil
}

// dueLines returns the partitions of lines none of whose jobs keeps them any longer.
func (t *trimmer) dueLines(ctx context.Context, now time.Time, r *job.Retention) ([]partition, error) {
	all, err := t.partitions(ctx, "run_logs")
	if err != nil {
		return nil, err
	}
	shortest, _ := r.Bounds()
	var due []partition
	for _, p := range all {
		if logstore.DropAt(p.day, p.day, p.class, time.Duration(shortest.Logs)).After(now) {
			continue
		}
		var at time.Time
		end := p.day.Add(logstore.Day)
		// precedence tells when a line was written.
		err := t.conn.QueryRow(ctx, fmt.Sprintf("SELECT max(greatest(toDateTime(%d, 'UTC'), toDateTime(intDiv(-newest, 1000000000), 'UTC')) + toIntervalSecond(least(%s, %d))) FROM "+
			"(SELECT group, job, min(precedence) AS newest FROM run_logs WHERE fire_time >= ? AND fire_time < ? AND retention_days = ? GROUP BY group, job)",
			end.Unix(), keepLogs(r), p.class*int(logstore.Day.Seconds())), p.day, end, uint16(p.class)).Scan(&at) //nolint:gosec // is one of job.LogClasses
		if err != nil {
			return nil, fmt.Errorf("look for jobs of day %s: %w", p.id, database.Explain(err))
		}
		if !at.After(now) {
			due = append(due, p)
		}
	}
	return due, nil
}

// drop drops a partition of a table, at once and whole.
func (t *trimmer) drop(ctx context.Context, table, id string) error {
	if err := t.conn.Exec(ctx, "ALTER TABLE "+t.db.Layout.Local(table)+" "+t.db.Layout.OnCluster()+" DROP PARTITION ID '"+id+"'"); err != nil {
		return fmt.Errorf("drop day %s of %s: %w", id, table, database.Explain(err))
	}
	return nil
}
