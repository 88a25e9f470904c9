package scheduler

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

const (
	// parkFor is how long a parked shard is left alone. Only a person can change what is wrong: the
	// limits of NATS, the job, or the version of the server.
	parkFor = 20 * time.Second
	// maxIncomplete is how often in a row NATS may refuse a batch as incomplete, for about 3
	// seconds, until that counts as refused for good.
	maxIncomplete = 16
	// leastPayload is what max_payload of NATS should be; nats.conf has more.
	leastPayload = 4 << 20
	// leastRoom is how many messages a batch must be able to have.
	leastRoom = 32
)

// split commits batches that NATS has refused for good. Together with those of other shards
// they may be too large, so each is sent alone; the shard of one that is refused even so
// is parked, and the others go on. It returns as commit does.
func (c *committer) split(ctx context.Context, at time.Time, batches []pending, refusal *jet.BatchError) (lost []pending, err error) {
	if refusal.TooMany() {
		c.shrink(len(messages(batches)))
	}
	if len(batches) == 1 {
		if p := batches[0]; refusal.StreamFull() {
			p.lose("its stream has no room for what it decided", refusal)
		} else if refusal.TooMany() && len(p.batch.Messages) > c.room() {
			p.lose("its batch has more messages than NATS takes; the next ones are smaller", refusal)
		} else {
			p.park("NATS refuses what it is to store: " + refusal.Error())
		}
		return batches, nil
	}
	for _, p := range batches {
		gone, err := c.commit(ctx, at, []pending{p})
		if lost = append(lost, gone...); err != nil {
			return lost, err
		}
	}
	return lost, nil
}

// room returns how many messages a batch of this node may have.
func (c *committer) room() int {
	if n := int(c.refusedSize.Load()); n > 0 {
		return max(n/2, leastRoom)
	}
	return bus.MaxBatch
}

// shrink notes that NATS has refused a batch of n messages because they are too many. It
// says how many it takes only in words, so that is found by halving.
func (c *committer) shrink(n int) {
	for {
		was := c.refusedSize.Load()
		if was != 0 && int(was) <= n || c.refusedSize.CompareAndSwap(was, int32(n)) { //nolint:gosec // at most MaxBatch
			return
		}
	}
}

// park ends the ownership because the shard cannot go on: NATS refuses for good what it is to store, or a
// newer server has saved a job. It is tried again after a while. All other shards go on.
func (o *ownership) park(why string) {
	if o.held() == nil || o.failed.Swap(true) {
		return
	}
	o.parked.Store(true)
	o.s.shards.park(o.shard, why)
	o.s.log.Error("shard parked: its jobs do not fire", "shard", o.shard, "again_in", parkFor, "reason", why)
	o.cancel()
}

// pauseAfter returns how long the node leaves the shard alone after a failure.
func (o *ownership) pauseAfter() time.Duration {
	if o.parked.Load() {
		return parkFor
	}
	return failurePause
}
