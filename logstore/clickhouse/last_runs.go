package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"time"

	"carillon/job"
	"carillon/logstore"
)

// lookBack are the periods in which last runs are looked for, until there are enough:
// most jobs fire daily at least, and a look at all of history costs the most. The
// last, zero, is that.
var lookBack = []time.Duration{24 * time.Hour, 14 * 24 * time.Hour, 0}

// LastRuns implements [logstore.Store].
func (s *Store) LastRuns(ctx context.Context, jobs []job.Name, n int) (map[job.Name][]logstore.Run, error) {
	if n < 1 || n > logstore.MaxLastRuns {
		return nil, &job.InvalidError{Field: "n", Reason: fmt.Sprintf("must be from 1 to %d", logstore.MaxLastRuns)}
	}
	if err := s.Prepare(ctx); err != nil {
		return nil, err
	}
	found, missing, now := map[job.Name][]row{}, slices.Clone(jobs), time.Now()
	for _, period := range lookBack {
		if len(missing) == 0 {
			break
		}
		f := logstore.RunFilter{Jobs: missing}
		if err := f.Validate(); err != nil {
			return nil, err
		}
		if period > 0 {
			f.From = now.Add(-period)
		}
		rows, err := s.newestByJob(ctx, &f, n)
		if err != nil {
			return nil, fmt.Errorf("read last runs: %w", err)
		}
		for _, name := range missing {
			delete(found, name)
		}
		for i := range rows {
			if name := rows[i].job; len(found[name]) < n {
				found[name] = append(found[name], rows[i])
			}
		}
		missing = slices.DeleteFunc(missing, func(name job.Name) bool { return len(found[name]) == n })
	}
	last := make(map[job.Name][]logstore.Run, len(found))
	for name, rows := range found {
		runs, err := s.asRuns(ctx, rows)
		if err != nil {
			return nil, fmt.Errorf("read last runs: %w", err)
		}
		last[name] = runs
	}
	return last, nil
}

// LastStatuses implements [logstore.Store].
func (s *Store) LastStatuses(ctx context.Context, jobs []job.Name) (map[job.Name]job.Status, error) {
	last, err := s.LastRuns(ctx, jobs, 1)
	if err != nil {
		return nil, err
	}
	statuses := make(map[job.Name]job.Status, len(last))
	for name, runs := range last {
		statuses[name] = runs[0].Status
	}
	return statuses, nil
}

// newestByJob returns the newest n runs of each job that f names, or more.
func (s *Store) newestByJob(ctx context.Context, f *logstore.RunFilter, n int) ([]row, error) {
	c, err := ofRuns(f)
	if err != nil {
		return nil, err
	}
	for ask := spare(n); ; ask *= 4 {
		all, err := s.read(ctx, shown, fmt.Sprintf("%s%s LIMIT %d BY job", c.clause(), newestFirst, ask), c.args...)
		if err != nil {
			return nil, err
		}
		asked := map[job.Name]int{}
		for i := range all {
			asked[all[i].job]++
		}
		rows := standing(all)
		got := map[job.Name]int{}
		for i := range rows {
			got[rows[i].job]++
		}
		enough := true
		for name := range asked {
			// One more than n, as the last may have been cut from its other rows.
			enough = enough && (asked[name] < ask || got[name] > n)
		}
		if enough {
			return rows, nil
		}
	}
}
