//go:build unix

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
)

// wishes are runs that people want while everything may be down: fires of the past, and
// runs again that have ended. One goroutine at a time uses them.
type wishes struct {
	*load
	api *client.API
	n   int
	// asked has the runs, and whether they were promised: an answer may have been lost.
	asked map[job.RunID]bool
}

func newWishes(l *load, api *client.API) *wishes {
	return &wishes{load: l, api: api, asked: map[job.RunID]bool{}}
}

// ask asks for one or the other.
func (w *wishes) ask(ctx context.Context, r *rand.Rand) error {
	w.n++
	if r.IntN(2) == 0 {
		return w.fill(ctx, r)
	}
	return w.retry(ctx, r)
}

// fillFires is how many fires are asked for at once.
const fillFires = 4

// fill asks for the latest fires of some job once more.
func (w *wishes) fill(ctx context.Context, r *rand.Rand) error {
	i := r.IntN(w.jobs)
	to := time.Now().UTC().Truncate(w.rate)
	from := to.Add(-fillFires * w.rate)
	if i%10 == edited || w.since[i].IsZero() || from.Before(w.since[i]) {
		return nil // nobody knows when it fired, or it has hardly
	}
	id := fmt.Sprintf("fill-%d", w.n)
	run := func(at time.Time) job.RunID { return job.BackfillRunID(w.name(i), at.UnixMilli(), id) }
	for at := from; at.Before(to); at = at.Add(w.rate) {
		w.asked[run(at)] = false
	}
	result, err := client.Read[client.BackfillResult](w.api.BackfillJob(ctx, w.group, w.name(i).Short(), nil, client.BackfillRequest{
		ID: id, From: from, To: to, Only: outcome.All, AtOnce: 2,
	}))
	if err != nil || result.Backfill == nil || result.Backfill.Total != len(result.Fires) {
		return err // one whose answer was lost has some of them
	}
	for i := range result.Fires {
		w.asked[run(result.Fires[i].FireTime)] = true
	}
	return nil
}

// retry asks for a run once more that has ended lately.
func (w *wishes) retry(ctx context.Context, r *rand.Rand) error {
	ended := []client.Status{job.StatusSucceeded, job.StatusTimedOut, job.StatusCancelled, job.StatusMissed}
	page, err := w.api.Runs(ctx, client.ListRunsParams{Group: &w.group, Status: &ended}, 100)
	if err != nil || len(page.Items) == 0 {
		return err
	}
	of, key := page.Items[r.IntN(len(page.Items))].RunID, fmt.Sprintf("again-%d", w.n)
	id := job.RetryRunID(of, key)
	w.asked[id] = false
	if _, err := client.Read[client.RunAccepted](w.api.RerunRun(ctx, string(of), nil, client.RerunRequest{Key: key})); err != nil {
		return err
	}
	w.asked[id] = true
	return nil
}

// unmet tells which of the runs that were promised are not there.
func (w *wishes) unmet(runs []client.Run) (lacking []string) {
	there := map[job.RunID]bool{}
	for i := range runs {
		there[runs[i].RunID] = true
	}
	for id, promised := range w.asked {
		if promised && !there[id] {
			lacking = append(lacking, string(id))
		}
	}
	return lacking
}

// promised returns how many runs were.
func (w *wishes) promised() (n int) {
	for _, promised := range w.asked {
		if promised {
			n++
		}
	}
	return n
}

// check wants what was promised, and nothing of the kind that nobody asked for.
func (w *wishes) check(wrong differences, runs []client.Run) {
	for _, id := range w.unmet(runs) {
		wrong.add("backfills and retries that were promised", "%s", id)
	}
	for i := range runs {
		r := &runs[i]
		if _, ok := w.asked[r.RunID]; !ok && (r.Cause == job.CauseBackfill || r.Cause == job.CauseRerun) {
			wrong.add("backfills and retries that nobody asked for", "%s of %s", r.RunID, r.Job)
		}
	}
}
