package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"carillon/job"
	"carillon/logstore"
)

const listColumns = "run_id, attempt, job, version, status, cause, committed_at, started_at, finished_at, delivery, log_lines, exit_code, " +
	"until, count, percent, instance, made_by, reason, text, message"

// Run implements [logstore.Store].
func (s *Store) Run(ctx context.Context, id job.RunID) ([]logstore.Run, error) {
	if _, err := job.ParseRunID(string(id)); err != nil {
		return nil, err
	}
	rows, err := s.reads.QueryContext(ctx, "SELECT "+listColumns+", result FROM runs WHERE run_id = ? ORDER BY attempt DESC", packID(id))
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	runs, err := s.scan(rows, true)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("%w: run %s", job.ErrNotFound, id)
	}
	return runs, nil
}

// Runs implements [logstore.Store].
func (s *Store) Runs(ctx context.Context, filter logstore.RunFilter) (logstore.RunPage, error) {
	var page logstore.RunPage
	if err := filter.Validate(); err != nil {
		return page, err
	}
	q := newQuery(filter, s.jobs)
	if q.empty {
		return page, nil
	}
	if filter.Cursor != "" {
		cursor, err := logstore.ParseCursor(filter.Cursor)
		if err != nil {
			return page, err
		}
		q.and("(run_id, attempt) < (?, ?)", packID(cursor.RunID), cursor.Attempt)
	}
	limit := filter.Limit
	if limit == 0 {
		limit = logstore.DefaultRuns
	}
	query, args := q.newest(limit + 1) // one more tells whether there is another page
	rows, err := s.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return page, fmt.Errorf("list runs: %w", err)
	}
	runs, err := s.scan(rows, false)
	if err != nil {
		return page, fmt.Errorf("list runs: %w", err)
	}
	if len(runs) > limit {
		runs = runs[:limit]
		page.Next = logstore.CursorAt(&runs[limit-1]).String()
	}
	page.Runs = runs
	return page, nil
}

// Counts implements [logstore.Store].
func (s *Store) Counts(ctx context.Context, filter logstore.RunFilter) (map[job.Status]int, error) {
	filter.Limit, filter.Cursor = 0, ""
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	counts := map[job.Status]int{}
	q := newQuery(filter, s.jobs)
	if q.empty {
		return counts, nil
	}
	query, args := q.counts()
	rows, err := s.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("count runs: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var status int64
		var n int
		if err := rows.Scan(&status, &n); err != nil {
			return nil, fmt.Errorf("count runs: %w", err)
		}
		counts[statusOf[status]] = n
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("count runs: %w", err)
	}
	return counts, nil
}

// LastRuns implements [logstore.Store].
func (s *Store) LastRuns(ctx context.Context, jobs []job.Name, n int) (map[job.Name][]logstore.Run, error) {
	if n < 1 || n > logstore.MaxLastRuns {
		return nil, &job.InvalidError{Field: "n", Reason: fmt.Sprintf("must be from 1 to %d", logstore.MaxLastRuns)}
	}
	stmt, err := s.reads.PrepareContext(ctx, "SELECT "+listColumns+" FROM runs INDEXED BY runs_by_job WHERE job = ? ORDER BY run_id DESC, attempt DESC LIMIT ?")
	if err != nil {
		return nil, fmt.Errorf("read last runs: %w", err)
	}
	defer func() { _ = stmt.Close() }()
	last := map[job.Name][]logstore.Run{}
	for _, name := range jobs {
		id, ok := s.jobs.id(name)
		if !ok {
			continue
		}
		rows, err := stmt.QueryContext(ctx, id, n)
		if err != nil {
			return nil, fmt.Errorf("read last runs of %s: %w", name, err)
		}
		runs, err := s.scan(rows, false)
		if err != nil {
			return nil, fmt.Errorf("read last runs of %s: %w", name, err)
		}
		if len(runs) > 0 {
			last[name] = runs
		}
	}
	return last, nil
}

// scan reads rows of listColumns, with the result after them if so, and closes them.
func (s *Store) scan(rows *sql.Rows, withResult bool) ([]logstore.Run, error) {
	defer func() { _ = rows.Close() }()
	var runs []logstore.Run
	for rows.Next() {
		var (
			r                                             logstore.Run
			number, status, cause                         int64
			committedAt, startedAt, finishedAt, untilTime int64
			exitCode                                      sql.Null[int]
			result                                        string
		)
		into := []any{
			(*scanID)(&r.RunID), &r.Attempt, &number, &r.Version, &status, &cause, &committedAt, &startedAt, &finishedAt, &r.Delivery, &r.LogLines, &exitCode,
			&untilTime, &r.Count, &r.Progress, &r.Instance, &r.By, &r.Reason, &r.ProgressText, &r.Message,
		}
		if withResult {
			into = append(into, &result)
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		r.Job, r.Status, r.Cause, r.FireTime = s.jobs.name(number), statusOf[status], causeOf[cause], r.RunID.Time()
		r.CommittedAt, r.StartedAt, r.FinishedAt, r.Until = instant(committedAt), instant(startedAt), instant(finishedAt), instant(untilTime)
		if exitCode.Valid {
			r.ExitCode = &exitCode.V
		}
		if result != "" {
			r.Result = json.RawMessage(result)
		}
		runs = append(runs, r)
	}
	return runs, rows.Err()
}
