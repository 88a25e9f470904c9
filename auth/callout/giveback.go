package callout

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
)

// Bounds of how a group may give triggers back. By the protocol a trigger comes again after
// [bus.GiveBackMin] at least.
const (
	// hastyWithin is how soon after the last time a trigger is given back without a delay.
	hastyWithin = bus.GiveBackMin / 2
	// hastyWindow is the time in which such give-backs are counted, and maxHasty how many a group may
	// have in it. JetStream delivers each at once, thousands of times a second.
	hastyWindow = 10 * time.Second
	maxHasty    = 1000
	// maxRemembered bounds the triggers of a group whose last give-back is remembered.
	maxRemembered = 16384
)

// giveBacks counts the triggers that groups give back without a delay. It is safe for concurrent use.
type giveBacks struct {
	mu     sync.Mutex
	groups map[string]*giver
}

// giver is what a group has given back.
type giver struct {
	last  map[bus.Position]time.Time // when each trigger was given back last
	hasty int                        // give-backs without a delay in the window
	since time.Time                  // when the window began
}

// note notes that a trigger of a group was given back. If that makes too many without a delay, it returns
// how many, and starts to count again from 0.
func (b *giveBacks) note(group string, at bus.Position, now time.Time) (tooMany int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.groups[group]
	if g == nil {
		g = &giver{last: map[bus.Position]time.Time{}, since: now}
		b.groups[group] = g
	}
	if len(g.last) >= maxRemembered {
		clear(g.last)
	}
	last, known := g.last[at]
	g.last[at] = now
	if now.Sub(g.since) > hastyWindow {
		g.hasty, g.since = 0, now
	}
	if known && now.Sub(last) < hastyWithin {
		g.hasty++
	}
	if g.hasty <= maxHasty {
		return 0
	}
	delete(b.groups, group)
	return maxHasty + 1
}

// forget drops groups that have given back nothing lately.
func (b *giveBacks) forget(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, g := range b.groups {
		if now.Sub(g.since) > 2*hastyWindow {
			delete(b.groups, name)
		}
	}
}

// hearGiveBack notes that a trigger was given back, and refuses its group if it gives back too many
// without a delay. NATS does not say by whom: the group's credentials share its consumers. The sweep
// closes their connections.
func (s *Service) hearGiveBack(ctx context.Context, m *nats.Msg) {
	group, at, _ := bus.ParseNakAdvisory(m.Subject, m.Data)
	if group == "" {
		return
	}
	now := time.Now()
	n := s.giveBacks.note(group, at, now)
	if n == 0 {
		return
	}
	r := cluster.Refusal{Group: group, GaveBack: n}
	over, until := s.budgets.found(r, now)
	if !over {
		return
	}
	r.Until = until
	s.log.WarnContext(ctx, "group refused, as it gives triggers back without a delay", "executor_group", group, "give_backs", n, "until", until)
	s.refuse(ctx, r)
}
