package cluster_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

func TestAFloodOfInstancesIsReadInPartAndCounted(t *testing.T) {
	inCluster(t, func(w *world) {
		t, conn := w.t, w.conn
		beat := func(group, instance string) {
			t.Helper()
			h := bus.Heartbeat{ControlSecret: bus.NewControlSecret(), Instance: fleet.Instance{
				Group: group, Instance: instance, State: fleet.InstanceOnline, Slots: 1, Protocol: fleet.Protocol, At: time.Now(),
			}}
			data, err := json.Marshal(h)
			if err == nil {
				_, err = conn.JS.PublishAsync(bus.SubjectHeartbeat(group, instance), data)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		beat("beta", "b1")
		const more = 250
		for n := range fleet.MaxInstances + more {
			beat("alpha", fmt.Sprintf("a%04d", n))
		}
		for n := range 3 {
			if _, err := conn.JS.PublishAsync(bus.SubjectHeartbeat("alpha", fmt.Sprintf("x%d", n)), []byte("rubbish")); err != nil {
				t.Fatal(err)
			}
		}
		<-conn.JS.PublishAsyncComplete()
		all, err := conn.Instances().Fleet(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(all.Instances) != fleet.MaxInstances+1 || all.More["alpha"] != more || all.More["beta"] != 0 || all.Unreadable["alpha"] != 3 {
			t.Errorf("%d instances, %v more, %v unreadable", len(all.Instances), all.More, all.Unreadable)
		}
		if first, last := all.Instances[0], all.Instances[fleet.MaxInstances]; first.Instance != fmt.Sprintf("a%04d", more) || last.Key() != "beta.b1" {
			t.Errorf("the first is %s, the last %s; want the newest of alpha, and all of beta", first.Key(), last.Key())
		}
		kept, err := conn.Shares().Kept(t.Context(), []string{"alpha", "beta"})
		if err != nil || len(kept) != 2 || kept[0].Group != "alpha" || kept[0].Keys != fleet.MaxInstances+more+3 || !kept[0].Over() || kept[1].Over() {
			t.Fatalf("groups keep %+v, %v", kept, err)
		}
		if err := conn.Shares().RemoveSurplus(t.Context(), kept[0]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // an answer counts for as long
		all, err = conn.Instances().Fleet(t.Context())
		if err != nil || len(all.Instances) != fleet.MaxInstances/2-3+1 || all.More["alpha"] != 0 {
			t.Errorf("then there are %d instances and %v more, %v", len(all.Instances), all.More, err)
		}
	})
}

func TestAllWhoAskForTheInstancesOfGroupsShareOneRead(t *testing.T) {
	inCluster(t, func(w *world) {
		conn := w.connect("node")
		reads := func(ask func()) uint64 {
			before := conn.NC.Stats().OutMsgs
			ask()
			return conn.NC.Stats().OutMsgs - before
		}
		ask := func() {
			if _, err := conn.Instances().Fleet(w.t.Context()); err != nil {
				t.Error(err)
			}
		}
		one := reads(ask)
		if again := reads(ask); one == 0 || again != 0 {
			t.Errorf("%d requests for the first who asks, %d for the next", one, again)
		}
		time.Sleep(time.Second)
		many := reads(func() {
			var asking sync.WaitGroup
			for range 20 {
				asking.Go(ask)
			}
			asking.Wait()
		})
		// A read may send a message more than another, such as an answer to flow control.
		if many >= 2*one {
			t.Errorf("%d messages for twenty who ask at once, %d for one", many, one)
		}
	})
}
