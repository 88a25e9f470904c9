package runs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

const (
	// recentFor is how long this server remembers a run that it accepted. The history usually has the
	// run after half a second, later while the log store is away.
	recentFor = time.Minute
	// maxRecent bounds the remembered runs.
	maxRecent = 10_000
)

// recent is a log store that also returns runs that this server accepted and the history does not have yet.
type recent struct {
	logstore.Store

	mu    sync.Mutex
	known map[job.RunID]runlog.Run
	order []job.RunID // the oldest first
}

func newRecent(store logstore.Store) *recent {
	return &recent{Store: store, known: map[job.RunID]runlog.Run{}}
}

// add remembers a run that was just accepted.
func (r *recent) add(a *api.RunAccepted, cause job.Cause, parent job.RunID, by string) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.order) > 0 && (len(r.order) >= maxRecent || now.Sub(r.known[r.order[0]].CommittedAt) > recentFor) {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
	if _, known := r.known[a.RunID]; known {
		return
	}
	r.order = append(r.order, a.RunID)
	r.known[a.RunID] = runlog.Run{
		RunID: a.RunID, Job: a.Job, Version: a.Version, Attempt: 1, Status: a.Status, Reason: a.Reason, Cause: cause, Parent: parent,
		FireTime: a.RunID.Time(), CommittedAt: now, By: by, Count: 1,
	}
}

// Run implements [logstore.Store]. The history takes precedence.
func (r *recent) Run(ctx context.Context, id job.RunID) ([]runlog.Run, error) {
	attempts, err := r.Store.Run(ctx, id)
	if !errors.Is(err, job.ErrNotFound) {
		return attempts, err
	}
	if run, known := r.of(id); known {
		return []runlog.Run{run}, nil
	}
	return nil, err
}

// Changes implements [logstore.Store].
func (r *recent) Changes(ctx context.Context, id job.RunID, piece runlog.Piece) ([]runlog.Change, error) {
	changes, err := r.Store.Changes(ctx, id, piece)
	if _, known := r.of(id); known && errors.Is(err, job.ErrNotFound) {
		return nil, nil
	}
	return changes, err
}

func (r *recent) of(id job.RunID) (runlog.Run, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	run, known := r.known[id]
	return run, known && time.Since(run.CommittedAt) <= recentFor
}
