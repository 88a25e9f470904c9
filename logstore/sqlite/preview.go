package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// Preview implements [logstore.Store].
func (s *Store) Preview(ctx context.Context, now time.Time, r job.Retention) (runlog.Effect, error) {
	var effect runlog.Effect
	rates := logstore.NewRates(now, &r)
	bytesOfRun, err := s.previewRuns(ctx, now, &r, rates, &effect)
	if err != nil {
		return effect, fmt.Errorf("count runs: %w", err)
	}
	lineBytes, err := s.logs.Preview(ctx, now, &r, rates, &effect)
	if err != nil {
		return effect, err
	}
	effect.Now.Bytes += lineBytes
	effect.Expected = rates.Expected(bytesOfRun, float64(lineBytes)/float64(max(effect.Now.Lines, 1)))
	return effect, nil
}

// previewRuns adds what concerns runs, and returns how many bytes each takes. What is
// deleted of them gives the disk nothing back.
func (s *Store) previewRuns(ctx context.Context, now time.Time, r *job.Retention, rates *logstore.Rates, effect *runlog.Effect) (bytesOfRun float64, err error) {
	if effect.Now.Bytes, err = file.Size(s.path); err != nil {
		return 0, err
	}
	for name, id := range s.jobs.All() {
		var all, old, recent int64
		var first []byte
		before := now.Add(-time.Duration(r.Of(name).Runs))
		err := s.reads.QueryRowContext(ctx, "SELECT count(*), ifnull(sum(run_id < ? AND committed_at < ?), 0), ifnull(sum(run_id >= ?), 0), min(run_id) FROM runs INDEXED BY runs_by_job WHERE job = ?",
			file.IDAt(before), before.UnixMilli(), file.IDAt(rates.From()), id).Scan(&all, &old, &recent, &first)
		if err != nil {
			return 0, err
		}
		effect.Now.Runs += all
		effect.Frees.Runs += old
		if all > 0 {
			rates.Add(name, recent, 0, file.UnpackID(first).Time())
		}
	}
	return float64(effect.Now.Bytes) / float64(max(effect.Now.Runs, 1)), nil
}
