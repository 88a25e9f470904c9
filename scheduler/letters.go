package scheduler

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/internal/pause"
)

// maxLetters is how many letters of a shard are stored in another partition in one batch.
const maxLetters = 100

// letterBatch is letters to children in another partition, oldest first.
type letterBatch struct {
	partition int
	shards    []int // of the children
	messages  []*nats.Msg
}

// sendLetters sends the oldest letters to each other partition, and the next ones once those are stored
// there.
func (sh *laneShard) sendLetters() {
	left := sh.machine.Relay.Len()
	sh.s.metrics.letters.Add(float64(left - sh.letters))
	if sh.letters = left; left == 0 {
		return
	}
	for p := range sh.s.conn.Cluster().Partitions.Count() {
		letters := sh.machine.Relay.Next(p, maxLetters)
		if sh.relays[p].busy || len(letters) == 0 {
			continue
		}
		r := letterBatch{partition: p}
		for _, letter := range letters {
			m, err := sh.machine.Relay.Item(letter).Msg(letter.Shard)
			if err != nil {
				panic("BUG: " + err.Error())
			}
			r.shards, r.messages = append(r.shards, letter.Shard), append(r.messages, m)
		}
		sh.relays[p].submit(sh, r)
	}
}

// storeLetters stores letters in their partition, or the first of them, and removes those from the
// machine. It retries until ctx is done. A letter may be stored twice: the child's owner ignores the
// second one.
func (o *ownership) storeLetters(ctx context.Context, r letterBatch) (done func(*laneShard)) {
	wait := pause.Backoff{Least: 100 * time.Millisecond, Most: 2 * time.Second, Jitter: true}
	n := len(r.messages)
	for attempt := 1; ; attempt++ {
		_, err := o.s.conn.PublishBatch(ctx, r.messages[:n])
		if err == nil {
			break
		}
		if attempt&(attempt-1) == 0 && ctx.Err() == nil {
			o.s.log.WarnContext(ctx, "letters to children in another partition not stored yet", "shard", o.shard, "partition", r.partition, "attempt", attempt, "error", err)
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
		sh.sendLetters()
	}
}

// nudge asks a shard's owner to read new deferred items.
func (o *ownership) nudge(ctx context.Context, shard int) {
	if err := o.s.conn.NC.Publish(bus.SubjectCommand(shard, bus.VerbNudge), nil); err != nil {
		o.s.log.DebugContext(ctx, "shard not nudged", "shard", shard, "error", err)
	}
}
