package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/job/fleet"
)

func TestDurabilityIsThatOfTheStreamWithTheLeast(t *testing.T) {
	stream := func(replicas int, peers ...*jetstream.PeerInfo) fleet.StreamState {
		return streamState(&jetstream.StreamInfo{
			Config:  jetstream.StreamConfig{Name: "X", Replicas: replicas},
			Cluster: &jetstream.ClusterInfo{Leader: "n1", Replicas: peers},
		})
	}
	whole, late, gone := &jetstream.PeerInfo{Name: "n2", Current: true}, &jetstream.PeerInfo{Name: "n3", Lag: 7}, &jetstream.PeerInfo{Name: "n4", Current: true, Offline: true}
	for _, c := range []struct {
		streams  []fleet.StreamState
		want     fleet.Durability
		replicas int
	}{
		{nil, fleet.OneCopy, 0},
		{[]fleet.StreamState{stream(1)}, fleet.OneCopy, 1},
		{[]fleet.StreamState{stream(3, whole, whole)}, fleet.Replicated, 3},
		{[]fleet.StreamState{stream(3, whole, whole), stream(1)}, fleet.OneCopy, 1},
		{[]fleet.StreamState{stream(3, whole, late), stream(3, whole, whole)}, fleet.Degraded, 3},
		{[]fleet.StreamState{stream(5, whole, gone)}, fleet.Degraded, 5},
	} {
		if got, replicas := durability(c.streams); got != c.want || replicas != c.replicas {
			t.Errorf("%+v: %s with %d, want %s with %d", c.streams, got, replicas, c.want, c.replicas)
		}
	}
	if d := cmp.Diff([]string{"n3", "n4"}, stream(5, whole, late, gone).Behind); d != "" {
		t.Error(d)
	}
}
