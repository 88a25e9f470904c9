package clickhouse

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// Waiting implements [logstore.Store]. A row that is no longer so is there twice, with both
// signs, until the two are merged.
func (t *trimmer) Waiting(ctx context.Context) (map[string]logstore.Waiting, error) {
	if err := t.Prepare(ctx); err != nil {
		return nil, err
	}
	c, err := ofRuns(&logstore.RunFilter{Statuses: []job.Status{job.StatusPending}})
	if err != nil {
		return nil, err
	}
	rows, err := t.conn.Query(ctx, "SELECT of, count(), min(since) FROM (SELECT toString(group) AS of, committed_at AS since FROM runs"+c.clause()+
		" GROUP BY run_id, attempt, of, since HAVING sum(sign) > 0) GROUP BY of", c.args...)
	if err != nil {
		return nil, fmt.Errorf("count waiting runs: %w", database.Explain(err))
	}
	defer func() { _ = rows.Close() }()
	waiting := map[string]logstore.Waiting{}
	for rows.Next() {
		var group string
		var n uint64
		var since time.Time
		if err := rows.Scan(&group, &n, &since); err != nil {
			return nil, fmt.Errorf("count waiting runs: %w", err)
		}
		waiting[group] = logstore.Waiting{Runs: int(n), Since: since.UTC()}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("count waiting runs: %w", database.Explain(err))
	}
	return waiting, nil
}

// Usage implements [logstore.Store].
func (t *trimmer) Usage(ctx context.Context, filter logstore.UsageFilter) ([]runlog.UsagePart, error) {
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	if err := t.Prepare(ctx); err != nil {
		return nil, err
	}
	query, args, err := usageQuery(&filter)
	if err != nil {
		return nil, err
	}
	rows, err := t.conn.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("add up usage: %w", database.Explain(err))
	}
	defer func() { _ = rows.Close() }()
	usage := logstore.NewUsage(&filter)
	for rows.Next() {
		var ran uint8
		var first, last int64
		var n uint64
		var spans logstore.Spans
		if err := rows.Scan(&ran, &first, &last, &n, &spans.Begun, &spans.Ended, &spans.Since, &spans.Longest); err != nil {
			return nil, fmt.Errorf("add up usage: %w", err)
		}
		spans.Ran, spans.First, spans.Last, spans.Count = ran == 1, int(first), int(last), int64(n)
		usage.Add(&spans)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("add up usage: %w", database.Explain(err))
	}
	return usage.Parts(), nil
}

// usageQuery returns the query for the spans of a group. The three kinds of runs that count are
// read apart, so that ClickHouse looks at old days only for the few of them that are alive, or
// of a backfill; then the pieces of those.
func usageQuery(f *logstore.UsageFilter) (string, []any, error) {
	fired, before := f.Fired(), f.FiredBefore()
	recent, err := where(&fired)
	if err != nil {
		return "", nil, err
	}
	alive := before
	alive.Statuses = logstore.Alive
	living, err := ofRuns(&alive)
	if err != nil {
		return "", nil, err
	}
	if f.Job == "" { // no executor has a slot for what is done elsewhere
		recent.add("NOT " + ofHost)
		living.add("NOT " + ofHost)
	}
	before.AllAttempts, before.Causes = true, []job.Cause{job.CauseBackfill}
	backfilled, err := ofRuns(&before)
	if err != nil {
		return "", nil, err
	}
	backfilled.add("committed_at >= fromUnixTimestamp64Milli(?, 'UTC') AND committed_at < fromUnixTimestamp64Milli(?, 'UTC')", fired.From.UnixMilli(), f.To.UnixMilli())
	backfilled.add("run_status NOT IN (" + list(logstore.Alive) + ")")

	inPieces, older := &conditions{}, []string{}
	for _, c := range []*conditions{living, backfilled} {
		older = append(older, "SELECT fire_time, run_id FROM runs"+c.clause()+" AND broadcast_total > 0 GROUP BY fire_time, run_id, attempt HAVING sum(sign) > 0")
		inPieces.args = append(inPieces.args, c.args...)
	}
	inPieces.add("broadcast_index >= 0 AND (fire_time, run_id) IN (" + strings.Join(older, " UNION ALL ") + ")")

	var kinds []string
	var args []any
	for _, c := range []*conditions{recent, living, backfilled, inPieces} {
		kinds = append(kinds, fmt.Sprintf(usageAttempts, int64(math.MaxInt64), c.clause()))
		args = append(args, c.args...)
	}
	from, end := f.From.UnixMilli(), f.End().UnixMilli()
	part := func(at string) string {
		return fmt.Sprintf("toInt64(multiIf(%[1]s < %[2]d, 0, %[1]s >= %[3]d, %[4]d, 1 + intDiv((%[1]s - %[2]d) * %[5]d, %[6]d)))", at, from, end, f.Parts+1, f.Parts, f.To.UnixMilli()-from)
	}
	return fmt.Sprintf(usageSpans, from, end, part("begins"), part("ends"), strings.Join(kinds, " UNION ALL ")), args, nil
}

// usageAttempts are what the usage of a group needs of attempts and pieces, each as it is now.
// One that has not ended ends later than any range; one that a newer attempt has replaced has
// no end, and takes no time.
const usageAttempts = `
SELECT run_id, broadcast_index AS piece, attempt, broadcast_total AS total, toUnixTimestamp64Milli(committed_at) AS committed, toUnixTimestamp64Milli(started_at) AS started,
  toInt64(multiIf(status >= 'succeeded', toUnixTimestamp64Milli(finished_at), run_status = '', 0, %d)) AS ended
FROM runs%s
GROUP BY run_id, piece, attempt, total, committed, started, ended HAVING sum(sign) > 0`

// usageSpans are the spans of attempts, added up by the parts in which they begin and end. A
// run in pieces waits as one, and each piece takes a slot.
const usageSpans = `
SELECT ran, %[3]s AS first, %[4]s AS last, count(), sum(greatest(begins, %[1]d) - %[1]d), sum(least(ends, %[2]d) - %[1]d), min(begins), max(ends - begins)
FROM (
  SELECT arrayJoin([toUInt8(0), 1]) AS ran, if(ran = 1, started, committed) AS begins,
    if(ran = 1, greatest(started, ended), greatest(committed, if(started > 0, started, ended))) AS ends
  FROM (%[5]s)
  WHERE if(ran = 1, total = 0 OR piece >= 0, piece = -1)
)
WHERE begins > 0 AND begins < %[2]d AND ends >= %[1]d
GROUP BY ran, first, last`
