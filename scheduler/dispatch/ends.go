package dispatch

import (
	"context"
	"slices"
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

// endsOf returns which attempts' ends are stored, and notes who began each last. Attempts of a partition
// share what is read.
func (g *group) endsOf(ctx context.Context, all []*redelivery) []end {
	byPartition := map[int][]int{}
	for i, s := range all {
		p := g.d.conn.Cluster().Partitions.Of(s.t.Shard)
		byPartition[p] = append(byPartition[p], i)
	}
	ends := make([]end, len(all))
	for partition, mine := range byPartition {
		since := all[mine[0]].t.CommittedAt
		var shards []int
		for _, i := range mine {
			if at := all[i].t.CommittedAt; at.Before(since) {
				since = at
			}
			if shard := all[i].t.Shard; !slices.Contains(shards, shard) {
				shards = append(shards, shard)
			}
		}
		found, err := g.d.conn.Whereabouts().Ends(ctx, shards, g.name, since.Add(-clockSlack))
		if err != nil {
			g.d.log.DebugContext(ctx, "ends of attempts not read", "executor_group", g.name, "partition", partition, "error", err)
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
