package bench

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// benchHerd has all jobs due at one instant, once, and takes the time until the last
// trigger is committed.
func benchHerd(ctx context.Context, o benchOptions) (*benchResult, error) {
	w, err := o.world(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	raw, err := w.rawBatches(ctx, sampleTrigger(), 2*time.Second)
	if err != nil {
		return nil, err
	}
	at := o.readyBy()
	schedule := func(int) job.Schedule { return job.Schedule{Once: &at} }
	if err := w.seed(ctx, o.jobs, at.Add(-time.Millisecond), schedule); err != nil {
		return nil, err
	}
	node, err := w.startNode(ctx, "bench")
	if err != nil {
		return nil, err
	}
	shards := w.conn.Cluster().Shards
	if err := node.owns(ctx, shards); err != nil {
		return nil, err
	}
	if err := begin(ctx, at, 0); err != nil {
		return nil, err
	}
	meter, err := startMeter(o.profile)
	if err != nil {
		return nil, err
	}
	defer meter.stop()
	err = poll(ctx, func() (bool, error) { return w.allDone(ctx, shards, at) })
	if err != nil {
		return nil, err
	}
	_, used := meter.stop()
	if err := node.close(); err != nil {
		return nil, err
	}
	r := &benchResult{Jobs: o.jobs, RawRate: raw, Shards: shards}
	if r.Count, r.Lost, r.Doubled, err = w.audit(ctx, o.jobs, at.Add(-time.Millisecond), schedule); err != nil {
		return nil, err
	}
	late, err := w.lateness(ctx)
	if err != nil {
		return nil, err
	}
	r.P50, r.P99, r.Max = late.quantiles()
	r.Seconds = r.Max / 1000
	r.Rate = float64(r.Count) / r.Seconds
	r.CPUMicros = each(used, r.Count)
	return r, nil
}

// allDone reports whether every shard's cursor has passed an instant.
func (w *benchWorld) allDone(ctx context.Context, shards int, at time.Time) (bool, error) {
	for s := range shards {
		m, err := w.conn.Last(ctx, w.conn.TrigOf(s), bus.SubjectCursor(s))
		if err != nil {
			return false, err
		}
		c, err := journal.DecodeCursor(m.Header, m.Data)
		if err != nil {
			return false, err
		}
		if c.Done.Before(at) {
			return false, nil
		}
	}
	return true, nil
}
