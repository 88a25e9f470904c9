package dispatch

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
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

// searchFor is how long packs of ends are searched in a round. A busy group may have gigabytes of them, so
// a search goes on in the next round.
const searchFor = time.Second

// endsOf returns which attempts' ends are stored, and notes who began each last. The attempts are of a
// round of c.
func (g *group) endsOf(ctx context.Context, c *judge, all []*redelivery) []end {
	ends := make([]end, len(all))
	if len(all) == 0 {
		return ends
	}
	triggers := make([]*bus.Trigger, len(all))
	for i, s := range all {
		triggers[i] = s.t
	}
	found, err := g.d.conn.Whereabouts().Ends(ctx, triggers, committed(all).Add(-clockSlack))
	if err == nil {
		err = g.searchPacks(ctx, c.inPacks(all), found.Known)
	}
	if err != nil {
		g.d.log.DebugContext(ctx, "ends of attempts not read", "executor_group", g.name, "error", err)
	}
	for i, s := range all {
		s.begun = found.Begun[s.t.Ref()]
		switch {
		case found.Ended[s.t.Ref()] || s.packed:
			ends[i] = endFound
		case err != nil:
		case s.t.Report != "" && s.packsFrom <= found.Known:
			s.searching = true
		default:
			ends[i] = endNone
		}
	}
	return ends
}

// committed returns when the first of attempts was committed.
func committed(all []*redelivery) time.Time {
	return slices.MinFunc(all, func(a, b *redelivery) int { return a.t.CommittedAt.Compare(b.t.CommittedAt) }).t.CommittedAt
}

// inPacks returns those of the attempts of a round whose ends may be in packs, and of those that wait for
// the next round: what is read for one is read for all.
func (c *judge) inPacks(all []*redelivery) []*redelivery {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Concat(all, c.waiting), func(s *redelivery) bool { return s.t.Report == "" || s.packed })
}

// searchPacks goes on to search for the ends of attempts in packs, up to a sequence, for a moment at most.
// It begins where the attempt is that came first, so that those that come later hold up nobody. What is
// behind it follows.
func (g *group) searchPacks(ctx context.Context, all []*redelivery, known uint64) error {
	if len(all) == 0 {
		return nil
	}
	w, packs := g.d.conn.Whereabouts(), cluster.Packs{Partition: g.d.conn.Cluster().Partitions.Of(all[0].t.Shard), Group: g.name, Known: known}
	var begin []*redelivery
	sought := map[bus.AttemptRef]bool{}
	for _, s := range all {
		if sought[s.t.Ref()] = true; s.packsFrom == 0 {
			begin = append(begin, s)
		}
	}
	if len(begin) > 0 {
		first, err := w.FirstPack(ctx, packs, committed(begin).Add(-clockSlack))
		if err != nil {
			return err
		}
		for _, s := range begin {
			s.packsFrom = first
		}
	}
	from := slices.MinFunc(all, func(a, b *redelivery) int {
		return cmp.Or(a.came.Compare(b.came), cmp.Compare(a.packsFrom, b.packsFrom))
	}).packsFrom
	found := map[bus.AttemptRef]bool{}
	next, err := w.SearchPacks(ctx, packs, from, time.Now().Add(g.d.searchFor), sought, func(ref bus.AttemptRef) { found[ref] = true })
	for _, s := range all {
		if s.packed = found[s.t.Ref()]; s.packsFrom >= from {
			s.packsFrom = max(s.packsFrom, next)
		}
	}
	return err
}
