package dispatch

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

// end says whether the end of an attempt is stored.
type end int

const (
	endUnknown end = iota // it could not be found out
	endNone
	endFound
)

// clockSlack is how far clocks of nodes and of NATS may be apart when it is looked for
// what was stored since an instant.
const clockSlack = time.Minute

// endsOf finds out which attempts' ends are stored, and who began them last. Attempts of a shard
// are looked for together.
func (g *group) endsOf(ctx context.Context, all []*suspect) []end {
	byShard := map[int][]int{}
	for i, s := range all {
		byShard[s.t.Shard] = append(byShard[s.t.Shard], i)
	}
	ends := make([]end, len(all))
	for shard, mine := range byShard {
		since := all[mine[0]].t.CommittedAt
		for _, i := range mine {
			if at := all[i].t.CommittedAt; at.Before(since) {
				since = at
			}
		}
		ended, begun, err := g.ended(ctx, shard, since.Add(-clockSlack))
		if err != nil {
			g.d.log.DebugContext(ctx, "ends of attempts not read", "executor_group", g.name, "shard", shard, "error", err)
			continue
		}
		for _, i := range mine {
			all[i].begun = begun[all[i].t.Ref()]
			if ends[i] = endNone; ended[all[i].t.Ref()] {
				ends[i] = endFound
			}
		}
	}
	return ends
}

// begin is that an instance has reported the start of an attempt, and of which of its deliveries.
type begin struct {
	instance string
	delivery int
}

// ended returns the attempts of a shard whose ends were stored since an instant, up to now, and the last
// begin of each attempt. A barrier says how far who answers must have come: a NATS server that was cut off
// may lack an end, and take itself for the leader.
func (g *group) ended(ctx context.Context, shard int, since time.Time) (ended map[bus.AttemptRef]bool, begun map[bus.AttemptRef]begin, err error) {
	known, err := g.d.conn.Events().PutBarrier(ctx, shard)
	if err != nil {
		return nil, nil, err
	}
	ended, begun = map[bus.AttemptRef]bool{}, map[bus.AttemptRef]begin{}
	err = g.d.conn.Read(ctx, jet.Reading{Stream: g.d.conn.EvtOf(shard), Filter: bus.SubjectEvent(shard, g.name), Since: since, Known: known}, func(m *jet.Stored) bool {
		// What is refused here is refused by all who read it: it ends nothing.
		e, err := g.d.conn.Events().Decode(m.Subject, m.Header, m.Data, m.At)
		switch {
		case err != nil:
		case e.Kind == bus.EventFinished:
			ended[e.Ref()] = true
		case e.Kind == bus.EventStarted:
			begun[e.Ref()] = begin{e.Instance, e.Delivery}
		}
		return true
	})
	return ended, begun, err
}
