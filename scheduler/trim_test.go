package scheduler_test

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
)

// moveEvents takes events off EVT as the log store's ingest does. It returns a switch that
// stops it, and how many it has taken.
func (w *world) moveEvents() (stopped *atomic.Bool, moved *atomic.Int64) {
	w.t.Helper()
	return w.moveEventsOf(bus.StreamEvt)
}

// moveEventsOf is moveEvents of a partition's stream.
func (w *world) moveEventsOf(stream string) (stopped *atomic.Bool, moved *atomic.Int64) {
	w.t.Helper()
	stopped, moved = &atomic.Bool{}, &atomic.Int64{}
	c, err := w.connect("ingest").JS.Consumer(w.t.Context(), stream, bus.ConsumerEvents)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	w.t.Cleanup(func() { stop(); <-done })
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			time.Sleep(time.Second)
			if stopped.Load() {
				continue
			}
			batch, err := c.FetchNoWait(10000)
			if err != nil {
				continue
			}
			for m := range batch.Messages() {
				moved.Add(1)
				_ = m.Ack()
			}
		}
	}()
	return stopped, moved
}

// tell stores a large event about a run of a job that nobody watches, as an executor does:
// again and again while EVT refuses it.
func (w *world) tell(n int, text []byte) {
	w.t.Helper()
	const name job.Name = "g/loud"
	e := bus.EventOf(&bus.Trigger{RunID: job.NewRunID(time.Now()), Job: name, Shard: name.Shard(w.conn.Cluster().Shards), Attempt: 1, FireTime: time.Now()},
		bus.EventProgress, time.Now().Add(time.Duration(n)*time.Millisecond))
	e.Text = string(text)
	m, err := bustest.Event(w.conn.Tokens(), e)
	if err != nil {
		w.t.Fatal(err)
	}
	for {
		if _, err = w.conn.JS.PublishMsg(w.t.Context(), m); err == nil {
			return
		}
		time.Sleep(time.Second)
	}
}

// noise is what S2 cannot make much smaller.
func noise(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%x", uint64(i+1)*0x9e3779b97f4a7c15)
	}
	return b.Bytes()[:n]
}

func TestAtLengthTenTimesTheLimitOfTheEventStreamPassesThrough(t *testing.T) {
	run(t, func(w *world) {
		const limit = 2 << 20
		w.limit(bus.StreamEvt, limit)
		_, moved := w.moveEvents()
		w.execute(100 * time.Millisecond)
		w.startNode("a")
		w.put("g/a", job.Schedule{Cron: "* * * * * ?"}, func(j *job.Job) { j.Overlap = job.Overlap{Policy: job.OverlapSkip} })
		time.Sleep(5 * time.Second)
		text := noise(16 << 10)
		sent := 0
		for ; sent*len(text) < 10*limit; sent++ {
			w.tell(sent, text)
			time.Sleep(200 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		if n := moved.Load(); n < int64(sent) {
			t.Errorf("%d of %d events came through", n, sent)
		}
		if ends := len(w.wantEachOnce(second(1), "g/a")["g/a"]); ends < 200 {
			t.Errorf("the job beside it had %d fires", ends)
		}
		for _, f := range w.fires("g/a", time.Second) {
			if f.Status != job.StatusPending {
				t.Fatalf("%v: %s, %s: the end of a run was held back", f.FireTime, f.Status, f.Reason)
			}
		}
		if got := w.state(bus.StreamEvt); got.Bytes > limit/2+(1<<20) {
			t.Errorf("EVT still has %d bytes", got.Bytes)
		}
	})
}

func TestAShardThatWaitsForALongRunHoldsBackNoTrimming(t *testing.T) {
	run(t, func(w *world) {
		w.moveEvents()
		w.startNode("a")
		w.skipping()
		w.discard(func(jetstream.Msg) error { return nil }) // it runs, and says nothing
		text := noise(1 << 10)
		for i := range 300 {
			w.tell(i, text)
		}
		last := w.state(bus.StreamEvt).LastSeq
		time.Sleep(time.Minute) // until all have read them, and the shards have written that they have
		w.limit(bus.StreamEvt, 512<<10)
		time.Sleep(2 * time.Minute)
		if got := w.state(bus.StreamEvt).FirstSeq; got <= last-100 {
			t.Errorf("EVT begins with %d, though all have read up to %d", got, last)
		}
	})
}

func TestAtLengthEventsThatTheLogStoreHasNotReadAreNotTrimmed(t *testing.T) {
	run(t, func(w *world) {
		w.keepEvents = 10 * time.Minute
		stopped, moved := w.moveEvents()
		stopped.Store(true)
		w.execute(100 * time.Millisecond)
		w.startNode("a")
		w.put("g/a", job.Schedule{Cron: "*/30 * * * * ?"}, func(j *job.Job) { j.Overlap = job.Overlap{Policy: job.OverlapSkip} })
		time.Sleep(15 * time.Minute) // for longer than events are kept that have been read
		if first := w.state(bus.StreamEvt).FirstSeq; first > 1 {
			t.Fatalf("EVT begins with %d, and the log store has read nothing", first)
		}
		stopped.Store(false)
		time.Sleep(15 * time.Minute)
		if n := moved.Load(); n < 40 {
			t.Errorf("%d events came through", n)
		}
		if oldest := time.Since(w.state(bus.StreamEvt).FirstTime); oldest < w.keepEvents-time.Minute || oldest > 2*w.keepEvents {
			t.Errorf("EVT begins %v ago, want ten minutes, as the log store has read all", oldest)
		}
	})
}
