package cluster_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
)

func TestATriggerThatIsGivenBackComesLaterEachTime(t *testing.T) {
	inCluster(t, func(w *world) {
		if err := w.conn.Groups().Setup(w.t.Context(), cluster.Group{Group: "g", HasRouted: true}); err != nil {
			w.t.Fatal(err)
		}
		if _, err := w.conn.JS.Publish(w.t.Context(), "trig.0.any.g", nil); err != nil {
			w.t.Fatal(err)
		}
		consumer, err := w.conn.JS.Consumer(w.t.Context(), bus.StreamTrig, "any-g")
		if err != nil {
			w.t.Fatal(err)
		}
		var came []time.Duration
		for delivery, last := 1, time.Now(); delivery <= 7; delivery++ {
			m, err := consumer.Next()
			if err != nil {
				w.t.Fatal(err)
			}
			came, last = append(came, time.Since(last).Round(time.Second)), time.Now()
			if err := w.conn.NC.Publish(m.Reply(), []byte(bus.NakAfter(bus.GiveBackAfter(delivery)))); err != nil {
				w.t.Fatal(err)
			}
		}
		want := []time.Duration{0, 1, 2, 4, 8, 15, 15}
		for i := range want {
			if came[i] != want[i]*time.Second {
				w.t.Errorf("delivery %d came after %s, want %ds", i+1, came[i], want[i])
			}
		}
	})
}
