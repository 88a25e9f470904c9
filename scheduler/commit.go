package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// pending is a shard's batch that is to be stored.
type pending struct {
	*ownership
	machine *shard.Machine
	batch   *shard.Batch
}

// committer stores batches. Several goroutines may use it.
type committer struct {
	*node
	rooms       *rooms
	refusedSize atomic.Int32 // how many messages of a batch are too many for NATS; 0: it has refused none
}

const (
	// maxIncomplete is how often in a row NATS may refuse a batch as incomplete, for about 3
	// seconds, until that counts as refused for good.
	maxIncomplete = 16
	// leastRoom is how many messages a batch must be able to have.
	leastRoom = 32
)

// errAbandoned means that the outcome of a commit no longer matters to this node.
var errAbandoned = errors.New("commit abandoned")

// commit stores the batches of several shards as one, and tells their machines. It
// returns the shards that turned out to be lost; their machines must be thrown away,
// the others are committed. It tries for as long as it takes; the error means that
// ctx is done, and that nobody knows what became of the batches.
//
// The same messages are sent again until the outcome is known. That is safe, because
// each shard's cursor is among them, conditional on the one before it: at most one
// of the repeats is stored, and the cursor's commit name shows whether one was.
//
// Nothing is stored before the moment at, which has a monotonic reading: a wall clock that is set back
// meanwhile delays nothing. Zero is no such moment. When the stream has no room for all batches, they are sent
// shard by shard; a shard for whose batch there is no room is given up, and its next owner, who knows
// that no run may begin, decides anew. Batches that are refused for good are sent shard
// by shard, and the shard of the one that is refused alone is parked.
func (c *committer) commit(ctx context.Context, at time.Time, batches []pending) (lost []pending, err error) {
	wait := pause.Backoff{Least: 5 * time.Millisecond, Most: 250 * time.Millisecond, Jitter: true}
	incomplete := 0 // refusals in a row
	for attempt := 1; len(batches) > 0; attempt++ {
		first, err := c.publish(ctx, at, messages(batches))
		if err == nil {
			c.committed(ctx, batches, first)
			return lost, nil
		}
		refusal, refused := errors.AsType[*jet.BatchError](err)
		c.logFailure(attempt, batches, err)
		if incomplete++; !refused || !refusal.Incomplete() {
			incomplete = 0
		}
		switch {
		case refused && refusal.StreamFull():
			c.metrics.refused.WithLabelValues(refusal.Kind()).Inc()
			c.rooms.of(batches[0].shard).refuse(time.Now())
			gone, err := c.split(ctx, at, batches, refusal)
			return append(lost, gone...), err
		case refused && refusal.Permanent() || incomplete == maxIncomplete:
			c.metrics.refused.WithLabelValues(refusal.Kind()).Inc()
			gone, err := c.split(ctx, at, batches, refusal)
			return append(lost, gone...), err
		case refused && !refusal.Stale():
			if !refusal.Busy() {
				wait.Most = 2 * time.Second // a stream without room has none for a while
			}
			c.metrics.refused.WithLabelValues(refusal.Kind()).Inc()
		default:
			c.metrics.refused.WithLabelValues(unknownOrStale).Inc()
			var gone []pending
			if batches, gone, err = c.resolve(ctx, batches); err != nil {
				c.logFailure(attempt, batches, err)
			}
			lost = append(lost, gone...)
		}
		var expired []pending
		batches, expired = splitExpired(batches)
		lost = append(lost, expired...)
		if len(batches) > 0 && wait.Wait(ctx) != nil {
			return lost, fmt.Errorf("%w: %w", errAbandoned, context.Cause(ctx))
		}
	}
	return lost, nil
}

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

// publish stores a batch at a moment, which may be past.
func (c *committer) publish(ctx context.Context, at time.Time, messages []*nats.Msg) (first uint64, err error) {
	staged, err := c.conn.StageBatch(messages)
	if err != nil {
		return 0, err
	}
	if wait := time.Until(at); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("%w: %w", jet.ErrBatchUnknown, context.Cause(ctx))
		case <-timer.C:
		}
	}
	return staged.Commit(ctx)
}

// messages returns all messages of the batches, in order.
func messages(batches []pending) []*nats.Msg {
	if len(batches) == 1 {
		return batches[0].batch.Messages
	}
	n := 0
	for _, p := range batches {
		n += len(p.batch.Messages)
	}
	all := make([]*nats.Msg, 0, n)
	for _, p := range batches {
		all = append(all, p.batch.Messages...)
	}
	return all
}

// committed tells the machines that their batches are stored, the first message at
// sequence first and the others right behind it.
func (c *committer) committed(ctx context.Context, batches []pending, first uint64) {
	for _, p := range batches {
		c.rooms.of(p.shard).wrote(p.batch.Messages)
		p.machine.Committed(first)
		p.cursor.Store(first)
		first += uint64(len(p.batch.Messages))
		now := time.Now()
		c.metrics.observe(p.batch, now)
		if c.tracer != nil {
			traceFires(ctx, c.tracer, p.batch, c.cfg.Node, now)
		}
	}
}

// resolve reads the cursors of batches whose outcome is not known. Those that are
// stored are told so; it returns those that are not, to be sent again, and those
// whose shard somebody else has. On an error the rest is as it was.
func (c *committer) resolve(ctx context.Context, batches []pending) (again, lost []pending, err error) {
	for i, p := range batches {
		cursor, seq, err := c.readCursor(ctx, p.shard)
		switch {
		case err != nil:
			return append(again, batches[i:]...), lost, err
		case seq != 0 && cursor.Commit == p.batch.Commit && cursor.Node == c.cfg.Node:
			c.committed(ctx, []pending{p}, seq)
		case seq == p.machine.CursorSeq():
			again = append(again, p)
		default:
			lost = append(lost, p)
		}
	}
	return again, lost, nil
}

// splitExpired splits batches by whether the lease of their shard has expired.
func splitExpired(batches []pending) (owned, expired []pending) {
	now := time.Now()
	for _, p := range batches {
		if p.valid(now) {
			owned = append(owned, p)
		} else {
			expired = append(expired, p)
		}
	}
	return owned, expired
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

// logFailure logs the first failure of a commit, then those whose number is a power of two.
func (c *committer) logFailure(attempt int, batches []pending, err error) {
	if attempt&(attempt-1) == 0 && len(batches) > 0 {
		c.log.Warn("batch not stored yet", "shard", batches[0].shard, "shards", len(batches), "attempt", attempt, "error", err)
	}
}
