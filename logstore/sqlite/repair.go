package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// Repair implements [logstore.Store]. It may be any day, as writers wait meanwhile.
func (s *Store) Repair(ctx context.Context, day time.Time) error {
	day = day.UTC().Truncate(24 * time.Hour)
	err := s.write(ctx, func(ctx context.Context, w *writer) error { return w.repair(ctx, day, day.Add(24*time.Hour)) })
	if err != nil {
		return fmt.Errorf("repair reports of %s: %w", day.Format(time.DateOnly), err)
	}
	return nil
}

func (w *writer) repair(ctx context.Context, from, to time.Time) error {
	if _, err := w.Exec(ctx, "DELETE FROM ended WHERE run_id >= ? AND run_id < ?", file.IDAt(from), file.IDAt(to)); err != nil {
		return err
	}
	n, err := w.Exec(ctx, "INSERT INTO ended SELECT NULL, run_id, attempt, job, version, state, status, count, instance, 0, 0, 0, '', "+
		"iif(queued_at <> 0, queued_at, committed_at), started_at, iif(ruled <> 0 AND ruled <> reported, ruled_at, finished_at), started_at <> 0, delivered_at, cause FROM runs WHERE status >= 10 AND cause < 9 AND run_id >= ? AND run_id < ?", file.IDAt(from), file.IDAt(to))
	if err != nil {
		return err
	}
	if n == 0 {
		return &job.InvalidError{Field: "day", Reason: "has no runs from which reports could be made"}
	}
	for _, t := range reportTables {
		if _, err := w.Exec(ctx, "DELETE FROM "+t.name+" WHERE bucket >= ? AND bucket < ?", from.Unix(), to.Unix()); err != nil {
			return err
		}
	}
	for w.counted = false; !w.counted; {
		if err := w.countEnds(ctx); err != nil {
			return err
		}
	}
	return nil
}
