package callout

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
)

func TestGiveBacksCountAsHastyOnlyWithoutTheProtocolsDelay(t *testing.T) {
	b := giveBacks{groups: map[string]*giver{}}
	now := noon
	for n := range 100 * maxHasty { // many triggers, each after the shortest delay that the protocol has
		at := bus.Position{Stream: bus.StreamTrig, Seq: uint64(n % 1000)}
		if at.Seq == 0 {
			now = now.Add(bus.GiveBackMin)
		}
		if b.note("patient", at, now) > 0 {
			t.Fatalf("refused after %d give-backs", n)
		}
	}
	at, n := bus.Position{Stream: bus.StreamTrig, Seq: 1}, 1
	for b.note("hasty", at, now) == 0 {
		now = now.Add(time.Millisecond)
		if n++; n > 2*maxHasty {
			t.Fatal("a trigger that is given back each millisecond refuses nobody")
		}
	}
	if n != maxHasty+2 { // the first is not hasty
		t.Errorf("refused after %d give-backs", n)
	}
	b.note("once", at, now)
	b.forget(now.Add(3 * hastyWindow))
	if len(b.groups) != 0 {
		t.Errorf("remembered: %v", b.groups)
	}
}
