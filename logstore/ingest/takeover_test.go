package ingest_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// The trigger comes again after 15 s, which is within the window in which JetStream knows
// repeats by their ids.
func TestATakeoverWithinTheWindowForRepeatsIsSeen(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		f := fire{report, 0}
		w.record(f)
		started := func(instance string, delivery int) {
			e := f.finished("")
			e.Kind, e.Instance, e.Delivery, e.At, e.StartedAt, e.FinishedAt = bus.EventStarted, instance, delivery, time.Now(), time.Now(), time.Time{}
			w.publish(bustest.Event(w.conn.Tokens(), e))
		}
		started("dead", 1)
		time.Sleep(15 * time.Second)
		started("alive", 2)
		time.Sleep(2 * time.Second)
		runs, err := w.store.Run(w.t.Context(), f.id())
		if err != nil || runs[0].Status != job.StatusRunning || runs[0].Instance != "alive" || runs[0].Delivery != 2 {
			t.Errorf("the run is %+v, with %v", runs, err)
		}
		changes, err := w.store.Changes(w.t.Context(), f.id(), runlog.Whole)
		var starts []string
		for _, c := range changes {
			if c.Kind == runlog.KindStarted {
				starts = append(starts, c.Instance)
			}
		}
		if err != nil || !slices.Equal(starts, []string{"dead", "alive"}) {
			t.Errorf("the timeline has the starts %v, with %v", starts, err)
		}
	})
}

// The lease keeps ingesters apart, but for one that was paused. What it then notes is
// refused by the revision of what another has noted meanwhile, and it writes nothing.
func TestOfTwoIngestersAtOnceTheSecondIsRefused(t *testing.T) {
	run(t, func(w *world) {
		in := w.start("a")
		time.Sleep(time.Second)
		w.finish(fire{report, 0})
		time.Sleep(time.Second)
		kv, err := w.conn.JS.KeyValue(w.t.Context(), bus.BucketCluster)
		if err != nil {
			t.Fatal(err)
		}
		// Another has noted a range that is far ahead, and writes it at this instant.
		others := []byte(`{"first":1000,"last":2000,"count":1001}`)
		if _, err := kv.Put(w.t.Context(), "ingest."+bus.StreamEvt, others); err != nil {
			t.Fatal(err)
		}
		w.store.hook(func(token string) error {
			if e, err := kv.Get(w.t.Context(), "ingest."+bus.StreamEvt); err == nil && strings.HasPrefix(token, "EVT:") && string(e.Value()) == string(others) {
				t.Errorf("%s was written, which is not the range that was noted", token)
			}
			return nil
		}, nil)
		before := w.store.taken()
		w.finish(fire{report, 1})
		time.Sleep(300 * time.Millisecond) // it has tried, and has not become the holder again
		if got := w.store.taken(); len(got) != len(before) {
			t.Errorf("it wrote %v; want nothing after %v", got, before)
		}
		if got := in.counter("carillon_ingest_active"); got != 0 {
			t.Error("it goes on ingesting, though another has noted a range")
		}
		time.Sleep(time.Minute) // as the next holder it begins anew
		w.wantRows(2)
		w.wantUnacknowledged(0, 0, 0)
	})
}

// While the store takes a batch, the next is fetched and decoded: acknowledging the
// one must not pass over the other, wherever a crash comes.
func TestACrashWhileTheNextBatchIsAtHandLosesNothing(t *testing.T) {
	run(t, func(w *world) {
		first := w.start("a")
		time.Sleep(time.Second)
		entered, leave := make(chan string, 1), make(chan struct{})
		var held atomic.Bool
		w.store.hook(func(token string) error {
			if strings.HasPrefix(token, "EVT:") && held.CompareAndSwap(false, true) {
				entered <- token
				<-leave
			}
			return nil
		}, nil)
		for n := range 10 {
			w.finish(fire{report, n})
		}
		token := <-entered
		for n := 10; n < 30; n++ {
			w.finish(fire{report, n})
		}
		time.Sleep(time.Second)
		if got := first.counter("carillon_ingest_messages_total", "stream", bus.StreamEvt); got <= 10 {
			t.Errorf("%v events were fetched during the write of the first ten; want more", got)
		}
		first.crash()
		close(leave)
		time.Sleep(leaseEnd)
		w.start("b")
		time.Sleep(time.Second)
		if got := w.store.taken()[token]; got < 1 {
			t.Errorf("batch %s was not written again: %v", token, w.store.taken())
		}
		w.wantRows(30)
		time.Sleep(2 * time.Minute) // what was read from the stream is acknowledged when it comes again
		w.wantRows(30)
		w.wantUnacknowledged(0, 0, 0)
	})
}

func TestOneIngesterWorksAndAnotherTakesOver(t *testing.T) {
	run(t, func(w *world) {
		a := w.start("a")
		time.Sleep(time.Second)
		b := w.start("b")
		time.Sleep(10 * time.Second)
		if a.counter("carillon_ingest_active") != 1 || b.counter("carillon_ingest_active") != 0 {
			t.Error("want a alone at work")
		}
		w.whole(fire{report, 0})
		time.Sleep(settled)
		a.stop()
		time.Sleep(2 * jet.LeaseRenew) // it gave the lease back
		w.whole(fire{report, 1})
		time.Sleep(settled)
		w.wantWhole(0, 1)
		if got := b.counter("carillon_ingest_messages_total"); got != 3 {
			t.Errorf("b took %v messages; want 3", got)
		}

		b.crash()
		c := w.start("c")
		w.whole(fire{report, 2})
		time.Sleep(leaseEnd)
		w.wantWhole(0, 2)
		if c.counter("carillon_ingest_active") != 1 {
			t.Error("want c at work")
		}
	})
}

// A paused process wakes up and believes for a moment to be alone.
func TestAnIngesterThatWasOvertakenWritesNothingNew(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		time.Sleep(time.Second)
		entered, leave := make(chan string, 1), make(chan struct{})
		var held atomic.Bool
		w.store.hook(func(token string) error {
			if held.CompareAndSwap(false, true) {
				entered <- token
				<-leave
			}
			return nil
		}, nil)
		w.finish(fire{report, 0})
		<-entered
		w.broker.Partition("a")
		time.Sleep(leaseEnd)
		w.start("b")
		w.finish(fire{report, 1})
		time.Sleep(10 * time.Second)
		w.wantRows(2)
		w.broker.Heal("a")
		close(leave)
		time.Sleep(time.Minute)
		w.finish(fire{report, 2})
		time.Sleep(settled)
		w.wantRows(3)
		w.wantUnacknowledged(0, 0, 0)
	})
}
