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

// LastRuns implements [logstore.Store].
func (h *runHistory) LastRuns(ctx context.Context, jobs []job.Name, n int) (map[job.Name][]runlog.Run, error) {
	if n < 1 || n > logstore.MaxLastRuns {
		return nil, &job.InvalidError{Field: "n", Reason: fmt.Sprintf("must be from 1 to %d", logstore.MaxLastRuns)}
	}
	last := map[job.Name][]runlog.Run{}
	for _, name := range jobs {
		id, ok := h.jobs.ID(name)
		if !ok {
			continue
		}
		rows, err := h.lastRuns.QueryContext(ctx, id, begunBy(), n)
		if err != nil {
			return nil, fmt.Errorf("read last runs of %s: %w", name, err)
		}
		entries, err := h.scan(rows, false)
		if err != nil {
			return nil, fmt.Errorf("read last runs of %s: %w", name, err)
		}
		if len(entries) > 0 {
			last[name] = asRuns(entries)
		}
	}
	return last, nil
}

// begunBy returns the first id that a run of a later instant may have: clocks of servers may differ a little.
func begunBy() any { return file.IDAt(time.Now().Add(logstore.ClocksApart)) }

// prepareLast prepares the query that runs once for each job of a page: parsing it again
// for each page took a tenth of the time of a list of jobs.
func (h *runHistory) prepareLast(ctx context.Context) (err error) {
	if h.lastRuns, err = h.reads.PrepareContext(ctx, "SELECT "+listColumns+newestOfJob); err == nil {
		h.lastStatus, err = h.reads.PrepareContext(ctx, "SELECT status, started_at"+newestOfJob)
	}
	if err != nil {
		return fmt.Errorf("prepare to read last runs: %w", err)
	}
	return nil
}

// newestOfJob leaves tests of drafts and steps of workflows (causes 9 and 10) out, and runs from an instant on,
// as those are that wait for a later one.
const newestOfJob = " FROM runs INDEXED BY runs_by_job WHERE job = ? AND state <> 0 AND cause < 9 AND run_id < ? ORDER BY run_id DESC, attempt DESC LIMIT ?"
