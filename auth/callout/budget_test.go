package callout

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

var noon = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

func TestAGroupsBudgetIsSharedByItsConnectionsAndRefillsWithTime(t *testing.T) {
	b := newBudgets(1 << 20)
	now := noon
	sent := map[uint64]int64{}
	send := func(cid uint64, mib int64) bool {
		t.Helper()
		sent[cid] += mib << 20
		over, _ := b.charge("g", connection{"s", cid}, sent[cid], 0, now)
		return over
	}
	for range 100 { // at its rate, from two connections
		now = now.Add(2 * time.Second)
		if send(1, 1) || send(2, 1) {
			t.Fatal("refused within its budget")
		}
	}
	now = now.Add(time.Minute)
	if send(1, 10) || !send(2, 10) {
		t.Error("together they have sent more than 16 MiB")
	}
	if b.check([]string{"g"}, now) == nil || b.check([]string{"other"}, now) != nil {
		t.Error("the group is refused, and no other")
	}
	if now = now.Add(refusedFor); b.check([]string{"g"}, now) != nil {
		t.Error("refused for more than a minute the first time")
	}
	if !send(1, 20) || b.check([]string{"g"}, now.Add(refusedFor)) == nil || b.check([]string{"g"}, now.Add(2*refusedFor)) != nil {
		t.Error("the second time is two minutes")
	}
	if now = now.Add(3 * maxRefusedFor); !send(1, 20) || b.check([]string{"g"}, now.Add(refusedFor)) != nil {
		t.Error("long after that, it is one again")
	}
}

func TestSmallMessagesCost(t *testing.T) {
	b := newBudgets(1 << 20)
	if over, _ := b.charge("g", connection{}, 0, 16*(1<<20)/messageCost+1, noon); !over {
		t.Error("any number of empty messages is free")
	}
}

func TestAGroupsBudgetShrinksWithTheRoomThatIsLeft(t *testing.T) {
	const limit = 8 << 30
	b := newBudgets(16 << 20)
	now, used, sent := noon, int64(0), int64(0)
	for now.Before(noon.Add(24 * time.Hour)) { // as fast as it may, with nobody who trims
		now = now.Add(5 * time.Second)
		b.room(uint64(used), limit)
		more := int64(b.rate * 5)
		sent += more
		used += more
		if over, _ := b.charge("g", connection{}, sent, 0, now); over {
			t.Fatalf("refused after %v, though it sends what it may", now.Sub(noon))
		}
		if used >= limit {
			t.Fatalf("EVT is full after %v", now.Sub(noon))
		}
	}
	b.room(limit/4, limit)
	if b.rate != 16<<20 {
		t.Errorf("%v bytes a second once there is room", b.rate)
	}
}

func TestWhatOtherServersFindHoldsHere(t *testing.T) {
	b := newBudgets(0)
	b.refuse(cluster.Refusal{Group: "g", Until: noon.Add(time.Minute)}, noon)
	if b.check([]string{"g"}, noon) == nil {
		t.Error("admitted")
	}
	b.refuse(cluster.Refusal{Group: "h", Until: noon.Add(1000 * time.Hour)}, noon)
	if b.check([]string{"h"}, noon.Add(maxRefusedFor)) != nil {
		t.Error("refused for longer than any server refuses")
	}
}

func TestAGroupThatKeepsTooMuchIsRefusedLongerEachTime(t *testing.T) {
	b := newBudgets(0)
	kept := fleet.Kept{Group: "g", Bucket: "INST", Keys: 5000, MaxKeys: 1000}
	over, until := b.found(cluster.Refusal{Group: kept.Group, Kept: &kept}, noon)
	if want := noon.Add(refusedFor); !over || !until.Equal(want) {
		t.Errorf("refused: %v until %s, want %s", over, until, want)
	}
	if over, _ := b.found(cluster.Refusal{Group: kept.Group, Kept: &kept}, noon.Add(time.Second)); over {
		t.Error("it is refused a second time meanwhile")
	}
	const want = "group g had 5000 keys in the bucket INST, of at most 1000, and is refused until 2026-03-01T12:01:00Z"
	for _, served := range [][]string{{"g"}, {"f", "g"}} { // the latter is a bridge's
		if err := b.check(served, noon.Add(time.Second)); err == nil || err.Error() != want {
			t.Errorf("%v is told %v, want %s", served, err, want)
		}
	}
	if err := b.check([]string{"f"}, noon); err != nil {
		t.Error(err)
	}
	if _, until := b.found(cluster.Refusal{Group: kept.Group, Kept: &kept}, noon.Add(refusedFor)); !until.Equal(noon.Add(3 * refusedFor)) {
		t.Errorf("the second time it is refused until %s", until)
	}
}
