package sqlite

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// waitingQuery reads the rows of one index, with what it says of them twice, as in newQuery.
var waitingQuery = "SELECT job, count(*), min(committed_at) FROM runs INDEXED BY runs_by_state WHERE state <> 10 AND state <> 0 AND state = " +
	strconv.FormatInt(statusCodes[job.StatusPending], 10) + " GROUP BY job"

// Waiting implements [logstore.Store].
func (s *statistics) Waiting(ctx context.Context) (map[string]logstore.Waiting, error) {
	rows, err := s.prepared.query(ctx, waitingQuery)
	if err != nil {
		return nil, fmt.Errorf("count waiting runs: %w", err)
	}
	defer func() { _ = rows.Close() }()
	waiting := map[string]logstore.Waiting{}
	for rows.Next() {
		var id, since int64
		var n int
		if err := rows.Scan(&id, &n, &since); err != nil {
			return nil, fmt.Errorf("count waiting runs: %w", err)
		}
		group := s.jobs.Name(id).Group()
		w := waiting[group]
		if at := file.Instant(since); w.Runs == 0 || at.Before(w.Since) {
			w.Since = at
		}
		w.Runs += n
		waiting[group] = w
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("count waiting runs: %w", err)
	}
	return waiting, nil
}

// usageColumns are what the usage of a group needs of an attempt. One that has not ended ends
// later than any range; one that a newer attempt has replaced has no end, and takes no time.
var usageColumns = "committed_at, started_at, total, CASE WHEN status >= 10 THEN iif(ruled <> 0 AND ruled <> reported, ruled_at, finished_at) WHEN state = 0 THEN 0 ELSE " +
	strconv.FormatInt(math.MaxInt64, 10) + " END AS ended"

// Usage implements [logstore.Store].
func (s *statistics) Usage(ctx context.Context, filter logstore.UsageFilter) ([]runlog.UsagePart, error) {
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	usage := logstore.NewUsage(&filter)
	query, args := s.usageQuery(&filter)
	if query == "" {
		return usage.Parts(), nil
	}
	rows, err := s.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("add up usage: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var s logstore.Spans
		if err := rows.Scan(&s.Ran, &s.First, &s.Last, &s.Count, &s.Begun, &s.Ended, &s.Since, &s.Longest); err != nil {
			return nil, fmt.Errorf("add up usage: %w", err)
		}
		usage.Add(&s)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("add up usage: %w", err)
	}
	return usage.Parts(), nil
}

// usageQuery returns the statement for the spans of a group, none if it has no runs. Attempts
// are read in the order of their fires, which is how they are stored.
func (s *statistics) usageQuery(f *logstore.UsageFilter) (string, []any) {
	fired, before := newQuery(f.Fired(), s.jobs), f.FiredBefore()
	if fired.empty {
		return "", nil
	}
	alive := before
	alive.Statuses = logstore.Alive
	var legs, older []string
	var args, olderArgs []any
	add := func(q *query, further string) {
		for _, leg := range q.legs {
			legs = append(legs, "SELECT 0 AS piece, "+usageColumns+" FROM "+leg.from+q.where+further)
			args = append(append(args, leg.args...), q.args...)
		}
	}
	// The pieces of older runs are found by these.
	addOlder := func(q *query, further string) {
		add(q, further)
		for _, leg := range q.legs {
			older = append(older, "SELECT run_id FROM "+leg.from+q.where+further+" AND total > 0")
			olderArgs = append(append(olderArgs, leg.args...), q.args...)
		}
	}
	executed := ""
	if f.Job == "" { // no executor has a slot for what is done elsewhere
		executed = " AND NOT " + ofHost
	}
	add(&fired, executed)
	q := newQuery(alive, s.jobs)
	addOlder(&q, executed)
	before.AllAttempts, before.Causes = true, []job.Cause{job.CauseBackfill}
	q = newQuery(before, s.jobs)
	q.legs = []leg{{from: "runs INDEXED BY runs_backfilled WHERE cause = 3"}}
	low, high := f.Fired().From.UnixMilli(), f.To.UnixMilli()
	addOlder(&q, fmt.Sprintf(" AND committed_at >= %d AND committed_at < %d AND state NOT IN (%s)", low, high, strings.Join(codesOf(logstore.Alive, statusCodes), ", ")))

	ids, _ := s.jobs.Select(f.Fired())
	pieces := "SELECT piece, " + usageColumns + " FROM pieces WHERE run_id"
	legs = append(legs, pieces+" >= ? AND run_id < ? AND job IN ("+file.Join(ids)+")", pieces+" IN ("+strings.Join(older, " UNION ")+")")
	args = append(append(args, file.IDAt(f.Fired().From), file.IDAt(f.To)), olderArgs...)

	from, end := f.From.UnixMilli(), f.End().UnixMilli()
	part := func(at string) string {
		return fmt.Sprintf("CASE WHEN %[1]s < %[2]d THEN 0 WHEN %[1]s >= %[3]d THEN %[4]d ELSE 1 + (%[1]s - %[2]d) * %[5]d / %[6]d END", at, from, end, f.Parts+1, f.Parts, f.To.UnixMilli()-from)
	}
	return "WITH counted AS (" + strings.Join(legs, " UNION ALL ") + ")" + fmt.Sprintf(usageSpans, from, end, part("begins"), part("ends")), args
}

// usageSpans are the spans of attempts, added up by the parts in which they begin and end. A
// run in pieces waits as one, and each piece takes a slot.
const usageSpans = `
SELECT ran, %[3]s, %[4]s, count(*), sum(max(begins, %[1]d) - %[1]d), sum(min(ends, %[2]d) - %[1]d), min(begins), max(ends - begins)
FROM (
  SELECT ran, iif(ran, started_at, committed_at) AS begins, iif(ran, max(started_at, ended), max(committed_at, iif(started_at > 0, started_at, ended))) AS ends
  FROM counted CROSS JOIN (SELECT 0 AS ran UNION ALL SELECT 1)
  WHERE iif(ran, total = 0 OR piece > 0, piece = 0)
)
WHERE begins > 0 AND begins < %[2]d AND ends >= %[1]d
GROUP BY 1, 2, 3`
