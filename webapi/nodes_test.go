package webapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// lease gives a node a lease that does not end, as one does soon that nobody renews.
func (w *world) lease(key, node, info string) {
	w.Helper()
	kv, err := w.conn.JS.KeyValue(w.Context(), bus.BucketLease)
	w.check(err)
	value, err := json.Marshal(jet.LeaseRecord{Node: node, Since: time.Now().UTC().Truncate(time.Millisecond), Info: json.RawMessage(info), Token: node})
	w.check(err)
	_, err = kv.Create(w.Context(), key, value)
	w.check(err)
}

func TestNodesAreListedWithTheirShards(t *testing.T) {
	w := newWorld(t)
	for key, node := range map[string]string{"node.n1": "n1", "node.n2": "n2", "shard.0": "n1", "shard.3": "n1", "shard.1": "gone", "role.ingest": "n2"} {
		w.lease(key, node, `{"version":"1"}`)
	}
	w.check(w.conn.Nodes().PutParked(t.Context(), "n1", []cluster.ParkedShard{{Shard: 3, Reason: "version 2 of job g/a has format 9, which this server cannot read: upgrade this server"}}))
	got, _ := want[NodeList](w, http.StatusOK, "GET", "/api/v1/nodes", nil)
	health, _ := want[Health](w, http.StatusOK, "GET", "/readyz", nil)
	if at := slices.IndexFunc(health.Checks, func(c Check) bool { return c.Name == "shards" }); at < 0 || !health.Checks[at].Ok || !strings.Contains(health.Checks[at].Detail, "shard 3 does not fire; carillon get nodes says why") {
		t.Errorf("%+v", health.Checks)
	}
	for i := range got.Items {
		if node := &got.Items[i]; node.Node != "gone" && string(node.Info) != `{"version":"1"}` {
			t.Errorf("info %s", node.Info)
		}
		got.Items[i].Info = nil
	}
	for i := range got.Moves { // all at about the same instant
		if age := time.Since(got.Moves[i].At); age < 0 || age > patience {
			t.Errorf("%+v", got.Moves[i])
		}
		got.Moves[i].At = time.Time{}
	}
	slices.SortFunc(got.Moves, func(a, b ShardMove) int { return a.Shard - b.Shard })
	for i := range got.Roles {
		got.Roles[i].Since = time.Time{}
	}
	expected := NodeList{
		Moves:  []ShardMove{{Shard: 0, Node: "n1"}, {Shard: 1, Node: "gone"}, {Shard: 3, Node: "n1"}},
		Roles:  []HeldRole{{Role: "ingest", Node: "n2"}},
		Items:  []Node{{Node: "gone", Shards: []int{1}}, {Node: "n1", Shards: []int{0, 3}}, {Node: "n2", Shards: []int{}}},
		Shards: shards, Unowned: []int{2},
		Parked: []ParkedShard{{Shard: 3, Reason: "version 2 of job g/a has format 9, which this server cannot read: upgrade this server"}},
	}
	if d := cmp.Diff(expected, got); d != "" {
		t.Error(d)
	}
}

func TestTheBusAndTheNodesAreToldWithoutOtherGroups(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	for _, group := range []string{"billing", "ops"} {
		g.check(g.conn.Groups().Setup(t.Context(), cluster.Group{Group: group, HasRouted: true}))
		g.lease("role.dispatch-"+group, "n1", "null")
	}
	bob := ann.person("bob", rights.Access{Role: rights.Viewer, Group: "billing"})
	const why = "version 2 of job ops/x has format 9, which this server cannot read: upgrade this server"
	g.check(g.conn.Nodes().PutParked(t.Context(), "n1", []cluster.ParkedShard{{Shard: 3, Reason: why}}))
	parked := func(b *browser, reason string) {
		t.Helper()
		nodes, _ := want[NodeList](g.world, http.StatusOK, "GET", "/api/v1/nodes", nil, b.headers()...)
		if len(nodes.Parked) != 1 || string(nodes.Parked[0].Reason) != reason {
			t.Errorf("the parked shards are %+v, want why: %s", nodes.Parked, reason)
		}
	}
	look := func(b *browser) (consumers, roles []string) {
		// On a busy machine, a stream may answer too late to be told of.
		for begun := time.Now(); len(consumers) == 0 && time.Since(begun) < patience; {
			state, _ := want[fleet.State](g.world, http.StatusOK, "GET", "/api/v1/bus", nil, b.headers()...)
			for _, c := range state.Consumers {
				if c.Stream == bus.StreamTrig {
					consumers = append(consumers, c.Consumer)
				}
			}
		}
		nodes, _ := want[NodeList](g.world, http.StatusOK, "GET", "/api/v1/nodes", nil, b.headers()...)
		for _, r := range nodes.Roles {
			if strings.HasPrefix(r.Role, "dispatch") {
				roles = append(roles, r.Role)
			}
		}
		return consumers, roles
	}
	consumers, roles := look(ann)
	if d := cmp.Diff([]string{"any-billing", "any-ops", "ledger", "route-billing", "route-ops"}, consumers); d != "" || len(roles) != 2 {
		t.Error(roles, d)
	}
	parked(ann, why)
	parked(bob, "who sees all groups may see why")
	consumers, roles = look(bob)
	if d := cmp.Diff([]string{"any-billing", "ledger", "route-billing"}, consumers); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"dispatch-billing"}, roles); d != "" {
		t.Error(d)
	}
}

func TestGroupsAreListedWithAndWithoutInstances(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	w.put("orders/x", "@daily")
	w.put("mail/x", "@daily")
	w.heartbeat("billing", "b2", fleet.InstanceDraining)
	w.heartbeat("billing", "b1", fleet.InstanceOnline)
	w.heartbeat("mail", "m1", fleet.InstanceDraining)
	w.heartbeat("new", "n1", fleet.InstanceOnline)
	w.heartbeat("orders", "o1", fleet.InstanceLost)
	got, _ := want[GroupList](w, http.StatusOK, "GET", "/api/v1/groups", nil)
	var told []string
	for _, g := range got.Items {
		words := []string{g.ExecutorGroup, string(g.State)}
		for _, i := range g.Instances {
			words = append(words, i.Instance)
		}
		told = append(told, strings.Join(words, " "))
	}
	if d := cmp.Diff([]string{"billing online b1 b2", "mail draining m1", "new online n1", "orders empty o1"}, told); d != "" {
		t.Error(d)
	}
}
