package scheduler

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

// scanEvery is the interval at which a node checks for new deferred items, which the owners of their
// shards then read. Owners are nudged, too; this makes up for nudges that were lost.
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

// watch reads the newest item of each partition until ctx is done.
func (d *deferredItems) watch(ctx context.Context) {
	tick := time.NewTicker(scanEvery)
	defer tick.Stop()
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
		case <-tick.C:
		}
	}
}

// scanDeferred passes to the machine the deferred items that others have stored for the shard. It
// reports whether the machine has all of them.
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
			if err := o.s.putDeferred(sh.machine, m); err != nil {
				o.s.log.ErrorContext(ctx, "deferred item unusable", "shard", o.shard, "error", err)
			}
		}
	}) && err == nil
}
