package dispatch_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAGroupThatIsFullLeavesItsTriggersOnTheStream(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.executor("a", time.Hour, oneSlot)
		w.executor("b", time.Hour, oneSlot)
		time.Sleep(time.Second)
		for range 3000 {
			w.trigger(job.RouteConsistentHash)
		}
		time.Sleep(2 * time.Minute)
		w.wantTriggers(3000)
		consumer, err := w.conn.JS.Consumer(w.t.Context(), bus.StreamTrig, bus.ConsumerRoute("g"))
		if err != nil {
			t.Fatal(err)
		}
		// Those that wait, the one that is offered, and the two that have begun.
		if got := consumer.CachedInfo().Delivered.Consumer; got > 513+2 {
			t.Errorf("there were %d deliveries", got)
		}
		if got, err := w.conn.LastSeq(w.t.Context(), bus.StreamEvt); err != nil || got > 3*513+2 {
			t.Errorf("%d events say why nothing has begun, %v", got, err)
		}
	})
}

func TestRunsOfAGroupThatIsFullBeginInTheirOrder(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		// The instance is asked each 200 ms. If a run ended just then, those that come back
		// at that instant, as all do after half a minute, would find it busy or free by chance.
		w.executor("a", 1030*time.Millisecond, oneSlot)
		time.Sleep(time.Second)
		var want []string
		for i := range 40 {
			name := fmt.Sprintf("job-%02d", i)
			w.trigger(job.RouteRandom, named(job.Name("g/"+name)))
			want = append(want, "a "+name)
		}
		time.Sleep(2 * time.Minute)
		w.wantBegan(strings.Join(want, ", "))
		w.wantTriggers(0)
	})
}

func TestASlotThatComesFreeInAGroupThatIsFullIsTakenSoon(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		a := w.executor("a", time.Hour, oneSlot)
		time.Sleep(time.Second)
		for range 20 {
			w.trigger(job.RouteFirst)
		}
		time.Sleep(10 * time.Second)
		w.wantBegan("a job")
		if err := a.SetSlots(11); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := w.count(); got != 10 {
			t.Errorf("%d runs have begun in the 10 slots that came free", got)
		}
		w.executor("b", time.Hour, slots(20))
		time.Sleep(time.Second)
		if got := w.count(); got != 9 {
			t.Errorf("%d runs of 9 have begun at the instance that joined", got)
		}
	})
}

func TestARunThatIsCalledOffWhileItsGroupIsFullIsNotBegun(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.executor("a", 20*time.Second, oneSlot)
		time.Sleep(time.Second)
		w.trigger(job.RouteFirst, named("g/first"))
		time.Sleep(time.Second)
		w.trigger(job.RouteFirst, named("g/second"))
		w.trigger(job.RouteFirst, named("g/third"))
		time.Sleep(5 * time.Second)
		err := w.conn.Scan(w.t.Context(), bus.StreamTrig, "trig.>", func(m *jet.Stored) bool {
			if !strings.Contains(string(m.Data), "g/second") {
				return true
			}
			if err := w.conn.Remove(w.t.Context(), bus.StreamTrig, m.Seq); err != nil {
				t.Error(err)
			}
			return false
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		w.wantBegan("a first, a third")
		w.wantTriggers(0)
	})
}

func TestADispatcherThatEndsHandsBackWhatIsParked(t *testing.T) {
	run(t, func(w *world) {
		stop, _ := w.dispatcher("node-1")
		w.executor("a", 3*time.Second, oneSlot)
		time.Sleep(time.Second)
		for range 3 {
			w.trigger(job.RouteFirst)
		}
		time.Sleep(time.Second)
		w.dispatcher("node-2")
		stop()
		time.Sleep(10 * time.Second) // less than AckWait
		w.wantBegan("a job, a job, a job")
		time.Sleep(10 * time.Second)
		w.wantTriggers(0)
	})
}
