package xxljob

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/peer"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
)

// adopt takes over an instance whose bridge is gone, with its runs. It finds out afterwards
// whether the executor can be reached, because the runs need a bridge that reports them as
// alive at once.
func (b *Bridge) adopt(life context.Context, is state.Instance, revision uint64) error {
	is.Holder = b.id
	revision, err := b.store.PutInstance(life, &is, revision)
	if err != nil {
		return err
	}
	// From here on nobody else begins runs there. All that were begun are read.
	runs, err := b.store.Runs(life, state.Fence{Group: is.Group, Instance: is.Instance, Revision: revision})
	if err != nil {
		return err // we hold it, and try again
	}
	b.log.InfoContext(life, "instance taken over", "executor_group", is.Group, "instance", is.Instance, "runs", len(runs))
	b.metrics.adopted.Add(float64(len(runs)))
	return b.serve(life, is, revision, runs)
}

// attach begins to serve an executor that has registered, once it can be reached. If it cannot, that is
// stored, so that the executor is told.
func (b *Bridge) attach(life context.Context, is state.Instance, revision uint64) error {
	to := peer.Target{Address: is.Address, AppName: is.AppName, Token: b.token(is.Group), Dialect: is.Dialect}
	err := b.peers.Beat(life, to)
	if err != nil {
		if why := unreachable(err); life.Err() == nil && (why != is.Why || !is.Offline) {
			is.Offline, is.Holder, is.Why = true, "", why
			b.log.WarnContext(life, "executor registered, but cannot be reached", "executor_group", is.Group, "instance", is.Instance, "address", is.Address, "error", err)
			_, err = b.store.PutInstance(life, &is, revision)
			return err
		}
		return nil
	}
	is.Holder, is.Offline, is.Why, is.SaysBusy, is.Since = b.id, false, "", false, time.Now().UTC().Truncate(time.Millisecond)
	if revision, err = b.store.PutInstance(life, &is, revision); err != nil {
		return err
	}
	b.log.InfoContext(life, "executor attached", "executor_group", is.Group, "instance", is.Instance, "address", is.Address, "dialect", is.Dialect)
	return b.serve(life, is, revision, nil)
}

// unreachable says why an executor cannot be called.
func unreachable(err error) string {
	refused := (*peer.Refusal)(nil)
	if errors.As(err, &refused) {
		return "it refuses calls: " + refused.Error()
	}
	return err.Error()
}

// serve begins to serve an instance that we hold, with the runs that it has.
func (b *Bridge) serve(life context.Context, is state.Instance, revision uint64, runs []*state.Run) error {
	ctx, cancel := context.WithCancelCause(life)
	b.mu.Lock()
	g := b.groupLocked(life, is.Group)
	b.mu.Unlock()
	i := newInstance(b, g, is, revision, cancel)
	for _, kept := range runs {
		i.resume(kept)
	}
	if err := i.listen(ctx); err != nil {
		cancel(err)
		return fmt.Errorf("listen for requests to %s: %w", is.Key(), err)
	}
	b.mu.Lock()
	b.serving[is.Key()] = i
	b.metrics.instances.Set(float64(len(b.serving)))
	b.mu.Unlock()
	g.join(i)
	b.work.Go(func() error {
		i.run(ctx)
		g.leave(i)
		b.mu.Lock()
		if b.serving[is.Key()] == i {
			delete(b.serving, is.Key())
			b.metrics.instances.Set(float64(len(b.serving)))
		}
		b.mu.Unlock()
		return nil
	})
	return nil
}
