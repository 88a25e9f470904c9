package clickhouse

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// searchBack are the periods in which lines are looked for, one after the other,
// until there are enough: to sort the hits of a common word in all of history takes
// long, and its newest are in the last hour. The last, zero, is all of it.
var searchBack = []time.Duration{time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour, 0}

// Search implements [logstore.Store].
func (l *logLines) Search(ctx context.Context, filter logstore.SearchFilter) (logstore.SearchPage, error) {
	var page logstore.SearchPage
	if err := filter.Validate(); err != nil {
		return page, err
	}
	if err := l.Prepare(ctx); err != nil {
		return page, err
	}
	limit := cmp.Or(filter.Limit, logstore.DefaultHits)
	newest := time.Now()
	if !filter.To.IsZero() && filter.To.Before(newest) {
		newest = filter.To
	}
	if c, err := logstore.ParseHitCursor(filter.Cursor); err == nil && c.RunID.Time().Before(newest) {
		newest = c.RunID.Time()
	}
	for _, back := range searchBack {
		narrow := filter
		whole := back == 0 || filter.RunID != "" || newest.Add(-back).Before(filter.From)
		if !whole {
			narrow.From = newest.Add(-back)
		}
		lines, err := l.newestHits(ctx, &narrow, limit+1, whole) // one more tells whether there is another page
		if err != nil {
			return page, fmt.Errorf("search logs: %w", err)
		}
		if len(lines) > limit {
			page.Lines = lines[:limit]
			page.Next = logstore.HitAt(&lines[limit-1]).String()
			return page, nil
		}
		if page.Lines = lines; whole {
			return page, nil
		}
	}
	return page, nil
}

// newestHits returns the newest lines that match, limit at most. It looks for the instant
// first that so many of them fired since, for which ClickHouse reads the index and one
// column: to read all that a hit is ordered by takes ten times as long, and a common word
// has hits everywhere. Unless all of them are wanted, it returns none when there are fewer.
func (l *logLines) newestHits(ctx context.Context, f *logstore.SearchFilter, limit int, all bool) ([]runlog.Line, error) {
	for ask := limit; ; ask *= 4 {
		since, more, err := l.hitsSince(ctx, f, ask)
		if err != nil || !more && !all {
			return nil, err
		}
		lines, err := l.readHits(ctx, f, since, limit)
		if err != nil || len(lines) == limit || !more {
			return lines, err
		}
		// Some were there more than once, and wait for their merge.
	}
}

// hitsSince returns when the n-th of the newest lines fired that match. more is false, and
// since the zero time, when there are fewer.
func (l *logLines) hitsSince(ctx context.Context, f *logstore.SearchFilter, n int) (since time.Time, more bool, err error) {
	c, err := ofHits(f)
	if err != nil {
		return since, false, err
	}
	err = l.conn.QueryRow(ctx, fmt.Sprintf("SELECT fire_time FROM run_logs%s ORDER BY fire_time DESC LIMIT 1 OFFSET %d", c.clause(), n-1), c.args...).Scan(&since)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, false, nil
	}
	return since, err == nil, database.Explain(err)
}

// ofHits selects lines.
func ofHits(f *logstore.SearchFilter) (*conditions, error) {
	runs := f.Runs()
	c, err := where(&runs)
	if err != nil {
		return nil, err
	}
	if f.RunID != "" {
		c.add("fire_time = fromUnixTimestamp64Milli(?, 'UTC')", fireMillis(f.RunID))
		c.add("run_id = ?", packID(f.RunID))
	} else if err := withoutTests(c, runs); err != nil {
		return nil, err
	}
	if f.Cursor != "" {
		cursor, err := logstore.ParseHitCursor(f.Cursor)
		if err != nil {
			return nil, err
		}
		fire := fireMillis(cursor.RunID)
		c.add("fire_time <= fromUnixTimestamp64Milli(?, 'UTC')", fire) // which names the parts
		c.add("(fire_time, toUInt128(run_id), attempt, broadcast_index, seq) < (fromUnixTimestamp64Milli(?, 'UTC'), toUInt128(toUUID(?)), ?, ?, ?)",
			fire, string(cursor.RunID), toUint32(cursor.Attempt), toInt32(cursor.Piece.Index()), uint64(cursor.Seq)) //nolint:gosec // is 1 or more
	}
	if len(f.Levels) > 0 {
		c.add("level IN (?)", f.Levels)
	}
	terms := logstore.ParseTerms(f.Text)
	if len(terms.Words) > 0 {
		// Of the very expression that is indexed: with text alone it would be slow.
		c.add("hasAllTokens(lower(text), ?)", strings.Join(terms.Words, " "))
	}
	for _, p := range terms.Parts {
		// ClickHouse looks through the words of its index for this.
		c.add("lower(text) LIKE ?", "%"+escapeLike.Replace(p.Text)+"%")
		switch {
		case p.Before && p.After:
		case p.After:
			c.add("arrayExists(w -> startsWith(w, ?), tokens(lower(text)))", p.Text)
		default:
			c.add("arrayExists(w -> endsWith(w, ?), tokens(lower(text)))", p.Text)
		}
	}
	for _, p := range terms.Phrases {
		c.add("lower(text) LIKE ?", "%"+escapeLike.Replace(p)+"%")
	}
	return c, nil
}

// withoutTests leaves out the lines of tests of drafts, whose runs fired in the same range.
func withoutTests(c *conditions, runs logstore.RunFilter) error {
	runs.Causes = []job.Cause{job.CauseTest}
	tests, err := where(&runs)
	if err != nil {
		return err
	}
	c.add("run_id NOT IN (SELECT run_id FROM runs"+tests.clause()+")", tests.args...)
	return nil
}

// readHits returns the newest lines that match and fired since an instant.
func (l *logLines) readHits(ctx context.Context, f *logstore.SearchFilter, since time.Time, limit int) ([]runlog.Line, error) {
	c, err := ofHits(f)
	if err != nil {
		return nil, err
	}
	if !since.IsZero() {
		c.add("fire_time >= fromUnixTimestamp64Milli(?, 'UTC')", since.UnixMilli())
	}
	rows, err := l.conn.Query(ctx, "SELECT job, run_id, attempt, broadcast_index, seq, at, toString(level), toString(output), text FROM run_logs"+c.clause()+
		" ORDER BY fire_time DESC, toUInt128(run_id) DESC, attempt DESC, broadcast_index DESC, seq DESC, precedence DESC"+
		fmt.Sprintf(" LIMIT 1 BY fire_time, run_id, attempt, broadcast_index, seq LIMIT %d", limit), c.args...)
	if err != nil {
		return nil, database.Explain(err)
	}
	defer func() { _ = rows.Close() }()
	var lines []runlog.Line
	for rows.Next() {
		var l runlog.Line
		var name string
		var id uuid.UUID
		var attempt uint32
		var index int32
		var seq uint64
		var at time.Time
		if err := rows.Scan(&name, &id, &attempt, &index, &seq, &at, &l.Level, &l.Output, &l.Text); err != nil {
			return nil, err
		}
		l.RunID, l.Job, l.Attempt, l.Piece = unpackID(id), job.Name(name), int(attempt), pieceOf(index)
		l.Seq, l.At = int64(seq), at.UTC()
		lines = append(lines, l)
	}
	return lines, database.Explain(rows.Err())
}

var escapeLike = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)
