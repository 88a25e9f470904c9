package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"carillon/job"
	"carillon/logstore"
)

// trimSlice is how many rows are deleted at once: a few milliseconds' worth.
const trimSlice = 1000

// Trim implements [logstore.Store]. The file of runs does not shrink; the room is used
// again. Those of log lines go as a whole.
func (s *Store) Trim(ctx context.Context, now time.Time, r job.Retention) (logstore.Trimmed, error) {
	defer s.stand.clear()
	var trimmed logstore.Trimmed
	// Most is deleted in the order of time; what some rule keeps for less, by jobs.
	_, longest := r.Bounds()
	var err error
	if trimmed.Runs, err = s.trimRuns(ctx, now.Add(-time.Duration(longest.Runs)), "runs NOT INDEXED WHERE true"); err != nil {
		return trimmed, fmt.Errorf("trim runs: %w", err)
	}
	for name, id := range s.jobs.all() {
		keep := r.Of(name).Runs
		if keep == longest.Runs {
			continue
		}
		n, err := s.trimRuns(ctx, now.Add(-time.Duration(keep)), "runs INDEXED BY runs_by_job WHERE job = "+strconv.FormatInt(id, 10))
		if err != nil {
			return trimmed, fmt.Errorf("trim runs of %s: %w", name, err)
		}
		trimmed.Runs += n
	}
	due, err := s.dueFiles(ctx, now, &r)
	if err != nil {
		return trimmed, err
	}
	for _, d := range due {
		if err := s.logs.remove(d.file); err != nil {
			return trimmed, err
		}
		trimmed.Lines += d.lines
	}
	if err := s.write(ctx, func(ctx context.Context, w *writer) error {
		if err := w.trimReports(ctx, now); err != nil {
			return err
		}
		var err error
		trimmed.Facts, err = w.trimFacts(ctx, now, &r)
		return err
	}); err != nil {
		return trimmed, err
	}
	return trimmed, nil
}

// trimRuns deletes the runs from some rows that fired, and were committed, before an
// instant. It goes in slices, each in a transaction of its own; that there are none,
// which is the rule, it finds out without the writer.
func (s *Store) trimRuns(ctx context.Context, before time.Time, from string) (total int64, err error) {
	const old = " AND run_id > ? AND run_id <= ? AND committed_at < ?"
	bound, committed := idAt(before), before.UnixMilli()
	for after := []byte{}; ; {
		var end []byte
		err := s.reads.QueryRowContext(ctx, "SELECT max(run_id) FROM (SELECT run_id FROM "+from+old+" ORDER BY run_id LIMIT ?)", after, bound, committed, trimSlice).Scan(&end)
		if err != nil || end == nil {
			return total, err
		}
		err = s.write(ctx, func(ctx context.Context, w *writer) error {
			for _, table := range []string{"changes", "pieces"} {
				if _, err := w.exec(ctx, "DELETE FROM "+table+" WHERE run_id IN (SELECT run_id FROM "+from+old+" OR run_id = ?)", after, end, committed, end); err != nil {
					return err
				}
			}
			n, err := w.exec(ctx, "DELETE FROM "+from+old, after, end, committed)
			total += n
			return err
		})
		if err != nil {
			return total, err
		}
		after = end
	}
}

// dueFile is a file of log lines that is to go.
type dueFile struct {
	file  *logFile
	lines int64
}

// dueFiles returns the files none of whose jobs keeps its lines any longer.
func (s *Store) dueFiles(ctx context.Context, now time.Time, r *job.Retention) ([]dueFile, error) {
	shortest, _ := r.Bounds()
	var due []dueFile
	for _, f := range s.logs.all() {
		if logstore.DropAt(f.day, f.day, f.class, time.Duration(shortest.Logs)).After(now) {
			continue
		}
		byJob, err := f.written(ctx)
		if err != nil {
			return nil, fmt.Errorf("count lines of %s: %w", f.day.Format(time.DateOnly), err)
		}
		old, lines := true, int64(0)
		for name, w := range byJob {
			old = old && !logstore.DropAt(f.day, w.at, f.class, time.Duration(r.Of(name).Logs)).After(now)
			lines += w.lines
		}
		if old {
			due = append(due, dueFile{f, lines})
		}
	}
	return due, nil
}

// written is what a job has in a file of log lines.
type written struct {
	lines int64
	at    time.Time // when the last of them was written
}

// written returns what each job has in the file.
func (f *logFile) written(ctx context.Context) (map[job.Name]written, error) {
	byJob := map[job.Name]written{}
	err := f.read(ctx, func(db *sql.DB) error {
		rows, err := db.QueryContext(ctx, "SELECT name, lines, written_at FROM jobs")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var name job.Name
			var w written
			var at int64
			if err := rows.Scan(&name, &w.lines, &at); err != nil {
				return err
			}
			w.at = instant(at)
			byJob[name] = w
		}
		return rows.Err()
	})
	return byJob, err
}
