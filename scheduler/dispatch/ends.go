package dispatch

import (
	"context"
	"time"
)

// end says whether the end of an attempt is stored.
type end int

const (
	endUnknown end = iota // it could not be found out
	endNone
	endFound
)

// clockSlack is how far the clocks of nodes and of NATS may be apart. Ends are read from that long
// before the attempt was committed.
const clockSlack = time.Minute

// endsOf returns which attempts' ends are stored, and notes who began each last. Attempts of a shard
// share one read.
func (g *group) endsOf(ctx context.Context, all []*redelivery) []end {
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
		found, err := g.d.conn.Whereabouts().Ends(ctx, shard, g.name, since.Add(-clockSlack))
		if err != nil {
			g.d.log.DebugContext(ctx, "ends of attempts not read", "executor_group", g.name, "shard", shard, "error", err)
			continue
		}
		for _, i := range mine {
			all[i].begun = found.Begun[all[i].t.Ref()]
			if ends[i] = endNone; found.Ended[all[i].t.Ref()] {
				ends[i] = endFound
			}
		}
	}
	return ends
}
