package main

import (
	"context"
	"time"

	"carillon/bus"
	"carillon/job"
)

// benchTakeover kills the node that owns everything, and takes the time until
// another one has fired for every shard.
func benchTakeover(ctx context.Context, o benchOptions) (*benchResult, error) {
	w, err := newBenchWorld(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	period := max(10, o.jobs/20_000) // a moderate load: at most 20,000 fires a second
	from := time.Now().Truncate(time.Second)
	schedule := func(i int) job.Schedule {
		anchor := from.Add(time.Duration(i%period) * time.Second)
		return job.Schedule{FixedRate: job.Duration(time.Duration(period) * time.Second), Anchor: &anchor}
	}
	if err := w.seed(ctx, o.jobs, from, schedule); err != nil {
		return nil, err
	}
	shards := w.conn.Cluster().Shards
	first, err := w.startNode(ctx, "first")
	if err != nil {
		return nil, err
	}
	if err := first.owns(ctx, shards); err != nil {
		return nil, err
	}
	second, err := w.startNode(ctx, "second")
	if err != nil {
		return nil, err
	}
	if err := poll(ctx, func() (bool, error) { return second.Owned() > 0 && first.Owned()+second.Owned() == shards, nil }); err != nil {
		return nil, err
	}
	// The second hands its share back by leaving, and waits as a fresh node beside the first.
	if err := second.close(); err != nil {
		return nil, err
	}
	if err := first.owns(ctx, shards); err != nil {
		return nil, err
	}
	meter, err := startMeter(o.profile)
	if err != nil {
		return nil, err
	}
	defer meter.stop()
	killed := time.Now()
	first.kill()
	third, err := w.startNode(ctx, "third")
	if err != nil {
		return nil, err
	}
	if err := third.owns(ctx, shards); err != nil {
		return nil, err
	}
	if err := poll(ctx, func() (bool, error) { return w.allDone(ctx, shards, killed.Add(bus.LeaseTTL)) }); err != nil {
		return nil, err
	}
	elapsed, used := meter.stop()
	r := &benchResult{Jobs: o.jobs, Shards: shards, Seconds: elapsed.Seconds(), CPUMicros: each(used, o.jobs)}
	if err := third.close(); err != nil {
		return nil, err
	}
	if r.Count, r.Lost, r.Doubled, err = w.audit(ctx, o.jobs, from, schedule); err != nil {
		return nil, err
	}
	return r, nil
}
