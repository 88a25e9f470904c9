package sqlite

import (
	"context"
	"fmt"
	"time"

	"carillon/job"
	"carillon/job/runlog"
	"carillon/logstore"
)

// Preview implements [logstore.Store].
func (s *Store) Preview(ctx context.Context, now time.Time, r job.Retention) (runlog.Effect, error) {
	var effect runlog.Effect
	rates := logstore.NewRates(now, &r)
	bytesOfRun, err := s.previewRuns(ctx, now, &r, rates, &effect)
	if err != nil {
		return effect, fmt.Errorf("count runs: %w", err)
	}
	var lineBytes int64
	for _, f := range s.logs.all() {
		byJob, err := f.written(ctx)
		if err != nil {
			return effect, fmt.Errorf("count lines of %s: %w", f.day.Format(time.DateOnly), err)
		}
		size, err := sizeOf(f.path)
		if err != nil {
			return effect, err
		}
		lineBytes += size
		for name, w := range byJob {
			effect.Now.Lines += w.lines
			if !f.day.Before(dayOf(rates.From())) {
				rates.Add(name, 0, w.lines, f.day)
			}
		}
	}
	due, err := s.dueFiles(ctx, now, &r)
	if err != nil {
		return effect, err
	}
	for _, d := range due {
		size, err := sizeOf(d.file.path)
		if err != nil {
			return effect, err
		}
		effect.Frees.Lines += d.lines
		effect.Frees.Bytes += size
	}
	effect.Now.Bytes += lineBytes
	effect.Expected = rates.Expected(bytesOfRun, float64(lineBytes)/float64(max(effect.Now.Lines, 1)))
	return effect, nil
}

// previewRuns adds what concerns runs, and returns how many bytes each takes. What is
// deleted of them gives the disk nothing back.
func (s *Store) previewRuns(ctx context.Context, now time.Time, r *job.Retention, rates *logstore.Rates, effect *runlog.Effect) (bytesOfRun float64, err error) {
	if effect.Now.Bytes, err = sizeOf(s.path); err != nil {
		return 0, err
	}
	for name, id := range s.jobs.all() {
		var all, old, recent int64
		var first []byte
		before := now.Add(-time.Duration(r.Of(name).Runs))
		err := s.reads.QueryRowContext(ctx, "SELECT count(*), ifnull(sum(run_id < ? AND committed_at < ?), 0), ifnull(sum(run_id >= ?), 0), min(run_id) FROM runs INDEXED BY runs_by_job WHERE job = ?",
			idAt(before), before.UnixMilli(), idAt(rates.From()), id).Scan(&all, &old, &recent, &first)
		if err != nil {
			return 0, err
		}
		effect.Now.Runs += all
		effect.Frees.Runs += old
		if all > 0 {
			rates.Add(name, recent, 0, unpackID(first).Time())
		}
	}
	return float64(effect.Now.Bytes) / float64(max(effect.Now.Runs, 1)), nil
}
