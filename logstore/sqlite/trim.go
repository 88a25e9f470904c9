package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"carillon/logstore"
)

// trimSlice is how many rows are deleted at once: a few milliseconds' worth.
const trimSlice = 1000

// Trim implements [logstore.Store]. The file does not shrink; the room is used again.
func (s *Store) Trim(ctx context.Context, runsBefore, linesBefore time.Time) (logstore.Trimmed, error) {
	var trimmed logstore.Trimmed
	var err error
	if !runsBefore.IsZero() {
		if _, err = s.trim(ctx, idAt(runsBefore), (*writer).trimPieces); err != nil {
			return trimmed, fmt.Errorf("trim pieces: %w", err)
		}
		if trimmed.Runs, err = s.trim(ctx, idAt(runsBefore), (*writer).trimRuns); err != nil {
			return trimmed, fmt.Errorf("trim runs: %w", err)
		}
	}
	if !linesBefore.IsZero() {
		if trimmed.Lines, err = s.trim(ctx, idAt(linesBefore), (*writer).trimLines); err != nil {
			return trimmed, fmt.Errorf("trim log lines: %w", err)
		}
	}
	return trimmed, nil
}

// trim deletes slices, each in a transaction of its own, until none is left.
func (s *Store) trim(ctx context.Context, bound []byte, slice func(*writer, context.Context, []byte) (int64, bool, error)) (int64, error) {
	var total int64
	for more := true; more; {
		var n int64
		err := s.write(ctx, func(ctx context.Context, w *writer) (err error) {
			n, more, err = slice(w, ctx, bound)
			return err
		})
		if err != nil {
			return total, err
		}
		total += n
	}
	return total, nil
}

// trimRuns deletes the oldest runs below bound, and says whether there may be more.
func (w *writer) trimRuns(ctx context.Context, bound []byte) (n int64, more bool, err error) {
	end, more, err := w.endOfSlice(ctx, "SELECT run_id FROM runs WHERE run_id < ? ORDER BY run_id LIMIT 1 OFFSET ?", bound)
	if err != nil {
		return 0, false, err
	}
	if n, err = w.exec(ctx, "DELETE FROM runs WHERE run_id <= ?", end); err != nil {
		return 0, false, err
	}
	_, err = w.exec(ctx, "DELETE FROM changes WHERE run_id <= ?", end)
	return n, more, err
}

// trimPieces deletes the oldest pieces below bound.
func (w *writer) trimPieces(ctx context.Context, bound []byte) (n int64, more bool, err error) {
	end, more, err := w.endOfSlice(ctx, "SELECT run_id FROM pieces WHERE run_id < ? ORDER BY run_id LIMIT 1 OFFSET ?", bound)
	if err != nil {
		return 0, false, err
	}
	n, err = w.exec(ctx, "DELETE FROM pieces WHERE run_id <= ?", end)
	return n, more, err
}

// trimLines deletes the chunks of the oldest runs below bound.
func (w *writer) trimLines(ctx context.Context, bound []byte) (n int64, more bool, err error) {
	const oldest = "SELECT id FROM log_chunks WHERE run_id < ? ORDER BY run_id LIMIT ?"
	stmt, err := w.stmt(ctx, "SELECT count(*), ifnull(sum(last_seq - first_seq + 1), 0) FROM log_chunks WHERE id IN ("+oldest+")")
	if err != nil {
		return 0, false, err
	}
	var chunks int
	if err := stmt.QueryRowContext(ctx, bound, trimSlice).Scan(&chunks, &n); err != nil {
		return 0, false, err
	}
	_, err = w.exec(ctx, "DELETE FROM log_chunks WHERE id IN ("+oldest+")", bound, trimSlice)
	return n, chunks == trimSlice, err
}

// endOfSlice returns the last id of a slice. No run has the id bound itself, as it
// lacks the bits that mark a UUIDv7.
func (w *writer) endOfSlice(ctx context.Context, query string, bound []byte) (end []byte, more bool, err error) {
	stmt, err := w.stmt(ctx, query)
	if err != nil {
		return nil, false, err
	}
	err = stmt.QueryRowContext(ctx, bound, trimSlice).Scan(&end)
	if errors.Is(err, sql.ErrNoRows) {
		return bound, false, nil
	}
	return end, true, err
}
