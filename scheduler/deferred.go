package scheduler

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

// scanEvery is how often a node asks whether there are new deferred items, and its owners look for those
// that others have left for their shards if so. Mostly they are nudged to; this is for nudges that were
// lost.
const scanEvery = time.Second

// deferredItems is what the node knows of deferred items that others leave for its shards.
type deferredItems struct {
	*node
	newest []atomic.Uint64 // by partition, sequence of the newest deferred item of any shard; 0: there is none
}

// of returns the sequence of the newest deferred item of the shard's partition.
func (d *deferredItems) of(shard int) uint64 {
	return d.newest[d.conn.Cluster().Partitions.Of(shard)].Load()
}

// watch keeps it true, until ctx is done: one question for all shards of the node and
// of a partition.
func (d *deferredItems) watch(ctx context.Context) {
	look := time.NewTicker(scanEvery)
	defer look.Stop()
	for {
		for p, stream := range d.conn.Trigs() {
			switch m, err := d.conn.Last(ctx, stream, bus.SubjectAllDeferred); {
			case err == nil:
				d.newest[p].Store(m.Seq)
			case errors.Is(err, jet.ErrNoMessage):
				d.newest[p].Store(0)
			case ctx.Err() == nil:
				d.log.DebugContext(ctx, "newest deferred item not read", "stream", stream, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

// scanDeferred tells the machine of deferred items that others have left for the shard, and reports
// whether it knows of all.
func (o *ownership) scanDeferred(ctx context.Context) bool {
	from, ok := askShard(ctx, o, func(sh *laneShard) uint64 { return sh.machine.LastItem() + 1 })
	if !ok {
		return false
	}
	var found []*jet.Stored
	err := o.s.conn.Read(ctx, jet.Reading{Stream: o.s.conn.TrigOf(o.shard), Filter: bus.SubjectDeferred(o.shard), From: from}, func(m *jet.Stored) bool {
		found = append(found, m)
		return true
	})
	if err != nil && ctx.Err() == nil {
		o.s.log.DebugContext(ctx, "deferred items not read", "shard", o.shard, "error", err)
	}
	if len(found) == 0 {
		return err == nil
	}
	return o.post(ctx, func(sh *laneShard) {
		for _, m := range found {
			if err := putDeferred(sh.machine, m); err != nil {
				o.s.log.ErrorContext(ctx, "deferred item unusable", "shard", o.shard, "error", err)
				o.s.metrics.unusable.Inc()
			}
		}
	}) && err == nil
}
