package logfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// movedAtOnce is how many chunks are moved in a transaction.
const movedAtOnce = 256

// Move copies the log lines that are in the file of runs, where former programs had them,
// to those of their days and classes by r. It may be repeated: what is there already stays.
func (l *Folder) Move(ctx context.Context, conn *sql.Conn, r *job.Retention) error {
	for last := int64(0); ; {
		chunks, next, err := readMoved(ctx, conn, last)
		if err != nil {
			return fmt.Errorf("move log lines: %w", err)
		}
		if len(chunks) == 0 {
			return nil
		}
		byFile := map[fileKey][]chunk{}
		for _, c := range chunks {
			key := keyOf(&c.first, r)
			byFile[key] = append(byFile[key], c)
		}
		for key, chunks := range byFile {
			if err := l.write(ctx, key, chunks); err != nil {
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
		if err := rows.Scan(&last, (*file.ScanID)(&c.id), &c.attempt, &c.piece, &c.first, &c.last, &name, &c.data); err != nil {
			return nil, 0, err
		}
		lines, err := c.lines(name)
		if err != nil {
			return nil, 0, err
		}
		chunks = append(chunks, chunk{first: lines[0], last: lines[len(lines)-1], data: c.data, words: wordsOf(lines)})
	}
	return chunks, last, rows.Err()
}
