package dispatch

import (
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
)

const (
	// nakWindow is in which time give-backs are counted. Executors that keep to the protocol
	// give a trigger back for a second at least, so less than maxNaks times in it.
	nakWindow = 10 * time.Second
	// maxNaks is how often one trigger that executors pull may be given back in nakWindow, and
	// how many of the triggers that were handed to it an instance may give back.
	maxNaks = 20
	// suspendedFor is how long an instance is suspended. It doubles up to maxSuspended while
	// that happens again and again.
	suspendedFor = time.Minute
	maxSuspended = 30 * time.Minute
	// maxTallies bounds what is remembered of triggers.
	maxTallies = 16384
)

// naks is what JetStream tells of the triggers of a group that were given back, and by whom.
// It is safe for concurrent use.
type naks struct {
	mu        sync.Mutex
	triggers  map[bus.Position]*tally
	instances map[string]*tally  // that were handed triggers
	holders   map[handing]string // which instance was handed what
	terms     map[string]*term   // by instance; "" is for all executors that pull
}

// handing is a delivery of a trigger.
type handing struct {
	at       bus.Position
	delivery int
}

// tally counts give-backs.
type tally struct {
	n     int
	since time.Time // of the first in the present window
	// Of a trigger, the last of its deliveries that were all given back, from the first on.
	chain int
	// The last delivery of a trigger that was given back, and which of those before it were: bit i
	// is for delivery last-i.
	last  int
	given uint64
}

// term is a suspension of an instance, or the last one.
type term struct {
	since, until time.Time
	lasts        time.Duration
}

// handed remembers which instance was handed a delivery of a trigger.
func (n *naks) handed(at bus.Position, delivery int, instance string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.holders == nil || len(n.holders) >= maxTallies {
		n.holders = map[handing]string{}
	}
	n.holders[handing{at, delivery}] = instance
}

// note takes in that a delivery of a trigger was given back. It reports whether the
// executors that pull give triggers back too often, or whether the instance that was handed
// this one is now a suspect.
func (n *naks) note(at bus.Position, delivery int, pulled bool, now time.Time) (often, suspect bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.triggers == nil || len(n.triggers) >= maxTallies {
		n.triggers = map[bus.Position]*tally{}
	}
	t := n.triggers[at]
	if t == nil {
		t = &tally{}
		n.triggers[at] = t
	}
	t.giveBack(delivery)
	holder, handed := n.holders[handing{at, delivery}]
	delete(n.holders, handing{at, delivery})
	switch {
	case handed:
		if n.instances == nil {
			n.instances = map[string]*tally{}
		}
		if n.instances[holder] == nil {
			n.instances[holder] = &tally{}
		}
		return false, n.instances[holder].add(now) == maxNaks+1
	case pulled:
		return t.add(now) > maxNaks, false
	}
	return false, false
}

// add counts one, and returns how many there were in the window.
func (t *tally) add(now time.Time) int {
	if now.Sub(t.since) > nakWindow {
		t.n, t.since = 0, now
	}
	t.n++
	return t.n
}

// giveBack notes that a delivery of the trigger was given back.
func (t *tally) giveBack(delivery int) {
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

// holder returns which instance was handed a delivery of a trigger by this node and has not given it
// back; "" if none is known.
func (n *naks) holder(at bus.Position, delivery int) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.holders[handing{at, delivery}]
}

// suspects returns the instances that have given back too much of what they were handed, and
// starts to count again from 0.
func (n *naks) suspects() (names []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, t := range n.instances {
		if t.n > maxNaks {
			names = append(names, name)
			delete(n.instances, name)
		}
	}
	return names
}

// suspend suspends an instance, for longer than last time if that was not long ago. It
// returns false if it is suspended.
func (n *naks) suspend(instance string, now time.Time) (t term, begun bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	was := n.terms[instance]
	switch {
	case was == nil || now.Sub(was.until) > maxSuspended:
		t.lasts = suspendedFor
	case now.Before(was.until):
		return *was, false
	default:
		t.lasts = min(2*was.lasts, maxSuspended)
	}
	t.since, t.until = now, now.Add(t.lasts)
	n.putLocked(instance, t)
	return t, true
}

// heard takes in that another node has suspended an instance.
func (n *naks) heard(instance string, t term) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if was := n.terms[instance]; was == nil || was.until.Before(t.until) {
		n.putLocked(instance, t)
	}
}

func (n *naks) putLocked(instance string, t term) {
	if n.terms == nil {
		n.terms = map[string]*term{}
	}
	n.terms[instance] = &t
}

// suspended reports whether an instance is suspended, or a suspect until the next look
// decides.
func (n *naks) suspended(instance string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if t := n.instances[instance]; t != nil && t.n > maxNaks {
		return true
	}
	t := n.terms[instance]
	return t != nil && now.Before(t.until)
}

// standing returns the terms that stand, and forgets those that say nothing any more.
func (n *naks) standing(now time.Time) map[string]term {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := map[string]term{}
	for instance, t := range n.terms {
		switch {
		case now.Before(t.until):
			all[instance] = *t
		case now.Sub(t.until) > maxSuspended:
			delete(n.terms, instance)
		}
	}
	return all
}
