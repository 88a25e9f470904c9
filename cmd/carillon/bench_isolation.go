package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"carillon/executor"
	"carillon/job"
)

const (
	isolationSlots = 256
	// stuckGroup is the group whose executors get stuck.
	stuckGroup = "stuck"
)

// benchIsolation has two groups fire side by side, and then the executors of one of them
// stuck: their slots fill up, and their triggers pile up. It measures how late the runs
// of the other group begin, before and after.
func benchIsolation(ctx context.Context, o benchOptions) (*benchResult, error) {
	if o.jobs < 2 || o.runFor < 2*time.Second {
		return nil, usage(errors.New("--jobs must be at least 2, and --for at least 2s"))
	}
	w, err := newBenchWorld(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := w.conn.EnsureGroup(ctx, stuckGroup); err != nil {
		return nil, err
	}
	from := readyBy(o.jobs)
	schedule := func(int) job.Schedule {
		return job.Schedule{FixedRate: job.Duration(time.Second), Spread: job.Duration(time.Second), From: &from}
	}
	half := 0
	w.change = func(j *job.Job) { // every other job is of the group that gets stuck
		if half++; half%2 == 0 {
			j.Job = job.Name(stuckGroup + "/" + j.Job.Short())
		}
	}
	if err := w.seed(ctx, o.jobs, from.Add(-time.Second), schedule); err != nil {
		return nil, err
	}
	parts, stop := context.WithCancel(ctx)
	defer stop()
	var stuck atomic.Bool
	jammed, err := w.startExecutors(parts, stuckGroup, 2, isolationSlots, func(ctx context.Context, _ *executor.Run) (any, error) {
		if stuck.Load() {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	late := &beginnings{}
	others, err := w.startExecutors(parts, "bench", 2, isolationSlots, func(_ context.Context, run *executor.Run) (any, error) {
		late.add(run)
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	node, err := w.startNode(ctx, "bench")
	if err != nil {
		return nil, err
	}
	if err := node.owns(ctx, w.conn.Cluster().Shards); err != nil {
		return nil, err
	}
	const settle = 2 * time.Second // until connections, caches and stacks are warm
	if err := wait(ctx, time.Until(from)+settle); err != nil {
		return nil, err
	}
	late.take()
	if err := wait(ctx, o.runFor/2); err != nil {
		return nil, err
	}
	before := late.take()
	stuck.Store(true)
	if err := wait(ctx, settle); err != nil { // until all slots are taken
		return nil, err
	}
	late.take()
	if err := wait(ctx, o.runFor/2); err != nil {
		return nil, err
	}
	after := late.take()
	r := &benchResult{Jobs: o.jobs, Count: len(after.all), Seconds: (o.runFor / 2).Seconds()}
	r.BeforeP50, r.BeforeP99, _ = before.quantiles()
	r.P50, r.P99, r.Max = after.quantiles()
	r.Rate = float64(r.Count) / r.Seconds
	if err := node.close(); err != nil {
		return nil, err
	}
	stop()
	if err := drain(jammed); err != nil {
		return nil, err
	}
	return r, drain(others)
}

// beginnings is how late runs begin, after the instants at which they are due. It is safe
// for concurrent use.
type beginnings struct {
	mu   sync.Mutex
	late lateness
}

// add takes in a run that begins now. Its job is spread over a second, and so is what it
// is due at.
func (b *beginnings) add(run *executor.Run) {
	due := run.FireTime().Add(time.Duration(run.Job().Hash()%1000) * time.Millisecond)
	ms := float32(time.Since(due).Seconds() * 1000)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.late.all = append(b.late.all, ms)
}

// take returns what has come since it was called last.
func (b *beginnings) take() *lateness {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.late
	b.late = lateness{}
	return &l
}
