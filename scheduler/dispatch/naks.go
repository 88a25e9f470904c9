package dispatch

import (
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
)

// maxTallies bounds how many triggers are remembered.
const maxTallies = 16384

// naks remembers which triggers of a group were given back, as JetStream reports, and which instances
// got them from this node. It is safe for concurrent use.
type naks struct {
	mu       sync.Mutex
	triggers map[bus.Position]*tally
	holders  map[deliveryID]string // which instance got which delivery
}

// deliveryID identifies a delivery of a trigger.
type deliveryID struct {
	at       bus.Position
	delivery int
}

// tally is which deliveries of a trigger were given back.
type tally struct {
	chain int // the last delivery up to which all were, or were found to be with nobody
	// The last delivery that was, and which of those before it: bit i is for delivery last-i.
	last  int
	given uint64
}

// noteNak notes that a trigger was given back.
func (d *Dispatcher) noteNak(m *nats.Msg) {
	name, at, delivery := bus.ParseNakAdvisory(m.Subject, m.Data)
	if name == "" {
		return
	}
	d.mu.Lock()
	g := d.groups[name]
	if g == nil { // executors that pull need not say who they are, and one that leaves gives back first
		g = newGroup(d, name)
		g.as = d.known[name]
		d.groups[name] = g
	}
	d.mu.Unlock()
	g.naks.note(at, delivery)
}

// noteHolder remembers which instance got a delivery of a trigger.
func (n *naks) noteHolder(at bus.Position, delivery int, instance string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.holders == nil || len(n.holders) >= maxTallies {
		n.holders = map[deliveryID]string{}
	}
	n.holders[deliveryID{at, delivery}] = instance
}

// note remembers that a delivery of a trigger was given back.
func (n *naks) note(at bus.Position, delivery int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tallyLocked(at).note(delivery)
	delete(n.holders, deliveryID{at, delivery})
}

// noteFree remembers that nobody has the attempt of a trigger, whatever became of the deliveries before
// this one. If this one is given back, too, there is nothing to judge.
func (n *naks) noteFree(at bus.Position, delivery int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.tallyLocked(at)
	t.chain = max(t.chain, delivery-1)
}

func (n *naks) tallyLocked(at bus.Position) *tally {
	if n.triggers == nil || len(n.triggers) >= maxTallies {
		n.triggers = map[bus.Position]*tally{}
	}
	if n.triggers[at] == nil {
		n.triggers[at] = &tally{}
	}
	return n.triggers[at]
}

func (t *tally) note(delivery int) {
	if delivery == t.chain+1 {
		t.chain = delivery
	}
	if delivery > t.last {
		t.given <<= min(delivery-t.last, 64)
		t.last = delivery
	}
	t.given |= 1 << (t.last - delivery) // none if it is older than the last 64
}

// allGivenBack reports whether all deliveries of a trigger before this one were given back:
// then nobody has its attempt.
func (n *naks) allGivenBack(at bus.Position, delivery int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.triggers[at]
	return t != nil && t.chain >= delivery-1
}

// gaveBack reports whether a delivery of a trigger was given back, as far as that is remembered.
func (n *naks) gaveBack(at bus.Position, delivery int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.triggers[at]
	return t != nil && (delivery <= t.chain || delivery <= t.last && t.given>>(t.last-delivery)&1 == 1)
}

// any reports whether a trigger of the group was given back.
func (n *naks) any() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.triggers) > 0
}

// holder returns which instance got a delivery of a trigger from this node and has not given it
// back; "" if none is known.
func (n *naks) holder(at bus.Position, delivery int) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.holders[deliveryID{at, delivery}]
}
