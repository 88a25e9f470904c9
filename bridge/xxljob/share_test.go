package xxljob

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
)

var now = time.Date(2026, time.January, 5, 2, 0, 0, 0, time.UTC)

// shared returns what bridge me knows: that these bridges live, and serve all groups.
func shared(me string, ids ...string) *table {
	t := newTable(me)
	for _, id := range ids {
		t.apply(state.Change{Bridge: &state.Bridge{ID: id, Group: "g"}}, now)
	}
	t.polledAt(now)
	return t
}

func (t *table) know(key string, is state.Instance) {
	is.Group, is.Instance = "g", key
	t.apply(state.Change{Instance: &is, Revision: 1}, now)
}

func TestBridgesShareInstancesAndOneThatDiesIsInheritedByAll(t *testing.T) {
	ids := []string{"one", "two", "three"}
	count := map[string]int{}
	moved := 0
	for n := range 300 {
		key := fmt.Sprintf("g.i%d", n)
		owner := shared("one", ids...).preferred(key, "g", now)
		count[owner]++
		without := shared("one", "one", "two").preferred(key, "g", now)
		if owner != "three" && without != owner {
			moved++
		}
	}
	for _, id := range ids {
		if count[id] < 70 || count[id] > 130 {
			t.Errorf("of 300 instances, %s has %d", id, count[id])
		}
	}
	if moved > 0 {
		t.Errorf("%d instances move though their bridge lives", moved)
	}
}

func TestAnInstanceIsTakenOverOnlyOnceItsBridgeIsDead(t *testing.T) {
	tab := shared("one", "one", "two")
	tab.know("i", state.Instance{Holder: "two"})
	adopts := func(at time.Time) bool {
		tab.apply(state.Change{Bridge: &state.Bridge{ID: "one", Group: "g"}}, at)
		tab.polledAt(at)
		return slices.Contains(tab.dueActs(at), dueAct{adopt, "g.i"})
	}
	at := now
	for ; at.Sub(now) <= state.DeadAfter; at = at.Add(time.Second) {
		if adopts(at) {
			t.Fatalf("taken over after %s", at.Sub(now))
		}
	}
	for limit := at.Add(waitForPreferred + time.Second); !adopts(at); at = at.Add(time.Second) {
		if at.After(limit) {
			t.Fatalf("not taken over after %s", at.Sub(now))
		}
	}
}

func TestNobodyIsTakenForDeadWhileNothingIsHeard(t *testing.T) {
	tab := shared("one", "one", "two")
	tab.know("i", state.Instance{Holder: "two"})
	back := now.Add(time.Minute) // NATS was away for a minute
	tab.apply(state.Change{Bridge: &state.Bridge{ID: "one", Group: "g"}}, back)
	tab.polledAt(back)
	if w := tab.dueActs(back); len(w) != 0 {
		t.Errorf("right after an outage: %v", w)
	}
}

func TestAnExecutorIsAttachedByThePreferredBridgeAlone(t *testing.T) {
	for _, me := range []string{"one", "two"} {
		tab := shared(me, "one", "two")
		tab.apply(state.Change{Beat: &state.Beat{Group: "g", Instance: "i"}}, now)
		got := slices.Contains(tab.dueActs(now), dueAct{attach, "g.i"})
		if want := tab.preferred("g.i", "g", now) == me; got != want {
			t.Errorf("%s attaches it: %v, want %v", me, got, want)
		}
	}
}

func TestADrainedExecutorComesBackOnlyAfterItHasLeft(t *testing.T) {
	tab := shared("one", "one")
	tab.know("i", state.Instance{Offline: true, Drained: true})
	tab.apply(state.Change{Beat: &state.Beat{Group: "g", Instance: "i"}}, now)
	if w := tab.dueActs(now); len(w) != 0 {
		t.Errorf("while it is there: %v", w)
	}
	tab.apply(state.Change{Beat: &state.Beat{Group: "g", Instance: "i", Removed: true}}, now)
	if w := tab.dueActs(now); !slices.Equal(w, []dueAct{{forget, "g.i"}}) {
		t.Errorf("once it has left: %v", w)
	}
}

func TestABridgeServesItsGroupsOnly(t *testing.T) {
	tab := newTable("one")
	tab.apply(state.Change{Bridge: &state.Bridge{ID: "one", Group: "other"}}, now)
	tab.polledAt(now)
	tab.apply(state.Change{Beat: &state.Beat{Group: "g", Instance: "i"}}, now)
	tab.know("j", state.Instance{Holder: "gone"})
	if w := tab.dueActs(now.Add(waitForPreferred)); len(w) != 0 {
		t.Errorf("of another group: %v", w)
	}
}

func TestAnAddressHasOneNameAndNoOtherHasIt(t *testing.T) {
	names := map[string]string{}
	for _, address := range []string{
		"http://10.0.0.5:9999", "https://10.0.0.5:9999", "http://10.0.0.5:9999/x", "http://a-b:1", "http://a.b:1", "http://[fd00::1]:9999", "http://10-0-0-5:9999",
		"http://a-very-long-name-of-a-host-in-a-cluster-that-generates-them.some-namespace.svc.cluster.local:9999", "http://10.0.0.5",
	} {
		name := InstanceOf(address)
		if other := names[name]; other != "" {
			t.Errorf("%s and %s are both %s", address, other, name)
		}
		if name != InstanceOf(address) || len(name) > maxInstance {
			t.Errorf("%s is %s", address, name)
		}
		names[name] = address
	}
	if names["10-0-0-5-9999"] != "http://10.0.0.5:9999" {
		t.Error("a plain address has no plain name")
	}
}

func TestAnInstanceIsForgottenLongAfterItsExecutorIsGone(t *testing.T) {
	tab := shared("one", "one")
	tab.know("i", state.Instance{Offline: true, Why: "it cannot be reached"})
	at := now
	buried := func() bool {
		tab.apply(state.Change{Bridge: &state.Bridge{ID: "one", Group: "g"}}, at)
		tab.polledAt(at)
		return slices.Contains(tab.dueActs(at), dueAct{bury, "g.i"})
	}
	for ; at.Sub(now) <= buryAfter; at = at.Add(time.Second) {
		if buried() {
			t.Fatalf("forgotten after %s", at.Sub(now))
		}
	}
	if !buried() {
		t.Error("it is never forgotten")
	}
	tab.apply(state.Change{Removed: "g.i"}, at)
	if buried() {
		t.Error("it is forgotten twice")
	}
}
