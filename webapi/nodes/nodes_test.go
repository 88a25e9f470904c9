package nodes

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

func TestMovesOfShardsAreToldFromTheNewestOn(t *testing.T) {
	noon := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	lease := func(node string, minute int) jet.Lease {
		return jet.Lease{Node: node, Since: noon.Add(time.Duration(minute) * time.Minute)}
	}
	list := nodesOf(map[string]jet.Lease{"shard.0": lease("a", 2), "shard.1": lease("b", 3), "shard.2": {Node: "old"}, "shard.3": lease("a", 2)}, 4)
	expected := []api.ShardMove{{Shard: 1, Node: "b", At: noon.Add(3 * time.Minute)}, {Shard: 0, Node: "a", At: noon.Add(2 * time.Minute)}, {Shard: 3, Node: "a", At: noon.Add(2 * time.Minute)}}
	if d := cmp.Diff(expected, list.Moves); d != "" {
		t.Error(d)
	}
}
