package logfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// maxNamed is in how many chunks of a day words may be so that these are looked up by
// the words. Words that are in more have enough hits among the newest chunks.
const maxNamed = 2000

// chunks yields the chunks of a file in which hits may be, in the order of hits, with
// their data. It ends with the first error.
func (f *dayFile) chunks(ctx context.Context, db *sql.DB, m *matcher) iter.Seq2[*foundChunk, error] {
	return func(yield func(*foundChunk, error) bool) {
		q, some := m.query(f.jobs)
		if !some {
			return
		}
		words, all := m.words(), true
		if words != "" {
			var n int
			err := db.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM chunk_words WHERE chunk_words MATCH ? LIMIT ?)", words, maxNamed).Scan(&n)
			switch {
			case err != nil:
				yield(nil, err)
				return
			case n == 0:
				return
			}
			all = n == maxNamed
		}
		var err error
		if all {
			err = q.all(ctx, db, yield)
		} else {
			err = q.named(ctx, db, words, yield)
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// all yields chunks until that returns false.
func (q *chunkQuery) all(ctx context.Context, db *sql.DB, yield func(*foundChunk, error) bool) error {
	rows, err := db.QueryContext(ctx, q.text("c.data", "log_chunks c"), q.args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		c, err := scanChunk(rows, true)
		if err != nil {
			return err
		}
		if !yield(c, nil) {
			return nil
		}
	}
	return rows.Err()
}

// named is all of the chunks that have some words.
func (q *chunkQuery) named(ctx context.Context, db *sql.DB, words string, yield func(*foundChunk, error) bool) error {
	q.and("chunk_words MATCH ?", words)
	rows, err := db.QueryContext(ctx, q.text("c.id", "chunk_words w CROSS JOIN log_chunks c ON c.id = w.rowid"), q.args...)
	if err != nil {
		return err
	}
	var chunks []*foundChunk // to sort them with their data would take more
	for rows.Next() {
		c, scanErr := scanChunk(rows, false)
		if err = scanErr; err != nil {
			break
		}
		chunks = append(chunks, c)
	}
	if err := errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, c := range chunks {
		if err := db.QueryRowContext(ctx, "SELECT data FROM log_chunks WHERE id = ?", c.number).Scan(&c.data); err != nil {
			return err
		}
		if !yield(c, nil) {
			return nil
		}
	}
	return nil
}

// scanChunk reads a row of a chunkQuery, which ends in the chunk's data or its number.
func scanChunk(rows *sql.Rows, withData bool) (*foundChunk, error) {
	c := &foundChunk{}
	var last any = &c.number
	if withData {
		last = &c.data
	}
	return c, rows.Scan((*file.ScanID)(&c.id), &c.attempt, &c.piece, &c.first, &c.last, &c.job, &c.overlaps, last)
}

// chunkQuery is the conditions that lead to the chunks in which hits may be.
type chunkQuery struct {
	parts []string
	args  []any
}

func (q *chunkQuery) and(part string, args ...any) {
	q.parts = append(q.parts, part)
	q.args = append(q.args, args...)
}

// text is the query for chunks from a table, in the order of hits.
func (q *chunkQuery) text(last, table string) string {
	where := ""
	if len(q.parts) > 0 {
		where = " WHERE " + strings.Join(q.parts, " AND ")
	}
	return "SELECT c.run_id, c.attempt, c.piece, c.first_seq, c.last_seq, c.job, " +
		fmt.Sprintf("EXISTS (SELECT 1 FROM log_chunks o WHERE o.run_id = c.run_id AND o.attempt = c.attempt AND o.piece = c.piece AND o.id <> c.id "+
			"AND o.first_seq <= c.last_seq AND o.first_seq > c.first_seq - %d AND o.last_seq >= c.first_seq), ", maxChunkLines) +
		last + " FROM " + table + where + " ORDER BY c.run_id DESC, c.attempt DESC, c.piece DESC, c.first_seq DESC"
}
