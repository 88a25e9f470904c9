package xxljob

import (
	"context"
	"errors"
	"sync"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/job"
)

// tenure is an instance as this bridge has stored it. Its revision fences what is stored of its runs:
// another bridge that takes the instance over ends the tenure. Methods may be called concurrently.
type tenure struct {
	store  *state.Store
	bridge string

	storing sync.Mutex // held while the instance is written

	mu       sync.Mutex
	is       state.Instance
	revision uint64
}

// current returns the instance.
func (t *tenure) current() state.Instance {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.is
}

// learn changes what the executor shows of itself. It is stored with the next change.
func (t *tenure) learn(to func(*state.Instance)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	to(&t.is)
}

// change changes what is stored of the instance. The error is job.ErrConflict if it is another's.
func (t *tenure) change(ctx context.Context, to func(*state.Instance)) error {
	t.storing.Lock()
	defer t.storing.Unlock()
	t.mu.Lock()
	is, revision := t.is, t.revision
	t.mu.Unlock()
	to(&is)
	next, err := t.store.PutInstance(ctx, &is, revision)
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.is, t.revision = is, next
	t.mu.Unlock()
	return nil
}

// put stores a run of the instance. The error is job.ErrConflict once another bridge serves it.
func (t *tenure) put(ctx context.Context, r *state.Run) error {
	for {
		f := t.fence()
		err := t.store.PutRun(ctx, r, f)
		if !errors.Is(err, job.ErrConflict) {
			return err
		}
		t.storing.Lock() // a change of ours may be under way
		same := t.fence() == f
		t.storing.Unlock()
		if same && !t.refence(ctx, f) {
			return err // another bridge has it, or we cannot know
		}
	}
}

// refence reports whether the instance is still ours, at a later revision: the answer to a change of ours
// may have been lost.
func (t *tenure) refence(ctx context.Context, was state.Fence) bool {
	is, revision, err := t.store.Instance(ctx, was.Group, was.Instance)
	if err != nil || is.Holder != t.bridge || revision <= was.Revision {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.is, t.revision = *is, revision
	return true
}

func (t *tenure) fence() state.Fence {
	t.mu.Lock()
	defer t.mu.Unlock()
	return state.Fence{Group: t.is.Group, Instance: t.is.Instance, Revision: t.revision}
}

// isBehind reports whether a revision is later than ours.
func (t *tenure) isBehind(revision uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return revision > t.revision
}
