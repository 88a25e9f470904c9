package sqlite

import (
	"context"
	"fmt"
	"strconv"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// waitingQuery reads the rows of one index, with what it says of them twice, as in newQuery.
var waitingQuery = "SELECT job, count(*), min(committed_at) FROM runs INDEXED BY runs_by_state WHERE state <> 10 AND state <> 0 AND state = " +
	strconv.FormatInt(statusCodes[job.StatusPending], 10) + " GROUP BY job"

// Waiting implements [logstore.Store].
func (s *Store) Waiting(ctx context.Context) (map[string]logstore.Waiting, error) {
	rows, err := s.prepared.query(ctx, waitingQuery)
	if err != nil {
		return nil, fmt.Errorf("count waiting runs: %w", err)
	}
	defer func() { _ = rows.Close() }()
	waiting := map[string]logstore.Waiting{}
	for rows.Next() {
		var id, since int64
		var n int
		if err := rows.Scan(&id, &n, &since); err != nil {
			return nil, fmt.Errorf("count waiting runs: %w", err)
		}
		group := s.jobs.Name(id).Group()
		w := waiting[group]
		if at := file.Instant(since); w.Runs == 0 || at.Before(w.Since) {
			w.Since = at
		}
		w.Runs += n
		waiting[group] = w
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("count waiting runs: %w", err)
	}
	return waiting, nil
}
