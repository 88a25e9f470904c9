package scheduler

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/internal/pause"
)

// mostRelayed is how many words of a shard are sent to another partition in one batch.
const mostRelayed = 100

// relayed is word for children in another partition, in the order in which it was left.
type relayed struct {
	partition int
	shards    []int // of the children
	messages  []*nats.Msg
}

// relayWords sends out the words that the machine has for other partitions: for each of them the
// oldest ones, and no further ones until those are stored there. Only the lane calls it.
func (sh *laneShard) relayWords() {
	left := sh.machine.Relay.Len()
	sh.s.metrics.words.Add(float64(left - sh.words))
	if sh.words = left; left == 0 {
		return
	}
	for p := range sh.s.conn.Cluster().Partitions.Count() {
		words := sh.machine.Relay.Next(p, mostRelayed)
		if sh.relays[p].busy || len(words) == 0 {
			continue
		}
		r := relayed{partition: p}
		for _, w := range words {
			m, err := sh.machine.Relay.Item(w).Msg(w.Shard)
			if err != nil {
				panic("BUG: " + err.Error())
			}
			r.shards, r.messages = append(r.shards, w.Shard), append(r.messages, m)
		}
		sh.relays[p].submit(sh, r)
	}
}

// relay stores words in their partition, or the first ones of them, and tells the machine. It
// tries for as long as it takes. What may be stored is sent again: the child's owner passes over it.
func (o *ownership) relay(ctx context.Context, r relayed) (done func(*laneShard)) {
	wait := pause.Backoff{Least: 100 * time.Millisecond, Most: 2 * time.Second, Jitter: true}
	n := len(r.messages)
	for attempt := 1; ; attempt++ {
		_, err := o.s.conn.PublishBatch(ctx, r.messages[:n])
		if err == nil {
			break
		}
		if attempt&(attempt-1) == 0 && ctx.Err() == nil {
			o.s.log.WarnContext(ctx, "word for children in another partition not stored yet", "shard", o.shard, "partition", r.partition, "attempt", attempt, "error", err)
		}
		if wait.Wait(ctx) != nil {
			return nil
		}
		n = max(1, n/2) // there may be too many, too large, or too little time for them
	}
	nudged := map[int]bool{}
	for _, shard := range r.shards[:n] {
		if !nudged[shard] {
			o.nudge(ctx, shard)
			nudged[shard] = true
		}
	}
	return func(sh *laneShard) {
		sh.machine.Relay.Sent(r.partition, n)
		sh.relayWords()
	}
}

// nudge tells a shard's owner that there is a deferred item for it.
func (o *ownership) nudge(ctx context.Context, shard int) {
	if err := o.s.conn.NC.Publish(bus.SubjectCommand(shard, bus.VerbNudge), nil); err != nil {
		o.s.log.DebugContext(ctx, "shard not nudged", "shard", shard, "error", err)
	}
}
