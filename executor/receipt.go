package executor

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
)

// receipt is how a message with triggers is answered: one, or a pack of them. The loop owns it.
type receipt struct {
	reply  string    // a redelivery replaces it
	left   int       // attempts without an end that is stored
	void   bool      // it is not acknowledged any more: servers find out what became of its attempts
	signed time.Time // when the bus last heard that its attempts live
}

// end notes that the end of an attempt is stored, and reports whether that was the last.
func (r *receipt) end() bool {
	r.left--
	return r.left == 0 && !r.void
}

// cancel makes the receipt void, and reports whether it was not before.
func (r *receipt) cancel() bool {
	was := r.void
	r.void = true
	return !was
}

// redeliver has an attempt acknowledged by the message with which its trigger came again. If it came in a
// pack, servers have taken that apart.
func (a *attempt) redeliver(reply string) {
	a.receipt.void = true
	a.receipt = &receipt{reply: reply, left: 1}
	a.ack.Store(&reply)
}

// longRun is how long a run takes beside which an executor asks for no packs, and for how long it does not:
// those that a pack brings would wait for it.
const (
	longRun    = time.Second
	noPacksFor = time.Minute
)

// pack returns how many triggers of a pack the executor can begin at once: a part of its slots, so that a pack
// finds some that are free. 0: it asks for none.
func (l *loop) pack(now time.Time) int {
	if size := l.packSize(); size > 1 && (l.attempts.lastLong.IsZero() || now.Sub(l.attempts.lastLong) >= noPacksFor) {
		return size
	}
	return 0
}

// packSize is [loop.pack] while runs are short, or 1.
func (l *loop) packSize() int {
	if len(l.attempts.bounds) > 0 { // some slots are for some handlers
		return 1
	}
	return max(min(bus.MaxTriggers, l.attempts.slots/8), 1)
}

// orders is how many messages with triggers may be pulled: each may be a pack.
func (l *loop) orders() int {
	room := l.room()
	if room <= 0 {
		return room
	}
	return max(room/l.packSize(), 1)
}

// receivePack begins the runs of a pack, if it may begin all of them. Else a server takes the pack apart.
func (l *loop) receivePack(life context.Context, m *nats.Msg) {
	meta, err := m.Metadata()
	packed, invalid := bus.Unpack(m.Data)
	switch {
	case !l.intake.open():
		l.e.out.giveBack(m.Reply, bus.GiveBackAfter(1))
		return
	case err != nil, invalid != nil, meta.NumDelivered > 1:
		l.handOvers.request(life, m)
		return
	}
	all := make([]delivery, len(packed))
	for i, p := range packed {
		t, err := bus.DecodeTriggerFor(l.e.cfg.Group, nil, p.Data)
		if err != nil || !l.mayBegin(t) {
			l.handOvers.request(life, m)
			return
		}
		all[i] = delivery{trigger: t, token: p.Token, delivered: 1, fence: fenceOf(meta) + uint64(i)}
	}
	r := &receipt{reply: m.Reply, left: len(all), signed: time.Now()}
	for _, d := range all {
		l.add(life, d, r)
	}
}

// mayBegin reports whether an attempt that nobody has may begin here: this instance knows nothing of it, and can do it.
func (l *loop) mayBegin(t *bus.Trigger) bool {
	key := keyOf(t)
	_, unable := l.e.registry.handlerFor(&t.Task)
	return unable == nil && l.attempts.live[key] == nil && !l.attempts.reported.Has(key) && !l.attempts.isFull(t.Task.Handler)
}
