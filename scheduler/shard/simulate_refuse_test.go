package shard

import (
	"github.com/carillon-scheduler/carillon/bus"
)

// limits is what NATS takes, and how the nodes go by that.
type limits struct {
	most   int   // messages in a batch; 0: as many as there may be
	learnt int   // what the nodes go by; 0: they have not been refused one yet
	parked int64 // until then the shard is left alone
}

// parkFor is how long a shard is left alone for which NATS refuses what it is to store.
const parkFor = 20_000

// leastRoom is how many messages a batch may have at least, whatever NATS has refused.
const leastRoom = 32

func (l *limits) room() int {
	if l.learnt == 0 {
		return bus.MaxBatch
	}
	return max(l.learnt/2, leastRoom)
}

// limitNATS has NATS take fewer messages in a batch, or as many as before.
func (w *world) limitNATS() {
	if w.nats.most != 0 || w.chance(70) {
		w.nats = limits{}
		return
	}
	w.nats.most = 2 + w.rng.IntN(100)
	w.say("NATS takes %d messages in a batch", w.nats.most)
}

// refuse simulates that NATS refuses an owner's batch for good, if it is one that NATS does not take:
// too many messages, which the next batches have fewer of, or any other reason, for which the shard is
// parked until a person has removed that.
func (w *world) refuse(o *owner, b *Batch) bool {
	switch n := len(b.Messages); {
	case w.nats.most != 0 && n > w.nats.most:
		if w.nats.learnt == 0 || n < w.nats.learnt {
			w.nats.learnt = n
		}
		if n <= w.nats.room() {
			w.park(o, "a batch has too many messages")
			return true
		}
		w.lose(o)
	case w.chance(1):
		w.park(o, "a batch is refused for good")
	default:
		return false
	}
	return true
}

// stuck parks the shard of an owner whose next step has no room in any batch that NATS takes.
func (w *world) stuck(o *owner, now int64, room int) {
	if at, waits := o.m.NextAt(now); waits && at <= now && room == w.nats.room() && room < bus.MaxBatch {
		w.park(o, "the next step has no room")
	}
}

func (w *world) park(o *owner, why string) {
	w.say("the shard is parked: %s", why)
	w.nats.parked = w.clock + parkFor
	w.lose(o)
}
