package worker

import (
	"context"
	"fmt"

	"github.com/carillon-scheduler/carillon/executor"
)

// handle does a run in one of the processes.
func (w *Workers) handle(ctx context.Context, run *executor.Run) (any, error) {
	var c *call
	var p *process
	for c == nil { // a process may end just when it is chosen
		var err error
		if p, err = w.acquire(ctx); err != nil {
			return nil, err
		}
		if c = p.begin(ctx, run); c == nil {
			w.leave(p)
		}
	}
	defer w.leave(p)
	if a, ended := p.await(ctx, c, ctx.Done()); ended {
		return a.result, a.err
	}
	p.stdin.send(control{Type: typeCancel, ID: c.id, Reason: context.Cause(ctx).Error()})
	grace := w.cfg.KillAfter
	if own := run.Trigger().KillGrace.Std(); own > 0 {
		grace = own
	}
	late, stop := context.WithTimeout(context.WithoutCancel(ctx), grace) // the run is over, and the process is not
	defer stop()
	if a, ended := p.await(ctx, c, late.Done()); ended {
		return a.result, a.err
	}
	p.kill(fmt.Sprintf("it did not end run %s within %s of its cancellation", run.ID(), grace))
	return nil, fmt.Errorf("the worker process was killed: it did not end the run within %s", grace)
}

// acquire waits for a free slot and takes it, in the process that has the most.
func (w *Workers) acquire(ctx context.Context) (*process, error) {
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		w.mu.Lock()
		var best *process
		for _, p := range w.up {
			if p.usable() && p.busy < p.places && (best == nil || p.busy < best.busy) {
				best = p
			}
		}
		if best != nil {
			best.busy++
			w.mu.Unlock()
			return best, nil
		}
		changed := w.changed
		w.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// leave gives a place back.
func (w *Workers) leave(p *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p.busy--
	w.changedLocked()
}
