package bench

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
)

// benchTakeover kills a node, and takes the time until another one has fired for
// every shard that it had.
//
// Of two nodes of a cluster with twice the shards and the jobs, each has about what
// is asked for, and stands by for the other. With cold, one node has everything, and
// the other is started when it is dead.
func benchTakeover(ctx context.Context, o benchOptions) (*benchResult, error) {
	shards, jobs := cluster.DefaultShards, o.jobs
	if !o.cold {
		shards, jobs = 2*shards, 2*jobs
	}
	w, err := newBenchWorld(ctx, shards)
	if err != nil {
		return nil, err
	}
	defer w.close()
	from := time.Now().Truncate(time.Second)
	schedule := everySecond(from, max(10, jobs/5000)) // a light load: what counts is not how fast a backlog is fired
	if err := w.seed(ctx, jobs, from, schedule); err != nil {
		return nil, err
	}
	first, err := w.startNode(ctx, "first")
	if err != nil {
		return nil, err
	}
	if err := first.owns(ctx, shards); err != nil {
		return nil, err
	}
	var second *benchNode
	if !o.cold {
		if second, err = w.startStandby(ctx, "second", first, shards); err != nil {
			return nil, err
		}
	}
	dying := first.Owned()

	meter, err := startMeter(o.profile)
	if err != nil {
		return nil, err
	}
	defer meter.stop()
	killed := time.Now()
	first.kill()
	if o.cold {
		if second, err = w.startNode(ctx, "second"); err != nil {
			return nil, err
		}
	}
	if err := second.owns(ctx, shards); err != nil {
		return nil, err
	}
	if err := poll(ctx, func() (bool, error) { return w.allDone(ctx, shards, killed.Add(jet.LeaseTTL)) }); err != nil {
		return nil, err
	}
	elapsed, used := meter.stop()
	r := &benchResult{Jobs: jobs * dying / shards, Shards: dying, Seconds: elapsed.Seconds(), CPUMicros: each(used, jobs*dying/shards)}
	if err := second.close(); err != nil {
		return nil, err
	}
	if r.Count, r.Lost, r.Doubled, err = w.audit(ctx, jobs, from, schedule); err != nil {
		return nil, err
	}
	return r, nil
}

// startStandby starts a second node, and waits until it has its share of the shards and
// is ready to take over those of the first.
func (w *benchWorld) startStandby(ctx context.Context, name string, first *benchNode, shards int) (*benchNode, error) {
	n, err := w.startNode(ctx, name)
	if err != nil {
		return nil, err
	}
	return n, poll(ctx, func() (bool, error) {
		ready, err := n.standsBy()
		return err == nil && ready > 0 && n.Owned()+ready == shards && first.Owned() == ready, err
	})
}
