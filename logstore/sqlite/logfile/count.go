package logfile

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// CountLines returns how many lines the runs have that fired on a day, in UTC. A line that was
// stored more than once counts once.
func (l *Folder) CountLines(ctx context.Context, day time.Time) (int64, error) {
	if l.closed.Load() {
		return 0, fmt.Errorf("count log lines: %w", file.ErrClosed)
	}
	var spans []span
	for _, f := range l.between(day, day) {
		err := f.read(ctx, func(db *sql.DB) (err error) {
			spans, err = appendSpans(ctx, db, spans)
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("count log lines of %s: %w", day.Format(time.DateOnly), err)
		}
	}
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(bytes.Compare(a.run[:], b.run[:]), cmp.Compare(a.attempt, b.attempt), cmp.Compare(a.piece, b.piece), cmp.Compare(a.first, b.first))
	})
	var n, counted int64 // counted is the last line of the log that spans[i] is of
	for i, s := range spans {
		if i == 0 || !s.sameLog(&spans[i-1]) {
			counted = 0
		}
		n += max(s.last-max(s.first-1, counted), 0)
		counted = max(counted, s.last)
	}
	return n, nil
}

// span is which lines a chunk has.
type span struct {
	run            [16]byte
	attempt, piece int64
	first, last    int64
}

func (s *span) sameLog(other *span) bool {
	return s.run == other.run && s.attempt == other.attempt && s.piece == other.piece
}

func appendSpans(ctx context.Context, db *sql.DB, spans []span) ([]span, error) {
	rows, err := db.QueryContext(ctx, "SELECT run_id, attempt, piece, first_seq, last_seq FROM log_chunks")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var s span
		var id []byte
		if err := rows.Scan(&id, &s.attempt, &s.piece, &s.first, &s.last); err != nil {
			return nil, err
		}
		copy(s.run[:], id)
		spans = append(spans, s)
	}
	return spans, rows.Err()
}
