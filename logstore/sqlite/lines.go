package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"carillon/job"
	"carillon/job/runlog"
	"carillon/logstore"
)

var (
	insertChunks = newBulk("INSERT INTO log_chunks (id, run_id, attempt, piece, first_seq, last_seq, job, data)", 8, "ON CONFLICT DO NOTHING")
	insertWords  = newBulk("INSERT INTO chunk_words (rowid, words)", 2, "")
)

// WriteLines implements [logstore.Store]. It has no need of the token.
func (s *Store) WriteLines(ctx context.Context, _ string, lines []runlog.Line) error {
	for i := range lines {
		if err := lines[i].Validate(); err != nil {
			return fmt.Errorf("line %d: %w", i, err)
		}
	}
	byFile := map[logKey][]runlog.Line{}
	keep := s.keep.Load()
	for i := range lines {
		l := &lines[i]
		key := logKey{dayOf(l.RunID.Time()), keep.LogClass(l.Job)}
		byFile[key] = append(byFile[key], *l)
	}
	for key, lines := range byFile {
		chunks := cut(lines)
		err := s.logs.write(ctx, key, func(ctx context.Context, w *writer) error { return w.writeChunks(ctx, chunks) })
		if err != nil {
			return fmt.Errorf("write %d log lines: %w", len(lines), err)
		}
	}
	return nil
}

// chunk is some consecutive lines of one attempt.
type chunk struct {
	first, last runlog.Line
	data        []byte
	words       string
}

// cut packs lines into chunks, in the order of their first lines' writing. A run's
// lines come in order but between those of others, so they are sorted first.
func cut(lines []runlog.Line) []chunk {
	if !slices.IsSortedFunc(lines, compareLines) {
		lines = slices.Clone(lines)
		slices.SortStableFunc(lines, compareLines)
	}
	lines = slices.CompactFunc(slices.Clone(lines), func(a, b runlog.Line) bool { return compareLines(a, b) == 0 })
	var chunks []chunk
	for len(lines) > 0 {
		n, text := 1, len(lines[0].Text)
		for n < min(len(lines), maxChunkLines) && follows(&lines[n-1], &lines[n]) && text+len(lines[n].Text) <= maxChunkText {
			text += len(lines[n].Text)
			n++
		}
		chunks = append(chunks, chunk{first: lines[0], last: lines[n-1], data: encodeChunk(lines[:n]), words: wordsOf(lines[:n])})
		lines = lines[n:]
	}
	return chunks
}

func compareLines(a, b runlog.Line) int {
	return cmp.Or(cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.Piece, b.Piece), cmp.Compare(a.Seq, b.Seq))
}

func follows(a, b *runlog.Line) bool {
	return b.RunID == a.RunID && b.Attempt == a.Attempt && b.Piece == a.Piece && b.Seq == a.Seq+1
}

// wordsOf returns the words of lines, each once.
func wordsOf(lines []runlog.Line) string {
	set := map[string]struct{}{}
	for i := range lines {
		logstore.AddWords(set, lines[i].Text)
	}
	return strings.Join(slices.Collect(maps.Keys(set)), " ")
}

func (w *writer) writeChunks(ctx context.Context, chunks []chunk) error {
	next, err := w.nextChunk(ctx)
	if err != nil {
		return err
	}
	var doubtful [][2]int
	err = w.insert(ctx, insertChunks, len(chunks), func(args []any, i int) []any {
		c := &chunks[i]
		return append(args, next+int64(i), packID(c.first.RunID), int64(c.first.Attempt), int64(c.first.Piece), c.first.Seq, c.last.Seq, w.job(c.first.Job), c.data)
	}, func(from, to int) error {
		doubtful = append(doubtful, [2]int{from, to})
		return nil
	})
	if err != nil {
		return err
	}
	fresh, ids := chunks, func(i int) int64 { return next + int64(i) }
	if len(doubtful) > 0 { // some of them were there before
		var numbers []int64
		if fresh, numbers, err = w.inserted(ctx, chunks, next, doubtful); err != nil {
			return err
		}
		ids = func(i int) int64 { return numbers[i] }
	}
	err = w.insert(ctx, insertWords, len(fresh), func(args []any, i int) []any { return append(args, ids(i), fresh[i].words) }, nil)
	if err != nil {
		return fmt.Errorf("index words: %w", err)
	}
	return w.countLines(ctx, fresh)
}

func (w *writer) nextChunk(ctx context.Context) (next int64, err error) {
	stmt, err := w.stmt(ctx, "SELECT ifnull(max(id), 0) + 1 FROM log_chunks")
	if err != nil {
		return 0, err
	}
	return next, stmt.QueryRowContext(ctx).Scan(&next)
}

// inserted returns the chunks that were inserted, with their numbers. Doubtful are the
// spans of chunks of which some were not.
func (w *writer) inserted(ctx context.Context, chunks []chunk, first int64, doubtful [][2]int) (fresh []chunk, ids []int64, err error) {
	stmt, err := w.stmt(ctx, "SELECT EXISTS (SELECT 1 FROM log_chunks WHERE id = ?)")
	if err != nil {
		return nil, nil, err
	}
	for i := range chunks {
		id, there := first+int64(i), true
		if slices.ContainsFunc(doubtful, func(span [2]int) bool { return i >= span[0] && i < span[1] }) {
			if err := stmt.QueryRowContext(ctx, id).Scan(&there); err != nil {
				return nil, nil, fmt.Errorf("look for chunk %d: %w", id, err)
			}
		}
		if there {
			fresh, ids = append(fresh, chunks[i]), append(ids, id)
		}
	}
	return fresh, ids, nil
}

// countLines notes how many lines each job has in the file. A job that is new there is
// not stored before the transaction ends, so its row comes first.
func (w *writer) countLines(ctx context.Context, chunks []chunk) error {
	lines := map[job.Name]int64{}
	for i := range chunks {
		lines[chunks[i].first.Job] += chunks[i].last.Seq - chunks[i].first.Seq + 1
	}
	const count = "INSERT INTO jobs (id, name, lines, written_at) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET lines = lines + excluded.lines, written_at = excluded.written_at"
	now := time.Now().UnixMilli()
	for name, n := range lines {
		if _, err := w.exec(ctx, count, w.job(name), string(name), n, now); err != nil {
			return fmt.Errorf("count lines of %s: %w", name, err)
		}
	}
	return nil
}

// Lines implements [logstore.Store].
func (s *Store) Lines(ctx context.Context, filter logstore.LineFilter) ([]runlog.Line, error) {
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	if s.logs.closed.Load() {
		return nil, fmt.Errorf("read log of run %s: %w", filter.RunID, errClosed)
	}
	filter.Limit = cmp.Or(filter.Limit, logstore.DefaultLines)
	filter.FromSeq, filter.ToSeq = max(filter.FromSeq, 1), cmp.Or(filter.ToSeq, math.MaxInt64)
	day := dayOf(filter.RunID.Time())
	var found []runlog.Line
	parts := 0
	for _, f := range s.logs.between(day, day) {
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
func (f *logFile) lines(ctx context.Context, db *sql.DB, filter *logstore.LineFilter) ([]runlog.Line, error) {
	order := "ASC"
	if filter.Tail {
		order = "DESC"
	}
	rows, err := db.QueryContext(ctx,
		"SELECT id, first_seq, last_seq, job, data FROM log_chunks WHERE run_id = ? AND attempt = ? AND piece = ? AND first_seq > ? AND first_seq <= ? AND last_seq >= ? ORDER BY first_seq "+order,
		packID(filter.RunID), filter.Attempt, int(filter.Piece), filter.FromSeq-maxChunkLines, filter.ToSeq, filter.FromSeq)
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
		if filter.Job != "" && f.jobs.name(c.job) != filter.Job {
			continue
		}
		lines, err := c.lines(f.jobs)
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

func (c *foundChunk) lines(jobs *dictionary) ([]runlog.Line, error) {
	lines, err := decodeChunk(c.data, int(c.last-c.first+1))
	if err != nil {
		return nil, fmt.Errorf("read log of run %s from line %d: %w", c.id, c.first, err)
	}
	name := jobs.name(c.job)
	for i := range lines {
		lines[i].RunID, lines[i].Attempt, lines[i].Piece = c.id, c.attempt, c.piece
		lines[i].Job, lines[i].Seq = name, c.first+int64(i)
	}
	return lines, nil
}
