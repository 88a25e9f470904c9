package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

// Made returns how the runs stand that backfills of a job, with the given ids, have made of its fires in [from, to): by
// fire time, in Unix milliseconds. Of a fire that several have run, the last in ids counts. It waits until the history
// has all that was recorded, for 3 s at most; then the error is job.ErrUnavailable.
func (l *Ledger) Made(ctx context.Context, name job.Name, from, to time.Time, ids []string) (map[int64]job.Status, error) {
	made := map[int64]job.Status{}
	if len(ids) == 0 {
		return made, nil
	}
	switch is, err := l.ingested(ctx, name.Shard(l.conn.Cluster().Shards), ingestWait); {
	case err != nil:
		return nil, err
	case !is:
		return nil, fmt.Errorf("%w: the history of job %s is behind", job.ErrUnavailable, name)
	}
	newest := map[int64]int{} // by fire time, the place in ids
	filter := logstore.RunFilter{Jobs: []job.Name{name}, Causes: []job.Cause{job.CauseBackfill}, From: from, To: to, Limit: logstore.MaxRuns}
	for {
		page, err := l.store.Runs(ctx, filter)
		if err != nil {
			return nil, fmt.Errorf("%w: read the history of job %s: %w", job.ErrUnavailable, name, err)
		}
		for i := range page.Runs {
			r := &page.Runs[i]
			at := r.FireTime.UnixMilli()
			for n := len(ids); n > newest[at]; n-- {
				if r.RunID == job.BackfillRunID(name, at, ids[n-1]) {
					newest[at], made[at] = n, r.RunStatus()
					break
				}
			}
		}
		if page.Next == "" {
			return made, nil
		}
		filter.Cursor = page.Next
	}
}
