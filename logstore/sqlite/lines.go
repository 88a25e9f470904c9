package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"carillon/logstore"
)

var insertChunks = newBulk("INSERT INTO log_chunks (run_id, attempt, piece, first_seq, last_seq, job, data)", 7, "ON CONFLICT DO NOTHING")

// WriteLines implements [logstore.Store]. It has no need of the token.
func (s *Store) WriteLines(ctx context.Context, _ string, lines []logstore.Line) error {
	for i := range lines {
		if err := lines[i].Validate(); err != nil {
			return fmt.Errorf("line %d: %w", i, err)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	chunks := cut(lines)
	err := s.write(ctx, func(ctx context.Context, w *writer) error { return w.writeChunks(ctx, chunks) })
	if err != nil {
		return fmt.Errorf("write %d log lines: %w", len(lines), err)
	}
	return nil
}

// chunk is some consecutive lines of one attempt.
type chunk struct {
	first, last logstore.Line
	data        []byte
}

// cut packs lines into chunks, in the order of their first lines' writing. A run's
// lines come in order but between those of others, so they are sorted first.
func cut(lines []logstore.Line) []chunk {
	if !slices.IsSortedFunc(lines, compareLines) {
		lines = slices.Clone(lines)
		slices.SortStableFunc(lines, compareLines)
	}
	lines = slices.CompactFunc(slices.Clone(lines), func(a, b logstore.Line) bool { return compareLines(a, b) == 0 })
	var chunks []chunk
	for len(lines) > 0 {
		n, text := 1, len(lines[0].Text)
		for n < min(len(lines), maxChunkLines) && follows(&lines[n-1], &lines[n]) && text+len(lines[n].Text) <= maxChunkText {
			text += len(lines[n].Text)
			n++
		}
		chunks = append(chunks, chunk{first: lines[0], last: lines[n-1], data: encodeChunk(lines[:n])})
		lines = lines[n:]
	}
	return chunks
}

func compareLines(a, b logstore.Line) int {
	return cmp.Or(cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.Piece, b.Piece), cmp.Compare(a.Seq, b.Seq))
}

func follows(a, b *logstore.Line) bool {
	return b.RunID == a.RunID && b.Attempt == a.Attempt && b.Piece == a.Piece && b.Seq == a.Seq+1
}

func (w *writer) writeChunks(ctx context.Context, chunks []chunk) error {
	return w.insert(ctx, insertChunks, len(chunks), func(args []any, i int) []any {
		c := &chunks[i]
		return append(args, packID(c.first.RunID), int64(c.first.Attempt), int64(c.first.Piece), c.first.Seq, c.last.Seq, w.job(c.first.Job), c.data)
	}, nil)
}

// Lines implements [logstore.Store].
func (s *Store) Lines(ctx context.Context, filter logstore.LineFilter) ([]logstore.Line, error) {
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	filter.Limit = cmp.Or(filter.Limit, logstore.DefaultLines)
	filter.FromSeq, filter.ToSeq = max(filter.FromSeq, 1), cmp.Or(filter.ToSeq, math.MaxInt64)
	order := "ASC"
	if filter.Tail {
		order = "DESC"
	}
	rows, err := s.reads.QueryContext(ctx,
		"SELECT id, first_seq, last_seq, job, data FROM log_chunks WHERE run_id = ? AND attempt = ? AND piece = ? AND first_seq > ? AND first_seq <= ? AND last_seq >= ? ORDER BY first_seq "+order,
		packID(filter.RunID), filter.Attempt, int(filter.Piece), filter.FromSeq-maxChunkLines, filter.ToSeq, filter.FromSeq)
	if err != nil {
		return nil, fmt.Errorf("read log of run %s: %w", filter.RunID, err)
	}
	defer func() { _ = rows.Close() }()

	page := newPage(&filter)
	for !page.full() && rows.Next() {
		var id, first, last, number int64
		var data []byte
		if err := rows.Scan(&id, &first, &last, &number, &data); err != nil {
			return nil, fmt.Errorf("read log of run %s: %w", filter.RunID, err)
		}
		lines, err := decodeChunk(data, int(last-first+1))
		if err != nil {
			return nil, fmt.Errorf("read log of run %s from line %d: %w", filter.RunID, first, err)
		}
		for i := range lines {
			lines[i].RunID, lines[i].Attempt, lines[i].Piece = filter.RunID, filter.Attempt, filter.Piece
			lines[i].Job, lines[i].Seq = s.jobs.name(number), first+int64(i)
		}
		page.add(id, lines)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read log of run %s: %w", filter.RunID, err)
	}
	return page.finish(), nil
}
