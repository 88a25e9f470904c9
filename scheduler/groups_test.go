package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAGroupWithoutExecutorsDelaysNobody(t *testing.T) {
	run(t, func(w *world) {
		t := w.t // the bubble's
		w.startNode("a")
		for i := range 50 {
			w.put(job.Name(fmt.Sprintf("absent/job-%d", i)), job.Schedule{FixedRate: job.Duration(time.Second)})
		}
		w.put("live/job", job.Schedule{FixedRate: job.Duration(time.Second)})
		time.Sleep(time.Minute) // thousands of triggers wait for the absent group
		consumer, err := w.conn.JS.Consumer(t.Context(), bus.StreamTrig, bus.ConsumerAny("live"))
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			w.takeAll(consumer)
			asked := time.Now()
			batch, err := consumer.Fetch(1, jetstream.FetchMaxWait(5*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			m, open := <-batch.Messages()
			if !open {
				t.Fatalf("no trigger within %s", time.Since(asked))
			}
			trigger, err := bus.DecodeTrigger(m.Headers(), m.Data())
			if err != nil {
				t.Fatal(err)
			}
			if late := time.Since(trigger.FireTime); late > 20*time.Millisecond {
				t.Errorf("fire of %s came %s late", trigger.FireTime, late)
			}
			if err := m.Ack(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// takeAll acknowledges what waits for a consumer.
func (w *world) takeAll(c jetstream.Consumer) {
	w.t.Helper()
	batch, err := c.FetchNoWait(1000)
	if err != nil {
		w.t.Fatal(err)
	}
	for m := range batch.Messages() {
		if err := m.Ack(); err != nil {
			w.t.Fatal(err)
		}
	}
}
