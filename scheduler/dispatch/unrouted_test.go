package dispatch_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// unrouted makes group "g" one that has had no routed run.
func (w *world) unrouted() {
	w.t.Helper()
	kv, err := w.conn.Bucket(w.t.Context(), bus.BucketGroups)
	if err == nil {
		_, err = kv.PutString(w.t.Context(), "g", `{"executor_group":"g","created_at":"2026-01-01T00:00:00Z"}`)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.conn.JS.DeleteConsumer(w.t.Context(), bus.StreamTrig, bus.ConsumerRoute("g")); err != nil {
		w.t.Fatal(err)
	}
}

// askedUntil counts the pull requests to the consumer for routed triggers, until what it returns is called.
func (w *world) askedUntil() (stop func() int64) {
	w.t.Helper()
	var n atomic.Int64
	conn := w.connect("listener")
	sub, err := conn.NC.Subscribe("$JS.API.CONSUMER.MSG.NEXT."+bus.StreamTrig+"."+bus.ConsumerRoute("g"), func(*nats.Msg) { n.Add(1) })
	if err != nil {
		w.t.Fatal(err)
	}
	return func() int64 {
		// While somebody listens, nobody is told that there is no consumer.
		if err := errors.Join(sub.Unsubscribe(), conn.NC.Flush()); err != nil {
			w.t.Error(err)
		}
		return n.Load()
	}
}

func TestADispatcherPullsRoutedTriggersFromTheFirstOneOn(t *testing.T) {
	run(t, func(w *world) {
		w.unrouted()
		asked := w.askedUntil()
		w.dispatcher("n1")
		w.executor("a", time.Second)
		w.trigger("")
		time.Sleep(20 * time.Second)
		w.wantBegan("a job")
		if n := asked(); n > 0 {
			w.t.Errorf("it has asked %d times for triggers that there are none of", n)
		}
		w.group("g")
		w.trigger(job.RouteFirst)
		time.Sleep(3 * time.Second)
		w.wantBegan("a job")
		w.wantTriggers(0)
	})
}
