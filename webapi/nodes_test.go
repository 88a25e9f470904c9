package webapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon/bus"
)

func TestNodesAreListedWithTheirShards(t *testing.T) {
	w := newWorld(t)
	for key, node := range map[string]string{"node.n1": "n1", "node.n2": "n2", "shard.0": "n1", "shard.3": "n1", "shard.1": "gone"} {
		_, err := w.conn.AcquireLease(t.Context(), key, node, map[string]string{"version": "1"})
		w.check(err)
	}
	got, _ := want[NodeList](w, http.StatusOK, "GET", "/api/v1/nodes", nil)
	for i := range got.Items {
		if node := &got.Items[i]; node.Node != "gone" && string(node.Info) != `{"version":"1"}` {
			t.Errorf("info %s", node.Info)
		}
		got.Items[i].Info = nil
	}
	expected := NodeList{
		Items:  []Node{{Node: "gone", Shards: []int{1}}, {Node: "n1", Shards: []int{0, 3}}, {Node: "n2", Shards: []int{}}},
		Shards: shards, Unowned: []int{2},
	}
	if d := cmp.Diff(expected, got); d != "" {
		t.Error(d)
	}
}

func TestGroupsAreListedWithAndWithoutInstances(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	w.put("orders/x", "@daily")
	w.put("mail/x", "@daily")
	w.heartbeat("billing", "b2", bus.InstanceDraining)
	w.heartbeat("billing", "b1", bus.InstanceOnline)
	w.heartbeat("mail", "m1", bus.InstanceDraining)
	w.heartbeat("new", "n1", bus.InstanceOnline)
	w.heartbeat("orders", "o1", bus.InstanceLost)
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
