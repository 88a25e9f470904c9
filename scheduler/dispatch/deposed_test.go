package dispatch_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// A NATS server that was cut off may believe for a moment that it still leads the stream of triggers,
// and says of one that was stored meanwhile that it is not there.

func TestATriggerThatIsHandedOverIsKeptThoughADeposedLeaderDoesNotHaveIt(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.executor("a", time.Second)
		time.Sleep(time.Second)
		w.broker.Depose("node")
		trigger := w.pulled(func(t *bus.Trigger) { t.Task = job.Task{Handler: "new"} })
		time.Sleep(3 * time.Second)
		w.broker.Heal("node")
		w.executor("b", time.Second, handles("new"))
		time.Sleep(40 * time.Second)
		w.wantBegan("b job")
		if ends := w.ends([]*bus.Trigger{trigger}); ends["succeeded"] != 1 {
			t.Errorf("ends: %v", ends)
		}
		w.wantTriggers(0)
	})
}

func TestATriggerThatWaitsIsKeptThoughADeposedLeaderDoesNotHaveIt(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.executor("a", 20*time.Second, oneSlot)
		time.Sleep(time.Second)
		w.trigger(job.RouteFirst, named("g/first"))
		time.Sleep(time.Second)
		w.trigger(job.RouteFirst, named("g/second"))
		time.Sleep(17 * time.Second)
		w.broker.Depose("node")
		time.Sleep(4 * time.Second) // the slot becomes free
		w.broker.Heal("node")
		time.Sleep(time.Minute)
		w.wantBegan("a first, a second")
		w.wantTriggers(0)
	})
}

func TestARunThatHasEndedIsNotRepeatedThoughADeposedLeaderDoesNotHaveItsEnd(t *testing.T) {
	for _, delivery := range []job.Delivery{job.AtLeastOnce, job.AtMostOnce} {
		run(t, func(w *world) {
			w.dispatcher("node")
			a := w.executor("a", 5*time.Second)
			time.Sleep(time.Second)
			tr := w.trigger(job.RouteFirst, func(t *bus.Trigger) { t.Delivery = delivery })
			time.Sleep(time.Second)
			w.broker.LoseAcks("a")
			w.executor("b", 5*time.Second)
			time.Sleep(5 * time.Second)
			w.broker.Heal("a")
			a.stop()
			w.broker.Depose("node") // which gets the trigger again
			time.Sleep(25 * time.Second)
			w.broker.Heal("node")
			time.Sleep(time.Minute)
			w.wantBegan("a job")
			if ends := w.ends([]*bus.Trigger{tr}); ends["succeeded"] != 1 || len(ends) != 1 {
				t.Errorf("ends: %v, want succeeded once", ends)
			}
			w.wantTriggers(0)
		})
	}
}
