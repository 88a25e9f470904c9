package logfile

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

var (
	insertChunks = file.NewBulk("INSERT INTO log_chunks (id, run_id, attempt, piece, first_seq, last_seq, job, data)", 8, "ON CONFLICT DO NOTHING")
	insertWords  = file.NewBulk("INSERT INTO chunk_words (rowid, words)", 2, "")
)

// Write writes lines that are valid, each to the file of its day and of the class that
// its job has by r.
func (l *Folder) Write(ctx context.Context, lines []runlog.Line, r *job.Retention) error {
	byFile := map[fileKey][]runlog.Line{}
	for i := range lines {
		key := keyOf(&lines[i], r)
		byFile[key] = append(byFile[key], lines[i])
	}
	for key, lines := range byFile {
		if err := l.write(ctx, key, cut(lines)); err != nil {
			return fmt.Errorf("write %d log lines: %w", len(lines), err)
		}
	}
	return nil
}

func keyOf(l *runlog.Line, r *job.Retention) fileKey {
	return fileKey{dayOf(l.RunID.Time()), r.LogClass(l.Job)}
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

func (f *dayFile) writeChunks(ctx context.Context, chunks []chunk) error {
	next, err := f.nextChunk(ctx)
	if err != nil {
		return err
	}
	var doubtful [][2]int
	err = f.writer.Insert(ctx, insertChunks, len(chunks), func(args []any, i int) []any {
		c := &chunks[i]
		return append(args, next+int64(i), file.PackID(c.first.RunID), int64(c.first.Attempt), int64(c.first.Piece), c.first.Seq, c.last.Seq, f.writer.Job(c.first.Job), c.data)
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
		if fresh, numbers, err = f.inserted(ctx, chunks, next, doubtful); err != nil {
			return err
		}
		ids = func(i int) int64 { return numbers[i] }
	}
	err = f.writer.Insert(ctx, insertWords, len(fresh), func(args []any, i int) []any { return append(args, ids(i), fresh[i].words) }, nil)
	if err != nil {
		return fmt.Errorf("index words: %w", err)
	}
	return f.countLines(ctx, fresh)
}

func (f *dayFile) nextChunk(ctx context.Context) (next int64, err error) {
	stmt, err := f.writer.Stmt(ctx, "SELECT ifnull(max(id), 0) + 1 FROM log_chunks")
	if err != nil {
		return 0, err
	}
	return next, stmt.QueryRowContext(ctx).Scan(&next)
}

// inserted returns the chunks that were inserted, with their numbers, and as doubtful
// the spans of chunks that were inserted in part.
func (f *dayFile) inserted(ctx context.Context, chunks []chunk, first int64, doubtful [][2]int) (fresh []chunk, ids []int64, err error) {
	stmt, err := f.writer.Stmt(ctx, "SELECT EXISTS (SELECT 1 FROM log_chunks WHERE id = ?)")
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
func (f *dayFile) countLines(ctx context.Context, chunks []chunk) error {
	lines := map[job.Name]int64{}
	for i := range chunks {
		lines[chunks[i].first.Job] += chunks[i].last.Seq - chunks[i].first.Seq + 1
	}
	const count = "INSERT INTO jobs (id, name, lines, written_at) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET lines = lines + excluded.lines, written_at = excluded.written_at"
	now := time.Now().UnixMilli()
	for name, n := range lines {
		if _, err := f.writer.Exec(ctx, count, f.writer.Job(name), string(name), n, now); err != nil {
			return fmt.Errorf("count lines of %s: %w", name, err)
		}
	}
	return nil
}
