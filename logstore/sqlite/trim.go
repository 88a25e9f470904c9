package sqlite

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
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
	for name, id := range s.jobs.All() {
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
	if trimmed.Lines, err = s.logs.Trim(ctx, now, &r); err != nil {
		return trimmed, err
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
	bound, committed := file.IDAt(before), before.UnixMilli()
	for after := []byte{}; ; {
		var end []byte
		err := s.reads.QueryRowContext(ctx, "SELECT max(run_id) FROM (SELECT run_id FROM "+from+old+" ORDER BY run_id LIMIT ?)", after, bound, committed, trimSlice).Scan(&end)
		if err != nil || end == nil {
			return total, err
		}
		err = s.write(ctx, func(ctx context.Context, w *writer) error {
			for _, table := range []string{"changes", "pieces"} {
				if _, err := w.Exec(ctx, "DELETE FROM "+table+" WHERE run_id IN (SELECT run_id FROM "+from+old+" OR run_id = ?)", after, end, committed, end); err != nil {
					return err
				}
			}
			n, err := w.Exec(ctx, "DELETE FROM "+from+old, after, end, committed)
			total += n
			return err
		})
		if err != nil {
			return total, err
		}
		after = end
	}
}
