//go:build unix

package e2e

import (
	"context"
	"math/rand/v2"
	"time"
)

// harmLinks cuts one way at a time: between a process and a NATS server, between two NATS
// servers, or all ways of one process.
func (x *chaos) harmLinks(ctx context.Context, r *rand.Rand) {
	for pause(ctx, between(r, 500*time.Millisecond, 4*time.Second)) {
		l := x.c.links[r.IntN(len(x.c.links))]
		links, target := x.c.between(l.from, l.to), l.from
		if r.IntN(3) == 0 {
			links = x.c.linksOf(l.from)
		}
		state, kind := closed, "cut"
		if r.IntN(2) == 0 {
			state, kind = silent, "silence"
		}
		x.part(ctx, fault{kind: kind, target: target}, links, state, between(r, time.Second, 15*time.Second))
	}
}

// part cuts links, and heals them after the time.
func (x *chaos) part(ctx context.Context, f fault, links []*link, state cut, d time.Duration) {
	if x.c.isNATS(f.target) {
		x.routes.Lock()
		defer x.routes.Unlock()
	}
	f.at = time.Now()
	for _, l := range links {
		l.set(state)
	}
	pause(ctx, d)
	for _, l := range links {
		l.set(healed)
	}
	f.lasted = time.Since(f.at)
	x.note(f)
}
