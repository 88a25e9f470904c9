package logfile

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// Lines implements it for [logstore.Store].
func (l *Folder) Lines(ctx context.Context, filter logstore.LineFilter) ([]runlog.Line, error) {
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	if l.closed.Load() {
		return nil, fmt.Errorf("read log of run %s: %w", filter.RunID, file.ErrClosed)
	}
	filter.Limit = cmp.Or(filter.Limit, logstore.DefaultLines)
	filter.FromSeq, filter.ToSeq = max(filter.FromSeq, 1), cmp.Or(filter.ToSeq, math.MaxInt64)
	day := dayOf(filter.RunID.Time())
	var found []runlog.Line
	parts := 0
	for _, f := range l.between(day, day) {
		err := f.read(ctx, func(db *sql.DB) error {
			lines, err := f.lines(ctx, db, &filter)
			if len(lines) > 0 {
				found, parts = append(found, lines...), parts+1
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if parts > 1 { // the job's class was changed while it ran
		found = firstOfEach(found, &filter)
	}
	return found, nil
}

// LastLines implements it for [logstore.Store].
func (l *Folder) LastLines(ctx context.Context, id job.RunID, name job.Name) (map[int]int64, error) {
	if _, err := job.ParseRunID(string(id)); err != nil {
		return nil, err
	}
	if l.closed.Load() {
		return nil, fmt.Errorf("count log of run %s: %w", id, file.ErrClosed)
	}
	last := map[int]int64{}
	day := dayOf(id.Time())
	for _, f := range l.between(day, day) {
		err := f.read(ctx, func(db *sql.DB) error { return f.lastLines(ctx, db, id, name, last) })
		if err != nil {
			return nil, fmt.Errorf("count log of run %s: %w", id, err)
		}
	}
	return last, nil
}

// lastLines raises last to what one file has.
func (f *dayFile) lastLines(ctx context.Context, db *sql.DB, id job.RunID, name job.Name, last map[int]int64) error {
	rows, err := db.QueryContext(ctx, "SELECT attempt, max(last_seq) FROM log_chunks WHERE run_id = ? AND piece = ? AND job = (SELECT id FROM jobs WHERE name = ?) GROUP BY attempt",
		file.PackID(id), int(runlog.Whole), string(name))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var attempt int
		var seq int64
		if err := rows.Scan(&attempt, &seq); err != nil {
			return err
		}
		last[attempt] = max(last[attempt], seq)
	}
	return rows.Err()
}

// firstOfEach merges lines of several files.
func firstOfEach(lines []runlog.Line, filter *logstore.LineFilter) []runlog.Line {
	slices.SortStableFunc(lines, compareLines)
	lines = slices.CompactFunc(lines, func(a, b runlog.Line) bool { return compareLines(a, b) == 0 })
	switch extra := len(lines) - filter.Limit; {
	case extra <= 0:
		return lines
	case filter.Tail:
		return lines[extra:]
	default:
		return lines[:filter.Limit]
	}
}

// lines returns lines of one file. The filter's bounds are set.
func (f *dayFile) lines(ctx context.Context, db *sql.DB, filter *logstore.LineFilter) ([]runlog.Line, error) {
	order := "ASC"
	if filter.Tail {
		order = "DESC"
	}
	rows, err := db.QueryContext(ctx,
		"SELECT id, first_seq, last_seq, job, data FROM log_chunks WHERE run_id = ? AND attempt = ? AND piece = ? AND first_seq > ? AND first_seq <= ? AND last_seq >= ? ORDER BY first_seq "+order,
		file.PackID(filter.RunID), filter.Attempt, int(filter.Piece), filter.FromSeq-maxChunkLines, filter.ToSeq, filter.FromSeq)
	if err != nil {
		return nil, fmt.Errorf("read log of run %s: %w", filter.RunID, err)
	}
	defer func() { _ = rows.Close() }()

	page := newPage(filter)
	for !page.full() && rows.Next() {
		var id int64
		c := foundChunk{id: filter.RunID, attempt: filter.Attempt, piece: filter.Piece}
		if err := rows.Scan(&id, &c.first, &c.last, &c.job, &c.data); err != nil {
			return nil, fmt.Errorf("read log of run %s: %w", filter.RunID, err)
		}
		if filter.Job != "" && f.jobs.Name(c.job) != filter.Job {
			continue
		}
		lines, err := c.lines(f.jobs.Name(c.job))
		if err != nil {
			return nil, err
		}
		page.add(id, lines)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read log of run %s: %w", filter.RunID, err)
	}
	return page.finish(), nil
}

// foundChunk is a chunk as it is stored.
type foundChunk struct {
	id          job.RunID
	attempt     int
	piece       runlog.Piece
	first, last int64
	job         int64
	number      int64 // 0 where it does not matter
	overlaps    bool  // another has some of its lines, too; false where it does not matter
	data        []byte
}

func (c *foundChunk) lines(name job.Name) ([]runlog.Line, error) {
	unpacked, err := c.unpack()
	if err != nil {
		return nil, err
	}
	return c.decode(name, unpacked)
}

func (c *foundChunk) unpack() ([]byte, error) {
	unpacked, err := unpackChunk(c.data)
	if err != nil {
		return nil, c.damaged(err)
	}
	return unpacked, nil
}

func (c *foundChunk) decode(name job.Name, unpacked []byte) ([]runlog.Line, error) {
	lines, err := decodeChunk(unpacked, int(c.last-c.first+1))
	if err != nil {
		return nil, c.damaged(err)
	}
	for i := range lines {
		lines[i].RunID, lines[i].Attempt, lines[i].Piece = c.id, c.attempt, c.piece
		lines[i].Job, lines[i].Seq = name, c.first+int64(i)
	}
	return lines, nil
}

func (c *foundChunk) damaged(err error) error {
	return fmt.Errorf("read log of run %s from line %d: %w", c.id, c.first, err)
}
