package scheduler

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

// A consumer that was made before a shard needed events has not brought what came before.
func TestAShardIsToldOfItsEventsByAConsumerThatBeginsEarlyEnough(t *testing.T) {
	v := newEvents(nil, 0, bus.StreamEvt)
	var told []string
	join := func(number int, next uint64) {
		v.subscribers[number] = &subscriber{
			shard: number, next: next,
			deliver: func(m *jet.Stored) { told = append(told, fmt.Sprintf("%d: %s %d", number, m.Subject, m.Seq)) },
		}
	}
	pass := func(subject string, seq uint64) { v.deliver(&jet.Stored{Subject: subject, Seq: seq}) }
	begin := func(want uint64) {
		t.Helper()
		if filters, from := v.filters(); from != want || len(filters) != len(v.subscribers)+2 {
			t.Errorf("it follows %q from %d on, want %d", filters, from, want)
		}
	}
	join(1, 7)
	begin(7)
	pass("evt.1.g", 7)
	join(1, 5) // it was taken over anew
	join(2, 3)
	pass("evt.1.g", 9)
	pass("evt.2.g", 10)
	v.consumedTo(10)
	begin(3)
	for seq := range uint64(12) {
		pass(fmt.Sprintf("evt.%d.g", 1+seq%2), seq)
	}
	pass("barrier.1", 12)
	pass("evt.3.g", 13)
	v.consumedTo(13)
	begin(14)
	filters, _ := v.filters()
	if !slices.Contains(filters, "evt.p0.*") {
		t.Errorf("it follows %q, and no packs", filters)
	}
	want := []string{"1: evt.1.g 7", "2: evt.2.g 3", "2: evt.2.g 5", "1: evt.1.g 6", "2: evt.2.g 7", "1: evt.1.g 8", "2: evt.2.g 9", "1: evt.1.g 10", "2: evt.2.g 11", "1: barrier.1 12"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}
