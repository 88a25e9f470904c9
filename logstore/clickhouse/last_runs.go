package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// lookBack are the periods in which last runs are looked for, until there are enough:
// most jobs fire daily at least, and a look at all of history costs the most. The
// last, zero, is that.
var lookBack = []time.Duration{24 * time.Hour, 14 * 24 * time.Hour, 0}

// LastRuns implements [logstore.Store].
func (h *runHistory) LastRuns(ctx context.Context, jobs []job.Name, n int) (map[job.Name][]runlog.Run, error) {
	if n < 1 || n > logstore.MaxLastRuns {
		return nil, &job.InvalidError{Field: "n", Reason: fmt.Sprintf("must be from 1 to %d", logstore.MaxLastRuns)}
	}
	if err := h.Prepare(ctx); err != nil {
		return nil, err
	}
	found, missing, now := map[job.Name][]row{}, slices.Clone(jobs), time.Now()
	for _, period := range lookBack {
		if len(missing) == 0 {
			break
		}
		f := logstore.RunFilter{Jobs: missing, Causes: job.CountedCauses, To: now.Add(logstore.ClocksApart)} // without those that wait for a later instant
		if err := f.Validate(); err != nil {
			return nil, err
		}
		if period > 0 {
			f.From = now.Add(-period)
		}
		rows, err := h.newestByJob(ctx, &f, n)
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
	var rows []row
	for _, ofJob := range found {
		rows = append(rows, ofJob...)
	}
	runs, err := h.listed(ctx, &logstore.RunFilter{}, rows)
	if err != nil {
		return nil, fmt.Errorf("read last runs: %w", err)
	}
	last := make(map[job.Name][]runlog.Run, len(found))
	for _, r := range runs {
		last[r.Job] = append(last[r.Job], r)
	}
	return last, nil
}

// mostLookedBack is of how many jobs that fail the runs before the newest are read at once:
// where more of them do, nobody asks which has for how long.
const mostLookedBack = 1000

// Standings implements [logstore.Store].
func (h *runHistory) Standings(ctx context.Context, jobs []job.Name) (map[job.Name]logstore.Standing, error) {
	standings := make(map[job.Name]logstore.Standing, len(jobs))
	failing, err := h.lookBack(ctx, jobs, 1, standings)
	if err == nil && len(failing) > 0 {
		slices.Sort(failing)
		_, err = h.lookBack(ctx, failing[:min(len(failing), mostLookedBack)], logstore.StandingRuns, standings)
	}
	return standings, err
}

// lookBack puts into standings how jobs stand by their newest n runs, and returns the jobs
// that need more runs than that.
func (h *runHistory) lookBack(ctx context.Context, jobs []job.Name, n int, standings map[job.Name]logstore.Standing) (unsure []job.Name, err error) {
	last, err := h.LastRuns(ctx, jobs, n)
	if err != nil {
		return nil, err
	}
	for name, runs := range last {
		var l logstore.Lookback
		more := true
		for i := 0; more && i < len(runs); i++ {
			more = l.Add(runs[i].Status, runs[i].StartedAt)
		}
		if standings[name] = l.Standing; more {
			unsure = append(unsure, name)
		}
	}
	return unsure, nil
}

// newestByJob returns the newest n runs of each job that f names, or more.
func (h *runHistory) newestByJob(ctx context.Context, f *logstore.RunFilter, n int) ([]row, error) {
	c, err := ofRuns(f)
	if err != nil {
		return nil, err
	}
	for ask := spare(n); ; ask *= 4 {
		all, err := h.read(ctx, shown, fmt.Sprintf("%s%s LIMIT %d BY job", c.clause(), newestFirst, ask), c.args...)
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
