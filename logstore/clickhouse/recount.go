package clickhouse

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// settled is how long after its end a day may be repaired: what comes in meanwhile would
// be counted twice, or not at all.
const settled = time.Hour

// Repair implements [logstore.Store]. Minutes are repaired as long as they are kept.
func (w *writer) Repair(ctx context.Context, day time.Time) error {
	day = day.UTC().Truncate(logstore.Day)
	end := day.Add(logstore.Day)
	if time.Since(end) < settled {
		return &job.InvalidError{Field: "day", Reason: "must have been over for an hour"}
	}
	if err := w.Prepare(ctx); err != nil {
		return err
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	var n uint64
	if err := w.conn.QueryRow(ctx, "SELECT count() FROM runs WHERE "+ofDay, day.Unix(), end.Unix()).Scan(&n); err != nil {
		return fmt.Errorf("look for runs of %s: %w", day.Format(time.DateOnly), database.Explain(err))
	}
	if n == 0 {
		return &job.InvalidError{Field: "day", Reason: "has no runs from which reports could be made"}
	}
	return w.recount(ctx, day)
}

// ofDay is the condition of a run's row to be of the day between two instants.
const ofDay = "fire_time >= fromUnixTimestamp(?) AND fire_time < fromUnixTimestamp(?)"

// reportsOutlive reports whether the reports of a day count more ends of some job than
// the day has. An interrupted write cannot hide that: it makes the reports count fewer
// ends, not more.
func (w *writer) reportsOutlive(ctx context.Context, day time.Time) (bool, error) {
	from, to := day.Unix(), day.Add(logstore.Day).Unix()
	var jobs uint64
	err := w.conn.QueryRow(ctx, "SELECT count() FROM (SELECT job, sum("+strings.Join(database.ReportStatuses, " + ")+") AS n FROM report_hour "+
		"WHERE bucket >= fromUnixTimestamp(?) AND bucket < fromUnixTimestamp(?) GROUP BY job) AS counted LEFT JOIN "+
		"(SELECT job, sum(sign * toInt64(count)) AS n FROM runs WHERE "+ofDay+" AND broadcast_index = -1 AND run_status >= 'succeeded' AND cause < 'test' GROUP BY job) AS there "+
		"USING job WHERE counted.n > there.n", from, to, from, to).Scan(&jobs)
	if err != nil {
		return false, fmt.Errorf("compare reports of %s with runs: %w", day.Format(time.DateOnly), database.Explain(err))
	}
	return jobs > 0, nil
}

// recount counts a day again. Nobody may write runs of that day meanwhile.
func (w *writer) recount(ctx context.Context, day time.Time) error {
	ctx = clickhouse.Context(ctx,
		clickhouse.WithQueryID("carillon-recount-"+w.db.Layout.Database),
		clickhouse.WithSettings(clickhouse.Settings{
			"replace_running_query": 1,
			// A server that is busy takes longer to end a query than the 5 s that it waits by itself.
			"replace_running_query_max_wait_ms": 60_000,
			// What is counted now may be the same as what was counted before, and has been cleared
			// since: without a token of its own ClickHouse would take it for a repeat.
			"insert_deduplication_token": fmt.Sprintf("recount %d", w.nextPrecedence()),
		}))
	// Of one whose program was killed, or gave up, a statement may still be at work, and would
	// count what this one counts. ClickHouse ends it for a query of the same id. It does not do
	// so for what alters a table.
	var one uint8
	if err := w.conn.QueryRow(ctx, "SELECT 1").Scan(&one); err != nil {
		return fmt.Errorf("end the recount before: %w", database.Explain(err))
	}
	end := day.Add(logstore.Day)
	// Rows stay: ClickHouse removes a part that has none, and forgets the token of the write
	// that brought it. A repeat of that write would be counted again.
	for _, table := range []string{"report_minute", "report_hour", "report_day", "report_instance"} {
		err := w.conn.Exec(ctx, fmt.Sprintf("ALTER TABLE %s %s UPDATE %s WHERE bucket >= fromUnixTimestamp(%d) AND bucket < fromUnixTimestamp(%d) SETTINGS mutations_sync = 2",
			w.db.Layout.Local(table), w.db.Layout.OnCluster(), database.NothingCounted(), day.Unix(), end.Unix()))
		if err != nil {
			return fmt.Errorf("clear %s of %s: %w", table, day.Format(time.DateOnly), database.Explain(err))
		}
	}
	// Days follow from hours by their view.
	const measurable = "(status >= 'succeeded' AND duration_ms >= 0)"
	for _, r := range []struct{ table, bucket, keys, by, condition string }{
		{"report_minute", "toStartOfMinute(fire_time)", "group", "run_status", ""},
		{"report_hour", w.db.Layout.HourPart("fire_time"), "group, job, version", "run_status", ""},
		{"report_instance", w.db.Layout.HourPart("fire_time"), "group, instance", "status", " AND instance != ''"},
	} {
		keys := "bucket, " + r.keys
		names := keys + ", " + strings.Join(database.ReportNames(), ", ")
		err := w.conn.Exec(ctx, fmt.Sprintf("INSERT INTO %s (%s) SELECT %s AS %s, %s FROM runs FINAL WHERE %s AND broadcast_index = -1 AND status >= 'succeeded' AND cause < 'test'%s GROUP BY %s",
			r.table, names, r.bucket, keys, w.db.Layout.ReportColumns(r.by, measurable), ofDay, r.condition, keys), day.Unix(), end.Unix())
		if err != nil {
			return fmt.Errorf("make %s of %s: %w", r.table, day.Format(time.DateOnly), database.Explain(err))
		}
	}
	return nil
}
