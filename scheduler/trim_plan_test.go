package scheduler

import (
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/journal"
)

func TestWhatEveryReaderHasReadIsTrimmed(t *testing.T) {
	now := time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)
	with := func(change func(*trimmer)) *trimmer {
		tr := &trimmer{keep: trimKeep, created: now, ingest: 900, alerted: 800, shards: []uint64{700, 950, 1000}}
		tr.addEnd(now, now, 600)
		tr.addEnd(now, now.Add(trimKeep), 1000)
		change(tr)
		return tr
	}
	for _, c := range []struct {
		what    string
		t       *trimmer
		first   uint64
		crowded bool
		want    []purge
	}{
		{"an hour stays", with(func(*trimmer) {}), 1, false, []purge{{"", 600}}},
		{"less than an hour is known", with(func(t *trimmer) { t.ends = t.ends[1:] }), 1, false, nil},
		{"the alerter is behind", with(func(t *trimmer) { t.alerted = 10 }), 1, false, []purge{{"", 10}}},
		{"crowded, neither counts", with(func(t *trimmer) { t.alerted = 10 }), 1, true, []purge{{"", 700}}},
		{"crowded, the log store counts", with(func(t *trimmer) { t.ingest = 5 }), 1, true, []purge{{"", 5}}},
		{"the log store has nothing", with(func(t *trimmer) { t.ingest = 0 }), 1, true, nil},
		{"crowded, a shard that stands still has its own events only", with(func(*trimmer) {}), 701, true, []purge{{"evt.p0.*", 900}, {"evt.1.*", 900}, {"evt.2.*", 900}}},
		{"there is room, so it has all", with(func(*trimmer) {}), 701, false, nil},
		{"EVT was made anew", with(func(t *trimmer) {
			t.addEnd(now.Add(time.Second), now.Add(2*trimKeep), 3)
			t.ingest, t.alerted, t.shards = 3, 3, []uint64{3}
		}), 1, false, nil},
	} {
		if got := c.t.plan(c.first, c.crowded); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

// A NATS server that was cut off may not have it, and say that it leads all the same.
func TestAShardWhoseCursorIsNotFoundNeedsAllEvents(t *testing.T) {
	bustest.Run(t, time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC), func(t *testing.T) {
		broker := bustest.NewBroker(t)
		s := &housekeeper{Scheduler: &Scheduler{node: &node{conn: clustertest.Setup(t, broker, "node", 2)}}}
		tr := &trimmer{of: s.conn.Cluster().Partitions, created: time.Now().UTC()}
		f := func(want ...uint64) {
			t.Helper()
			if err := s.readers(t.Context(), tr); err != nil || !slices.Equal(tr.shards, want) {
				t.Errorf("the shards need no events up to %v, %v; want %v", tr.shards, err, want)
			}
		}
		f(0, 0)
		for shard, seq := range []uint64{700, 800} {
			m, err := (&journal.Cursor{Shard: shard, Done: time.Now(), EventSeq: seq, EventsMade: tr.created}).Msg()
			if err == nil {
				_, err = s.conn.JS.PublishMsg(t.Context(), m)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		f(700, 800)
		broker.Depose("node")
		f(0, 0)
	})
}
