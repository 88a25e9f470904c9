package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"carillon/job"
)

// movedAtOnce is how many chunks are moved in a transaction.
const movedAtOnce = 256

// moveLines copies the log lines that are in the file of runs, where former programs
// had them, to files of their own. It may be repeated: what is there already stays.
func moveLines(ctx context.Context, conn *sql.Conn, logs *logFiles, keep *job.Retention) error {
	for last := int64(0); ; {
		chunks, next, err := readMoved(ctx, conn, last)
		if err != nil {
			return fmt.Errorf("move log lines: %w", err)
		}
		if len(chunks) == 0 {
			return nil
		}
		byFile := map[logKey][]chunk{}
		for _, c := range chunks {
			key := logKey{dayOf(c.first.RunID.Time()), keep.LogClass(c.first.Job)}
			byFile[key] = append(byFile[key], c)
		}
		for key, chunks := range byFile {
			err := logs.write(ctx, key, func(ctx context.Context, w *writer) error { return w.writeChunks(ctx, chunks) })
			if err != nil {
				return fmt.Errorf("move log lines: %w", err)
			}
		}
		last = next
	}
}

// readMoved returns the chunks after the one with a number, and the last one's number.
func readMoved(ctx context.Context, conn *sql.Conn, after int64) (chunks []chunk, last int64, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT c.id, c.run_id, c.attempt, c.piece, c.first_seq, c.last_seq, j.name, c.data "+
		"FROM log_chunks c JOIN jobs j ON j.id = c.job WHERE c.id > ? ORDER BY c.id LIMIT ?", after, movedAtOnce)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var c foundChunk
		var name job.Name
		if err := rows.Scan(&last, (*scanID)(&c.id), &c.attempt, &c.piece, &c.first, &c.last, &name, &c.data); err != nil {
			return nil, 0, err
		}
		jobs := newDictionary()
		jobs.add(name, c.job)
		lines, err := c.lines(jobs)
		if err != nil {
			return nil, 0, err
		}
		chunks = append(chunks, chunk{first: lines[0], last: lines[len(lines)-1], data: c.data, words: wordsOf(lines)})
	}
	return chunks, last, rows.Err()
}
