package xxljob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/internal/xxljob"
	"github.com/carillon-scheduler/carillon/job"
)

// numbers knows the numbers of jobs. It is safe for concurrent use.
type numbers struct {
	conn  *jet.Conn
	store *state.Store
	least int32

	mu    sync.Mutex
	known map[job.Name]int32

	taking sync.Mutex         // held while numbers are taken
	spare  map[string][]int32 // that are ours to give, by group
}

// takeJobIDs is how many numbers are taken at once.
const takeJobIDs = 50

// of returns the number of a trigger's job, or of its step: an executor of XXL-JOB ends what it does by a
// number when another handler comes with that. The first time, that is the one by which XXL-JOB knew the
// job if it was imported, else a new one.
func (n *numbers) of(ctx context.Context, t *bus.Trigger) (int32, error) {
	id, err := n.find(ctx, t.Work())
	if !errors.Is(err, job.ErrNotFound) {
		return id, err
	}
	wanted, err := n.imported(ctx, t)
	for err == nil {
		if wanted == 0 {
			if wanted, err = n.take(ctx, t.Job.Group()); err != nil {
				break
			}
		}
		if id, err = n.store.GiveJobID(ctx, t.Work(), wanted); err == nil {
			n.keep(t.Work(), id)
			return id, nil
		}
		if errors.Is(err, job.ErrConflict) { // it is another job's
			wanted, err = 0, nil
		}
	}
	return 0, fmt.Errorf("give %s a number: %w", t.Work(), err)
}

// take returns a number that nobody else takes in a group.
func (n *numbers) take(ctx context.Context, group string) (int32, error) {
	n.taking.Lock()
	defer n.taking.Unlock()
	if len(n.spare[group]) == 0 {
		first, err := n.store.TakeJobIDs(ctx, group, takeJobIDs, n.least)
		if err != nil {
			return 0, err
		}
		for k := range int32(takeJobIDs) {
			n.spare[group] = append(n.spare[group], first+k)
		}
	}
	id := n.spare[group][0]
	n.spare[group] = n.spare[group][1:]
	return id, nil
}

// find returns the number of a job that has one. The error is job.ErrNotFound if it has none.
func (n *numbers) find(ctx context.Context, name job.Name) (int32, error) {
	n.mu.Lock()
	id, ok := n.known[name]
	n.mu.Unlock()
	if ok {
		return id, nil
	}
	id, err := n.store.JobID(ctx, name)
	if err == nil {
		n.keep(name, id)
	}
	return id, err
}

func (n *numbers) keep(name job.Name, id int32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known[name] = id
}

// imported returns the number by which XXL-JOB knew a job, as the note of its version says; 0 if it
// comes from elsewhere.
func (n *numbers) imported(ctx context.Context, t *bus.Trigger) (int32, error) {
	if t.Step != "" {
		return 0, nil
	}
	m, err := n.conn.Direct(ctx, "KV_"+bus.BucketJobs, "$KV."+bus.BucketJobs+"."+bus.JobKey(t.Shard, t.Job))
	if errors.Is(err, jet.ErrNoMessage) {
		return 0, nil
	}
	var version struct {
		Note string `json:"note"`
	}
	if err != nil || json.Unmarshal(m.Data, &version) != nil {
		return 0, err
	}
	return xxljob.IDOf(version.Note), nil
}

// NewJobID returns a number that no job of a group has or had.
func (b *Bridge) NewJobID(ctx context.Context, group string) (int32, error) {
	return b.jobs.take(ctx, group)
}

// GiveJobID gives a job a number, and returns it, or the one that the job has already. The error is
// job.ErrConflict if the number is another job's.
func (b *Bridge) GiveJobID(ctx context.Context, name job.Name, id int32) (int32, error) {
	id, err := b.store.GiveJobID(ctx, name, id)
	if err == nil {
		b.jobs.keep(name, id)
	}
	return id, err
}

// JobOf returns a group's job by its number. The error is job.ErrNotFound if no job has that number
// yet: imported jobs get theirs at their first run.
func (b *Bridge) JobOf(ctx context.Context, group string, id int32) (job.Name, error) {
	return b.store.JobOf(ctx, group, id)
}
