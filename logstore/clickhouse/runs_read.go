package clickhouse

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"carillon/job"
	"carillon/logstore"
)

const endColumns = "run_id, attempt, job, version, toString(status), toString(cause), committed_at, started_at, finished_at, toString(instance), delivery, " +
	"exit_code, message, reason, made_by, log_lines, count, until"

// Run implements [logstore.Store].
func (s *Store) Run(ctx context.Context, id job.RunID) ([]logstore.Run, error) {
	if _, err := job.ParseRunID(string(id)); err != nil {
		return nil, err
	}
	if err := s.Prepare(ctx); err != nil {
		return nil, err
	}
	runs, _, err := s.run(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	return runs, nil
}

// Pieces implements [logstore.Store]. There are none yet: see the package's comment.
func (s *Store) Pieces(_ context.Context, filter logstore.PieceFilter) (logstore.PiecePage, error) {
	return logstore.PiecePage{}, filter.Validate()
}

// run returns all attempts of a run, and their events.
func (s *Store) run(ctx context.Context, id job.RunID) ([]logstore.Run, []event, error) {
	// Events first: an attempt that ends meanwhile is then seen with its end.
	found, err := s.events(ctx, "fire_time = fromUnixTimestamp64Milli(?, 'UTC') AND run_id = ?", fireMillis(id), packID(id))
	if err != nil {
		return nil, nil, err
	}
	rows, err := s.conn.Query(ctx, "SELECT "+endColumns+", result FROM runs WHERE fire_time = fromUnixTimestamp64Milli(?, 'UTC') AND run_id = ? LIMIT 1 BY broadcast_index, attempt",
		fireMillis(id), packID(id))
	if err != nil {
		return nil, nil, explain(err)
	}
	runs, err := scanEnds(rows, true)
	if err != nil {
		return nil, nil, err
	}
	runs = complete(runs, found, true)
	if len(runs) == 0 {
		return nil, nil, job.ErrNotFound
	}
	slices.SortFunc(runs, compareNewest)
	return runs, found, nil
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
	runs, err := s.page(ctx, filter, limit+1) // one more tells whether there is another page
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

// page returns the newest runs that filter selects, limit at most. Most pages are full
// with what fired within a day before their end, and to ask for that alone spares
// ClickHouse the look at all other days.
func (s *Store) page(ctx context.Context, filter logstore.RunFilter, limit int) ([]logstore.Run, error) {
	if narrow := filter; filter.From.IsZero() {
		narrow.From = endOf(&filter).Add(-24 * time.Hour)
		if runs, err := s.pageWithin(ctx, &narrow, limit); err != nil || len(runs) == limit {
			return runs, err
		}
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

func (s *Store) pageWithin(ctx context.Context, f *logstore.RunFilter, limit int) ([]logstore.Run, error) {
	runs, err := s.newest(ctx, f, limit, fmt.Sprintf("LIMIT %d", limit), true)
	if errors.Is(err, errTwice) {
		return s.newest(ctx, f, limit, fmt.Sprintf("LIMIT 1 BY fire_time, run_id, broadcast_index, attempt LIMIT %d", limit), false)
	}
	return runs, err
}

// errTwice says that rows of one attempt wait for their merge. There should be none,
// and asking ClickHouse to leave them out makes it read all rows for any page.
var errTwice = errors.New("an attempt has two rows")

// newest returns the newest runs that f selects, limit at most, in the order of
// lists. clause is the limit of each of the two queries that it takes. If exactly, the
// error is errTwice when an attempt took two of the rows that the limit allows.
func (s *Store) newest(ctx context.Context, f *logstore.RunFilter, limit int, clause string, exactly bool) ([]logstore.Run, error) {
	wantEnded, wantOpen := asks(f.Statuses)
	var keys []key
	var runs []logstore.Run
	// What is open comes first: an attempt that ends meanwhile is then in both.
	if wantOpen {
		query, args, err := openKeys(f)
		if err != nil {
			return nil, err
		}
		if keys, err = s.scanKeys(ctx, query+newestFirst+" "+clause, args); err != nil {
			return nil, err
		}
	}
	if wantEnded {
		c, err := ofEnds(f)
		if err != nil {
			return nil, err
		}
		rows, err := s.conn.Query(ctx, "SELECT "+endColumns+" FROM runs"+c.clause("WHERE")+newestFirst+" "+clause, c.args...)
		if err != nil {
			return nil, explain(err)
		}
		if runs, err = scanEnds(rows, false); err != nil {
			return nil, err
		}
		n := len(runs)
		if runs = slices.CompactFunc(runs, func(a, b logstore.Run) bool { return compareNewest(a, b) == 0 }); len(runs) < n && exactly {
			return nil, errTwice
		}
	}
	for i := range runs {
		keys = append(keys, key{fire: fireMillis(runs[i].RunID), id: packID(runs[i].RunID), attempt: toUint32(runs[i].Attempt)})
	}
	if keys = newestKeys(keys, limit); len(keys) == 0 {
		return nil, nil
	}
	withWanted, err := withKeys(ctx, keys)
	if err != nil {
		return nil, err
	}
	found, err := s.events(withWanted, byKeys)
	if err != nil {
		return nil, err
	}
	runs = complete(runs, found, wantOpen)
	slices.SortFunc(runs, compareNewest)
	return runs[:min(len(runs), limit)], nil
}

func (s *Store) scanKeys(ctx context.Context, query string, args []any) ([]key, error) {
	rows, err := s.conn.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read what is under way: %w", explain(err))
	}
	defer func() { _ = rows.Close() }()
	var keys []key
	for rows.Next() {
		var k key
		var fire time.Time
		var index uint32
		var name, status string
		if err := rows.Scan(&fire, &k.id, &index, &k.attempt, &name, &status); err != nil {
			return nil, fmt.Errorf("read what is under way: %w", err)
		}
		k.fire = fire.UnixMilli()
		keys = append(keys, k)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read what is under way: %w", explain(err))
	}
	return keys, nil
}

// newestKeys returns the first keys in the order of lists.
func newestKeys(keys []key, limit int) []key {
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(b.fire, a.fire), slices.Compare(b.id[:], a.id[:]), cmp.Compare(b.attempt, a.attempt))
	})
	keys = slices.Compact(keys)
	return keys[:min(len(keys), limit)]
}

func compareNewest(a, b logstore.Run) int {
	return cmp.Or(cmp.Compare(b.RunID, a.RunID), cmp.Compare(b.Attempt, a.Attempt))
}

// scanEnds reads rows of endColumns, with the result after them if so, and closes them.
func scanEnds(rows driver.Rows, withResult bool) ([]logstore.Run, error) {
	defer func() { _ = rows.Close() }()
	var runs []logstore.Run
	for rows.Next() {
		var (
			r                                          logstore.Run
			id                                         uuid.UUID
			attempt, version, delivery, lines          uint32
			name, status, cause, result                string
			committedAt, startedAt, finishedAt, untilT time.Time
			exitCode                                   *int32
			count                                      uint64
		)
		into := []any{
			&id, &attempt, &name, &version, &status, &cause, &committedAt, &startedAt, &finishedAt, &r.Instance, &delivery,
			&exitCode, &r.Message, &r.Reason, &r.By, &lines, &count, &untilT,
		}
		if withResult {
			into = append(into, &result)
		}
		if err := rows.Scan(into...); err != nil {
			return nil, fmt.Errorf("read runs: %w", err)
		}
		r.RunID, r.Attempt, r.Job, r.Version, r.Status, r.Cause = unpackID(id), int(attempt), job.Name(name), int(version), job.Status(status), job.Cause(cause)
		r.FireTime, r.CommittedAt, r.StartedAt, r.FinishedAt = r.RunID.Time(), instant(committedAt), instant(startedAt), instant(finishedAt)
		r.Delivery, r.LogLines, r.Count, r.Until = int(delivery), int(lines), int(count), instant(untilT)
		if exitCode != nil {
			code := int(*exitCode)
			r.ExitCode = &code
		}
		if result != "" {
			r.Result = json.RawMessage(result)
		}
		runs = append(runs, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read runs: %w", explain(err))
	}
	return runs, nil
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
	counts := map[job.Status]int{}
	wantEnded, wantOpen := asks(filter.Statuses)
	if wantOpen {
		query, args, err := openKeys(&filter)
		if err != nil {
			return nil, err
		}
		if err := s.count(ctx, counts, "SELECT toString(status), count() FROM ("+query+") GROUP BY status", args); err != nil {
			return nil, err
		}
	}
	if wantEnded {
		c, err := ofEnds(&filter)
		if err != nil {
			return nil, err
		}
		if err := s.count(ctx, counts, "SELECT toString(status), sum(count) FROM runs"+c.clause("WHERE")+" GROUP BY status", c.args); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

func (s *Store) count(ctx context.Context, counts map[job.Status]int, query string, args []any) error {
	rows, err := s.conn.Query(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("count runs: %w", explain(err))
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var status string
		var n uint64
		if err := rows.Scan(&status, &n); err != nil {
			return fmt.Errorf("count runs: %w", err)
		}
		counts[job.Status(status)] += int(n)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("count runs: %w", explain(err))
	}
	return nil
}

// lookBack are the periods in which last runs are looked for, until there are enough:
// most jobs fire daily at least, and a look at all of history costs the most. The
// last, zero, is that.
var lookBack = []time.Duration{24 * time.Hour, 14 * 24 * time.Hour, 0}

// LastRuns implements [logstore.Store].
func (s *Store) LastRuns(ctx context.Context, jobs []job.Name, n int) (map[job.Name][]logstore.Run, error) {
	if n < 1 || n > logstore.MaxLastRuns {
		return nil, &job.InvalidError{Field: "n", Reason: fmt.Sprintf("must be from 1 to %d", logstore.MaxLastRuns)}
	}
	if err := s.Prepare(ctx); err != nil {
		return nil, err
	}
	last, missing, now := map[job.Name][]logstore.Run{}, slices.Clone(jobs), time.Now()
	for _, period := range lookBack {
		if len(missing) == 0 {
			break
		}
		f := logstore.RunFilter{Jobs: missing}
		if period > 0 {
			f.From = now.Add(-period)
		}
		if err := (&logstore.RunFilter{Jobs: missing}).Validate(); err != nil {
			return nil, err
		}
		// Twice as many, should rows of one attempt wait for their merge.
		runs, err := s.newest(ctx, &f, 2*n*len(missing), fmt.Sprintf("LIMIT %d BY job", 2*n), false)
		if err != nil {
			return nil, fmt.Errorf("read last runs: %w", err)
		}
		for _, name := range missing {
			delete(last, name)
		}
		for i := range runs {
			if name := runs[i].Job; len(last[name]) < n {
				last[name] = append(last[name], runs[i])
			}
		}
		missing = slices.DeleteFunc(missing, func(name job.Name) bool { return len(last[name]) == n })
	}
	return last, nil
}
