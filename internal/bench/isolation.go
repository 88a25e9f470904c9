package bench

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	isolationSlots = 256
	// stuckGroup is the group whose executors get stuck.
	stuckGroup = "stuck"
)

// benchIsolation has two groups fire side by side, and then the executors of one of them
// stuck: their slots fill up, and their triggers pile up. It measures how late the runs
// of the other group begin, before and after. At the same time it has a second cluster do
// the same with nobody stuck: whatever else the machine does meets both of them, and what
// grows there too grows with time alone.
func benchIsolation(ctx context.Context, o benchOptions) (*benchResult, error) {
	if o.jobs < 2 || o.runFor < 2*time.Second || o.instances < 1 || !slices.Contains(job.Routes, job.Route(o.route)) {
		return nil, cli.Usage(fmt.Errorf("--jobs must be at least 2, --for at least 2s, --instances at least 1, and --route one of %v", job.Routes))
	}
	meter, err := startMeter(o.profile)
	if err != nil {
		return nil, err
	}
	defer meter.stop()
	var alone, beside *isolation
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { alone, err = isolated(ctx, o, false); return err })
	g.Go(func() (err error) { beside, err = isolated(ctx, o, true); return err })
	if err := g.Wait(); err != nil {
		return nil, err
	}
	r := &benchResult{Jobs: o.jobs, Count: len(beside.after.all), Seconds: (o.runFor / 2).Seconds()}
	r.BeforeP50, r.BeforeP99, _ = beside.before.quantiles()
	r.P50, r.P99, r.Max = beside.after.quantiles()
	r.RawBeforeP50, r.RawBeforeP99, _ = alone.before.quantiles()
	r.RawP50, r.RawP99, r.RawMax = alone.after.quantiles()
	r.Rate = float64(r.Count) / r.Seconds
	return r, nil
}

// isolation is how late a group's runs began in the first and in the second half of the
// time.
type isolation struct {
	before, after *lateness
}

// isolated measures one group beside another, whose executors get stuck in the middle, or
// do not.
func isolated(ctx context.Context, o benchOptions, getStuck bool) (*isolation, error) {
	w, err := newBenchWorld(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := w.conn.Groups().Ensure(ctx, stuckGroup); err != nil {
		return nil, err
	}
	from := o.readyBy()
	schedule := func(int) job.Schedule {
		return job.Schedule{FixedRate: job.Duration(time.Second), Spread: job.Duration(time.Second), From: &from}
	}
	half := 0
	w.route = job.Route(o.route)
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
	jammed, err := w.startExecutors(parts, stuckGroup, o.instances, isolationSlots, func(ctx context.Context, _ *executor.Run) (any, error) {
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
	others, err := w.startExecutors(parts, "bench", o.instances, isolationSlots, func(_ context.Context, run *executor.Run) (any, error) {
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
	if err := pause.For(ctx, time.Until(from)+settle); err != nil {
		return nil, err
	}
	late.take()
	if err := pause.For(ctx, o.runFor/2); err != nil {
		return nil, err
	}
	i := &isolation{before: late.take()}
	stuck.Store(getStuck)
	if err := pause.For(ctx, settle); err != nil { // until all slots are taken
		return nil, err
	}
	late.take()
	if err := pause.For(ctx, o.runFor/2); err != nil {
		return nil, err
	}
	i.after = late.take()
	if err := node.close(); err != nil {
		return nil, err
	}
	stop()
	if err := drain(jammed); err != nil {
		return nil, err
	}
	return i, drain(others)
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
