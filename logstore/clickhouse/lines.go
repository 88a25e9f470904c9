package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// WriteLines implements [logstore.Store].
func (w *writer) WriteLines(ctx context.Context, token string, lines []runlog.Line) error {
	for i := range lines {
		if err := lines[i].Validate(); err != nil {
			return fmt.Errorf("line %d: %w", i, err)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	if err := w.Prepare(ctx); err != nil {
		return err
	}
	if err := w.insert(ctx, "run_logs", token, w.lineColumns(lines)); err != nil {
		return fmt.Errorf("write %d log lines: %w", len(lines), err)
	}
	return nil
}

func (w *writer) lineColumns(lines []runlog.Line) []column {
	n, precedence := len(lines), w.nextPrecedence()
	group, name, ids, attempts := make([]string, n), make([]string, n), make([]uuid.UUID, n), make([]uint32, n)
	seq, fire, at := make([]uint64, n), make([]int64, n), make([]int64, n)
	indexes := make([]int32, n)
	level, output, text := make([]string, n), make([]string, n), make([]string, n)
	days, precedences := make([]uint16, n), make([]int64, n)
	keep := w.keep.Load()
	for i := range lines {
		l := &lines[i]
		if i > 0 && l.RunID == lines[i-1].RunID { // most lines follow another of their run
			ids[i], fire[i], days[i] = ids[i-1], fire[i-1], days[i-1]
		} else {
			ids[i], fire[i] = packID(l.RunID), fireMillis(l.RunID)
			days[i] = uint16(keep.LogClass(l.Job)) //nolint:gosec // is one of job.LogClasses
		}
		group[i], name[i], attempts[i] = l.Job.Group(), string(l.Job), toUint32(l.Attempt)
		indexes[i] = toInt32(l.Piece.Index())
		seq[i], at[i] = uint64(l.Seq), millis(l.At) //nolint:gosec // is 1 or more
		level[i], output[i], text[i] = l.Level, l.Output, l.Text
		// Of lines with one number, the first in the batch stays.
		precedences[i] = precedence
	}
	return []column{
		{"group", group},
		{"job", name},
		{"run_id", ids},
		{"broadcast_index", indexes},
		{"attempt", attempts},
		{"seq", seq},
		{"fire_time", fire},
		{"at", at},
		{"level", level},
		{"output", output},
		{"text", text},
		{"retention_days", days},
		{"precedence", precedences},
	}
}

// logLines reads and searches the lines of logs.
type logLines struct{ *server }

// Lines implements [logstore.Store].
func (l *logLines) Lines(ctx context.Context, filter logstore.LineFilter) ([]runlog.Line, error) {
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	if err := l.Prepare(ctx); err != nil {
		return nil, err
	}
	c := &conditions{}
	c.add("toYYYYMMDD(fire_time) = toYYYYMMDD(fromUnixTimestamp64Milli(?, 'UTC'))", fireMillis(filter.RunID)) // names the parts
	c.add("run_id = ?", packID(filter.RunID))
	c.add("broadcast_index = ?", toInt32(filter.Piece.Index()))
	c.add("attempt = ?", toUint32(filter.Attempt))
	if filter.Job != "" {
		c.add("job = ?", string(filter.Job))
	}
	c.add("seq >= ?", uint64(filter.FromSeq))                      //nolint:gosec // is not negative
	c.add("seq <= ?", cmp.Or(uint64(filter.ToSeq), math.MaxInt64)) //nolint:gosec // is not negative
	order := "seq"
	if filter.Tail {
		order = "seq DESC"
	}
	// Of lines with one number the first written counts, whatever its level.
	query := "SELECT job, seq, at, toString(level) AS level, toString(output), text FROM run_logs" + c.clause() + " ORDER BY " + order + ", precedence DESC LIMIT 1 BY seq"
	if len(filter.Levels) > 0 {
		query = "SELECT * FROM (" + query + ") WHERE level IN (?)"
		c.args = append(c.args, filter.Levels)
	}
	rows, err := l.conn.Query(ctx, query+fmt.Sprintf(" LIMIT %d", cmp.Or(filter.Limit, logstore.DefaultLines)), c.args...)
	if err != nil {
		return nil, fmt.Errorf("read log of run %s: %w", filter.RunID, database.Explain(err))
	}
	defer func() { _ = rows.Close() }()
	var lines []runlog.Line
	for rows.Next() {
		l := runlog.Line{RunID: filter.RunID, Attempt: filter.Attempt, Piece: filter.Piece}
		var name string
		var seq uint64
		var at time.Time
		if err := rows.Scan(&name, &seq, &at, &l.Level, &l.Output, &l.Text); err != nil {
			return nil, fmt.Errorf("read log of run %s: %w", filter.RunID, err)
		}
		l.Job, l.Seq, l.At = job.Name(name), int64(seq), at.UTC()
		lines = append(lines, l)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read log of run %s: %w", filter.RunID, database.Explain(err))
	}
	if filter.Tail {
		slices.Reverse(lines)
	}
	return lines, nil
}

// LastLines implements [logstore.Store].
func (l *logLines) LastLines(ctx context.Context, id job.RunID, name job.Name) (map[int]int64, error) {
	if _, err := job.ParseRunID(string(id)); err != nil {
		return nil, err
	}
	if err := l.Prepare(ctx); err != nil {
		return nil, err
	}
	c := &conditions{}
	c.add("toYYYYMMDD(fire_time) = toYYYYMMDD(fromUnixTimestamp64Milli(?, 'UTC'))", fireMillis(id)) // names the parts
	c.add("run_id = ?", packID(id))
	c.add("broadcast_index = ?", toInt32(runlog.Whole.Index()))
	c.add("job = ?", string(name))
	rows, err := l.conn.Query(ctx, "SELECT attempt, max(seq) FROM run_logs"+c.clause()+" GROUP BY attempt", c.args...)
	if err != nil {
		return nil, fmt.Errorf("count log of run %s: %w", id, database.Explain(err))
	}
	defer func() { _ = rows.Close() }()
	last := map[int]int64{}
	for rows.Next() {
		var attempt uint32
		var seq uint64
		if err := rows.Scan(&attempt, &seq); err != nil {
			return nil, fmt.Errorf("count log of run %s: %w", id, err)
		}
		last[int(attempt)] = int64(seq)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("count log of run %s: %w", id, database.Explain(err))
	}
	return last, nil
}

// CountLines returns how many lines the runs have that fired on a day, in UTC, each once.
func (l *logLines) CountLines(ctx context.Context, day time.Time) (int64, error) {
	if err := l.Prepare(ctx); err != nil {
		return 0, err
	}
	var n uint64
	err := l.conn.QueryRow(ctx, "SELECT uniqExact(run_id, attempt, broadcast_index, seq) FROM run_logs WHERE fire_time >= fromUnixTimestamp64Milli(?, 'UTC') AND fire_time < fromUnixTimestamp64Milli(?, 'UTC')",
		day.UnixMilli(), day.Add(logstore.Day).UnixMilli()).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count log lines of %s: %w", day.Format(time.DateOnly), database.Explain(err))
	}
	return int64(n), nil
}
