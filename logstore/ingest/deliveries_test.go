package ingest_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/logstore/ingest"
)

// An ingester that dies between taking messages and noting their range leaves
// deliveries that nobody knows of. Acknowledging later ones must not lose them.
func TestDeliveriesOfADeadIngesterAreNotPassedOver(t *testing.T) {
	run(t, func(w *world) {
		for n := range 10 {
			w.whole(fire{report, n})
		}
		for stream, consumer := range map[string]string{bus.StreamTrig: bus.ConsumerLedger, bus.StreamEvt: bus.ConsumerEvents, bus.StreamLog: bus.ConsumerLogs} {
			take(w.t, w.conn, stream, consumer, 7)
		}
		w.start("a")
		time.Sleep(time.Second)
		w.whole(fire{report, 10})
		time.Sleep(2 * time.Minute) // records come again after AckWait
		w.wantWhole(0, 10)
		w.wantRows(11)
		w.wantUnacknowledged(0, 0, 0)
	})
}

// The same while the ingester is at work: deliveries that its connection swallowed.
func TestDeliveriesLostOnTheWayAreNotPassedOver(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		time.Sleep(time.Second)
		w.whole(fire{report, 0})
		time.Sleep(settled)
		w.broker.Deafen("a")
		for n := 1; n < 20; n++ {
			w.whole(fire{report, n})
		}
		time.Sleep(time.Second)
		w.broker.Heal("a")
		time.Sleep(20 * time.Second)
		w.whole(fire{report, 20})
		time.Sleep(2 * time.Minute)
		w.wantWhole(0, 20)
		w.wantUnacknowledged(0, 0, 0)
	})
}

func TestDeliveriesThatAnotherTookAreNotPassedOver(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		time.Sleep(time.Second)
		w.store.hook(func(string) error { time.Sleep(5 * time.Second); return nil }, nil)
		w.finish(fire{report, 0})
		time.Sleep(time.Second)
		for n := 1; n <= 10; n++ {
			w.finish(fire{report, n})
		}
		take(w.t, w.conn, bus.StreamEvt, bus.ConsumerEvents, 5)
		time.Sleep(30 * time.Second)
		w.wantRows(11)
		time.Sleep(2 * time.Minute) // what was read from the stream is acknowledged when it comes again
		w.wantUnacknowledged(0, 0, 0)
	})
}

// After a cut between two NATS servers, a consumer may be put on one that has not
// caught up. That it finds nothing there does not mean that there is nothing.
func TestWhatALaggingReplicaHasNotIsNotPassedOver(t *testing.T) {
	run(t, func(w *world) {
		for n := range 10 {
			w.whole(fire{report, n})
		}
		for stream, consumer := range map[string]string{bus.StreamEvt: bus.ConsumerEvents, bus.StreamLog: bus.ConsumerLogs} {
			take(w.t, w.conn, stream, consumer, 7)
		}
		w.broker.Lag("a")
		in := w.start("a")
		time.Sleep(20 * time.Second)
		w.whole(fire{report, 10})
		time.Sleep(20 * time.Second)
		w.broker.Heal("a")
		time.Sleep(2 * time.Minute)
		w.wantWhole(0, 10)
		w.wantRows(11)
		w.wantUnacknowledged(0, 0, 0)
		if got := in.counter("carillon_ingest_dropped_messages_total"); got != 0 {
			t.Errorf("%v messages are counted as dropped, and the streams have all of them", got)
		}
	})
}

// The same with the range that was noted last, and may be written in part.
func TestARangeIsNotRepeatedInPartOfWhatALaggingReplicaHas(t *testing.T) {
	run(t, func(w *world) {
		first := w.start("a")
		time.Sleep(time.Second)
		w.store.hook(func(string) error { first.crash(); return errors.New("out of order") }, nil)
		for n := range 5 {
			w.print(fire{report, n}.log("one", "two"))
		}
		time.Sleep(leaseEnd)
		w.store.hook(nil, nil)
		w.broker.Lag("b")
		w.start("b")
		time.Sleep(20 * time.Second)
		w.broker.Heal("b")
		for n := range 5 {
			w.record(fire{report, n})
			w.finish(fire{report, n})
		}
		time.Sleep(2 * time.Minute)
		w.wantWhole(0, 4)
		w.wantUnacknowledged(0, 0, 0)
	})
}

// Whoever reads along claims no more than the streams' leaders confirm.
func TestWhoeverFollowsALaggingReplicaDoesNotClaimToHaveAll(t *testing.T) {
	run(t, func(w *world) {
		w.whole(fire{report, 0})
		conn := w.connect("reader")
		if err := conn.Open(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		var mu sync.Mutex
		upTo := map[string]time.Time{}
		claimed := func() map[string]time.Time {
			mu.Lock()
			defer mu.Unlock()
			return maps.Clone(upTo)
		}
		w.broker.Lag("reader")
		ctx, stop := context.WithCancel(w.t.Context())
		done := make(chan error)
		go func() {
			done <- ingest.Follow(ctx, conn, w.store, start, slog.New(slog.DiscardHandler), func(stream string, at time.Time) {
				mu.Lock()
				defer mu.Unlock()
				upTo[stream] = at
			})
		}()
		time.Sleep(30 * time.Second)
		for _, stream := range []string{bus.StreamEvt, bus.StreamLog} {
			if at, ok := claimed()[stream]; ok {
				t.Errorf("of %s all is claimed to be there up to %v, and nothing is", stream, at)
			}
		}
		w.broker.Heal("reader")
		time.Sleep(30 * time.Second)
		for _, stream := range []string{bus.StreamEvt, bus.StreamLog} {
			if at := claimed()[stream]; time.Since(at) > 2*time.Second {
				t.Errorf("of %s all is claimed to be there up to %v only", stream, at)
			}
		}
		w.wantWhole(0, 0)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func take(t *testing.T, conn *cluster.Conn, stream, consumer string, n int) {
	t.Helper()
	c, err := conn.JS.Consumer(t.Context(), stream, consumer)
	if err != nil {
		t.Fatal(err)
	}
	batch, err := c.Fetch(n, jetstream.FetchMaxWait(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	for range batch.Messages() {
		got++
	}
	if got != n {
		t.Fatalf("took %d messages of %s; want %d", got, stream, n)
	}
}
