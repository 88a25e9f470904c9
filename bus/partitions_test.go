package bus_test

import (
	"slices"
	"testing"

	"github.com/carillon-scheduler/carillon/bus"
)

func TestShardsTakeTurnsToBelongToPartitions(t *testing.T) {
	for _, n := range []bus.Partitions{0, 1} {
		if n.Count() != 1 || n.Of(17) != 0 || n.TrigOf(17) != "TRIG" || n.EvtOf(17) != "EVT" || !slices.Equal(n.Trigs(), []string{"TRIG"}) || !slices.Equal(n.Evts(), []string{"EVT"}) {
			t.Errorf("%d partitions: %d, of shard 17 %s and %s, in all %v and %v", n, n.Count(), n.TrigOf(17), n.EvtOf(17), n.Trigs(), n.Evts())
		}
	}
	three := bus.Partitions(3)
	for shard, want := range []string{"TRIG", "TRIG1", "TRIG2", "TRIG"} {
		if got := three.TrigOf(shard); got != want {
			t.Errorf("the triggers of shard %d of three partitions are in %s, want %s", shard, got, want)
		}
	}
	if got, want := three.Evts(), []string{"EVT", "EVT1", "EVT2"}; !slices.Equal(got, want) {
		t.Errorf("three partitions have %v, want %v", got, want)
	}
}

func TestTheNameOfAStreamHasItsPartition(t *testing.T) {
	n := bus.Partitions(bus.MaxPartitions)
	for p := range n.Count() {
		if kind, got, ok := bus.ParseStream(n.Trig(p)); kind != bus.StreamTrig || got != p || !ok {
			t.Errorf("%s: %s %d %t", n.Trig(p), kind, got, ok)
		}
		if kind, got, ok := bus.ParseStream(n.Evt(p)); kind != bus.StreamEvt || got != p || !ok {
			t.Errorf("%s: %s %d %t", n.Evt(p), kind, got, ok)
		}
	}
	for _, name := range []string{"", "LOG", "TRIG0", "TRIG01", "TRIG+1", "TRIG-1", "TRIG16", "EVTS", "1", "TRIG.1", "KV_TRIG"} {
		if kind, p, ok := bus.ParseStream(name); ok {
			t.Errorf("%q is %s of partition %d", name, kind, p)
		}
	}
}
