package nodes

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/webapi/access"
)

func TestMovesOfShardsAreToldFromTheNewestOn(t *testing.T) {
	noon := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	lease := func(node string, minute int) jet.LeaseRecord {
		return jet.LeaseRecord{Node: node, Since: noon.Add(time.Duration(minute) * time.Minute)}
	}
	list := nodesOf(map[string]jet.LeaseRecord{"shard.0": lease("a", 2), "shard.1": lease("b", 3), "shard.3": lease("a", 2)}, 4)
	expected := []api.ShardMove{{Shard: 1, Node: "b", At: noon.Add(3 * time.Minute)}, {Shard: 0, Node: "a", At: noon.Add(2 * time.Minute)}, {Shard: 3, Node: "a", At: noon.Add(2 * time.Minute)}}
	if d := cmp.Diff(expected, list.Moves); d != "" {
		t.Error(d)
	}
}

func TestGroupsAreListedWhileAPartitionIsSilent(t *testing.T) {
	bustest.Run(t, time.Date(2026, time.January, 5, 2, 0, 0, 0, time.UTC), func(t *testing.T) {
		broker := bustest.NewBroker(t)
		conn := clustertest.SetupAs(t, broker, "api", cluster.Assets{Shards: 3, Partitions: 3})
		for _, group := range []string{"billing", "mail", "ops"} {
			if err := errors.Join(conn.Groups().Govern(t.Context(), group), conn.Groups().Setup(t.Context(), cluster.Group{Group: group, Dispatched: true})); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.JS.Publish(t.Context(), bus.SubjectTrigger(2, group), nil); err != nil {
				t.Fatal(err)
			}
		}
		broker.Silence("TRIG1")
		asked := time.Now()
		ctx := access.With(t.Context(), &access.Caller{Who: auth.Local("ann")})
		groups, err := New(conn, slog.New(slog.DiscardHandler)).Groups(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			if g.Waiting != 1 {
				t.Errorf("%d runs of %s wait, want the one of a partition that answers", g.Waiting, g.ExecutorGroup)
			}
		}
		if took := time.Since(asked); len(groups) != 3 || took > CompletionTimeout {
			t.Errorf("%d groups, after %s", len(groups), took)
		}
	})
}
