package clickhouse

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"carillon/job"
	"carillon/logstore"
)

// Run implements [logstore.Store].
func (s *Store) Run(ctx context.Context, id job.RunID) ([]logstore.Run, error) {
	if _, err := job.ParseRunID(string(id)); err != nil {
		return nil, err
	}
	if err := s.Prepare(ctx); err != nil {
		return nil, err
	}
	rows, err := s.attempts(ctx, placeOf(id, logstore.Whole))
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	runs, err := s.asRuns(ctx, rows)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	return runs, nil
}

// attempts returns what there is of a place, of which there must be something, the
// newest first.
func (s *Store) attempts(ctx context.Context, p place) ([]row, error) {
	all, err := s.read(ctx, known, " WHERE fire_time = fromUnixTimestamp64Milli(?, 'UTC') AND run_id = ? AND broadcast_index = ?", p.fire, p.id, p.index)
	if err != nil {
		return nil, err
	}
	rows := standing(all)
	if len(rows) == 0 {
		return nil, job.ErrNotFound
	}
	return rows, nil
}

// asRuns returns rows as runs, with their progress.
func (s *Store) asRuns(ctx context.Context, rows []row) ([]logstore.Run, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	runs := make([]logstore.Run, len(rows))
	for i := range rows {
		runs[i] = rows[i].run()
	}
	return runs, s.addProgress(ctx, rows, runs)
}

// run returns a row as a run.
func (r *row) run() logstore.Run {
	run := logstore.Run{
		RunID: unpackID(r.id), Job: r.job, Version: int(r.version), Attempt: int(r.attempt), Piece: pieceOf(r.index), Total: int(r.total),
		Status: statusOf[r.status], Retrying: r.status >= firstFinal && r.runStatus == statusCodes[job.StatusQueued], Cause: causeOf[r.cause],
		CommittedAt: instantAt(r.committedAt), DeliveredAt: instantAt(r.deliveredAt), StartedAt: instantAt(r.startedAt), FinishedAt: instantAt(r.finishedAt),
		Instance: r.instance, Delivery: int(r.delivery), Message: r.message, Reason: cmp.Or(r.endReason, r.reason), By: r.madeBy,
		LogLines: int(r.logLines), Count: int(r.count), Until: instantAt(r.until), //nolint:gosec // was an int
	}
	run.FireTime = run.RunID.Time()
	if r.parent != noRun {
		run.Parent = unpackID(r.parent)
	}
	if r.exited {
		code := int(r.exitCode)
		run.ExitCode = &code
	}
	if r.result != "" {
		run.Result = json.RawMessage(r.result)
	}
	return run
}

// Runs implements [logstore.Store].
func (s *Store) Runs(ctx context.Context, filter logstore.RunFilter) (logstore.RunPage, error) {
	var page logstore.RunPage
	if err := filter.Validate(); err != nil {
		return page, err
	}
	if err := s.Prepare(ctx); err != nil {
		return page, err
	}
	limit := cmp.Or(filter.Limit, logstore.DefaultRuns)
	rows, err := s.page(ctx, filter, limit+1) // one more tells whether there is another page
	if err != nil {
		return page, fmt.Errorf("list runs: %w", err)
	}
	more := len(rows) > limit
	if more {
		rows = rows[:limit]
	}
	if page.Runs, err = s.asRuns(ctx, rows); err != nil {
		return page, fmt.Errorf("list runs: %w", err)
	}
	if more {
		page.Next = logstore.CursorAt(&page.Runs[limit-1]).String()
	}
	return page, nil
}

// pageSpans are how far before its end a page is looked for, until it is full. Most are
// with what fired within a day, and to ask for that alone spares ClickHouse the look at
// the parts of all other days: of 7, that takes a third of the time. A job that fires
// some times a day has its page in a week.
var pageSpans = []time.Duration{24 * time.Hour, 7 * 24 * time.Hour}

// page returns the newest runs that filter selects, limit at most.
func (s *Store) page(ctx context.Context, filter logstore.RunFilter, limit int) ([]row, error) {
	end := endOf(&filter)
	for i, found := 0, 0; i < len(pageSpans); i++ {
		from := end.Add(-pageSpans[i])
		if !filter.From.Before(from) || i > 0 && found*int(pageSpans[i]/pageSpans[i-1]) < limit {
			break // the span before says that this one will not do either
		}
		narrow := filter
		narrow.From = from
		rows, err := s.pageWithin(ctx, &narrow, limit)
		if err != nil || len(rows) == limit {
			return rows, err
		}
		found = len(rows)
	}
	return s.pageWithin(ctx, &filter, limit)
}

// endOf returns an instant that no run of a page fired after, but for runs of the
// future.
func endOf(f *logstore.RunFilter) time.Time {
	end := time.Now()
	if !f.To.IsZero() && f.To.Before(end) {
		end = f.To
	}
	if c, err := logstore.ParseCursor(f.Cursor); err == nil && c.RunID.Time().Before(end) {
		end = c.RunID.Time()
	}
	return end
}

// spare is how many more rows a page asks for than it shows: those that cancel out
// and wait for their merge.
func spare(limit int) int { return 2*limit + 32 }

// pageWithin reads the newest rows by their instant alone, which is the order that they
// are stored in: to have ClickHouse sort those of one instant by their run takes a third of
// a list's time. Only where more fire at one instant than a page has is that needed.
func (s *Store) pageWithin(ctx context.Context, f *logstore.RunFilter, limit int) ([]row, error) {
	c, err := ofRuns(f)
	if err != nil {
		return nil, err
	}
	if ofTimes(f) {
		ctx = clickhouse.Context(ctx, clickhouse.WithSettings(ofTimesSettings))
	}
	order := byInstant
	if s.crowded.Load() { // for then it will be so again
		order = newestFirst
	}
	for ask := spare(limit); ; {
		all, err := s.read(ctx, shown, fmt.Sprintf("%s%s LIMIT %d", c.clause(), order, ask), c.args...)
		if err != nil {
			return nil, err
		}
		cut := len(all) == ask
		whole := all
		if cut { // perhaps within the rows of the last instant
			last := all[ask-1].fire
			whole = slices.DeleteFunc(slices.Clone(all), func(r stored) bool { return r.fire == last })
		}
		rows := standing(whole)
		crowded := cut && len(rows) < limit
		s.crowded.Store(crowded)
		if crowded && order == byInstant {
			order = newestFirst
			continue
		}
		if crowded { // what was read may be cut within the rows of the last attempt, and no others
			last := all[ask-1].row
			rows = standing(slices.DeleteFunc(all, func(r stored) bool { return compareRows(&r.row, &last) == 0 }))
		}
		if len(rows) >= limit || !cut {
			return rows[:min(len(rows), limit)], nil
		}
		ask *= 4
	}
}

// ofTimes reports whether f selects by time alone, or by what no index helps with.
func ofTimes(f *logstore.RunFilter) bool {
	return len(f.Jobs) == 0 && len(f.Statuses) == 0 && f.MinAttempt <= 1 && f.Parent == ""
}

// ofTimesSettings spare ClickHouse to plan for what such a list has no use for, which is a
// tenth of the time of one.
var ofTimesSettings = clickhouse.Settings{
	"use_skip_indexes":             0,
	"optimize_use_projections":     0,
	"use_query_condition_cache":    0,
	"compile_expressions":          0,
	"compile_sort_description":     0,
	"local_filesystem_read_method": "pread",
}

// Counts implements [logstore.Store].
func (s *Store) Counts(ctx context.Context, filter logstore.RunFilter) (map[job.Status]int, error) {
	filter.Limit, filter.Cursor = 0, ""
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	if err := s.Prepare(ctx); err != nil {
		return nil, err
	}
	c, err := ofRuns(&filter)
	if err != nil {
		return nil, err
	}
	rows, err := s.conn.Query(ctx, "SELECT toString("+statusColumn(&filter)+"), sum(sign * toInt64(count)) AS fires FROM runs"+c.clause()+" GROUP BY 1 HAVING fires > 0", c.args...)
	if err != nil {
		return nil, fmt.Errorf("count runs: %w", explain(err))
	}
	defer func() { _ = rows.Close() }()
	counts := map[job.Status]int{}
	for rows.Next() {
		var status string
		var n int64
		if err := rows.Scan(&status, &n); err != nil {
			return nil, fmt.Errorf("count runs: %w", err)
		}
		counts[job.Status(status)] = int(n)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("count runs: %w", explain(err))
	}
	return counts, nil
}
