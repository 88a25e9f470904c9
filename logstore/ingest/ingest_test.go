package ingest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

func TestWhatIsPublishedIsInTheStoreAtOnce(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		time.Sleep(time.Minute)
		for n := range 3 {
			w.whole(fire{report, n})
			time.Sleep(settled)
			w.wantWhole(n, n)
		}
		time.Sleep(settled)
		w.wantRows(3)
		w.wantUnacknowledged(0, 0, 0)
	})
}

func TestHistoryFromBeforeTheFirstIngesterIsRead(t *testing.T) {
	run(t, func(w *world) {
		for n := range 20 {
			w.whole(fire{report, n})
		}
		w.start("a")
		time.Sleep(time.Second)
		w.wantWhole(0, 19)
		w.wantUnacknowledged(0, 0, 0)
	})
}

func TestRepeatedMessagesMakeNoSecondRun(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		for range 3 {
			w.whole(fire{report, 0})
			time.Sleep(time.Minute) // longer than the stream remembers
		}
		w.wantWhole(0, 0)
		w.wantRows(1)
	})
}

func TestMessagesGatherToBatchesWhileTheStoreIsBusy(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.store.hook(func(string) error { time.Sleep(2 * time.Second); return nil }, nil)
		time.Sleep(time.Second)
		for n := range 1000 {
			w.finish(fire{report, n})
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		w.wantRows(1000)
		if got := len(w.store.taken()); got > 10 {
			t.Errorf("10 s of events, at 2 s a write, took %d writes; want 10 at most", got)
		}
	})
}

func TestCrashBetweenWriteAndAcknowledgementRepeatsExactlyThatBatch(t *testing.T) {
	run(t, func(w *world) {
		first := w.start("a")
		time.Sleep(time.Second)
		written := first.crashAfterWrite()
		for n := range 30 {
			w.finish(fire{report, n})
		}
		time.Sleep(leaseEnd)
		token := written()
		if !strings.HasPrefix(token, "EVT:") {
			t.Fatalf("the crash came after %q", token)
		}
		for n := 30; n < 40; n++ {
			w.finish(fire{report, n})
		}
		take(w.t, w.conn, bus.StreamEvt, bus.ConsumerEvents, 5) // by one that died at once
		w.start("b")
		time.Sleep(time.Second)
		if got := w.store.taken()[token]; got != 2 {
			t.Errorf("batch %s was written %d times; want 2, as its fate was unknown: %v", token, got, w.store.taken())
		}
		if got := len(w.store.taken()); got != 3 {
			t.Errorf("there are %d batches; want the one that was repeated, five taken and five new ones: %v", got, w.store.taken())
		}
		w.wantRows(40)
		w.wantUnacknowledged(0, 0, 0)
	})
}

func TestCrashAfterAWriteOfRecordsRepeatsExactlyThatBatch(t *testing.T) {
	run(t, func(w *world) {
		first := w.start("a")
		time.Sleep(time.Second)
		written := first.crashAfterWrite()
		for n := range 30 {
			w.record(fire{report, n}, fire{"billing/other", n})
		}
		time.Sleep(leaseEnd)
		token := written()
		w.start("b")
		time.Sleep(time.Second)
		if got := w.store.taken()[token]; got != 2 || !strings.HasPrefix(token, "TRIG:") {
			t.Errorf("batch %q was written %d times; want 2: %v", token, got, w.store.taken())
		}
		time.Sleep(2 * time.Minute) // longer than AckWait
		w.wantRows(60)
		w.wantUnacknowledged(0, 0, 0)
		if got := w.store.taken()[token]; got != 2 {
			t.Errorf("batch %s was written %d times in the end; want 2", token, got)
		}
		if got := len(w.store.taken()); got > 2 {
			t.Errorf("there are %d batches; want what the crash repeated and the rest: %v", got, w.store.taken())
		}
	})
}

func TestNothingIsAcknowledgedWhileTheStoreIsAway(t *testing.T) {
	run(t, func(w *world) {
		in := w.start("a")
		w.store.hook(func(string) error { return errors.New("disk full") }, nil)
		time.Sleep(time.Second)
		for n := range 5 {
			w.whole(fire{report, n})
			time.Sleep(time.Minute)
		}
		w.wantUnacknowledged(5, 5, 5)
		w.wantRows(0)
		if got := in.counter("carillon_ingest_write_failures_total"); got < 3*10 {
			t.Errorf("%v failures were counted", got)
		}
		w.store.hook(nil, nil)
		time.Sleep(2 * time.Minute)
		w.wantWhole(0, 4)
		w.wantRows(5)
		w.wantUnacknowledged(0, 0, 0)
	})
}

// What comes again while its write takes long is in an earlier batch: it is acknowledged and
// not written once more, and nothing counts as dropped.
func TestWhatComesAgainWhileItIsWrittenIsNotWrittenTwice(t *testing.T) {
	run(t, func(w *world) {
		in := w.start("a")
		time.Sleep(time.Second)
		w.store.hook(func(token string) error {
			if strings.HasPrefix(token, "EVT:1-") {
				time.Sleep(3 * time.Minute) // longer than AckWait
			}
			return nil
		}, nil)
		for n := range 10 {
			w.finish(fire{report, n})
		}
		time.Sleep(10 * time.Minute)
		covered := map[int]int{}
		for token, times := range w.store.taken() {
			first, last := 0, 0
			if _, err := fmt.Sscanf(token, "EVT:%d-%d", &first, &last); err != nil {
				continue
			}
			for seq := first; seq <= last; seq++ {
				covered[seq] += times
			}
		}
		for seq := 1; seq <= 10; seq++ {
			if covered[seq] != 1 {
				t.Errorf("event %d was written %d times; want once: %v", seq, covered[seq], w.store.taken())
			}
		}
		if got := in.counter("carillon_ingest_dropped_messages_total"); got != 0 {
			t.Errorf("%v messages are counted as dropped, and none was", got)
		}
		w.wantRows(10)
		w.wantUnacknowledged(0, 0, 0)
	})
}

// The stream of logs drops the oldest lines rather than hold back executors. That is told.
func TestLinesThatTheStreamCouldNotKeepAreCounted(t *testing.T) {
	run(t, func(w *world) {
		in := w.start("a")
		w.print(fire{report, 0}.log("one"))
		time.Sleep(time.Second)
		w.store.hook(func(string) error { return errors.New("away") }, nil)
		for n := range 20 {
			w.print(fire{report, n + 1}.log("one"))
			time.Sleep(time.Minute)
		}
		stream, err := w.conn.JS.Stream(w.t.Context(), bus.StreamLog)
		if err == nil {
			err = stream.Purge(w.t.Context(), jetstream.WithPurgeKeep(5)) // as if it were full
		}
		if err != nil {
			w.t.Fatal(err)
		}
		w.store.hook(nil, nil)
		time.Sleep(5 * time.Minute)
		lines := 0
		for n := range 21 {
			found, err := w.store.Lines(w.t.Context(), logstore.LineFilter{RunID: fire{report, n}.id(), Attempt: 1})
			if err != nil {
				w.t.Fatal(err)
			}
			lines += len(found)
		}
		if got := in.counter("carillon_ingest_dropped_messages_total", "stream", bus.StreamLog); int(got)+lines != 21 || got < 1 {
			w.t.Errorf("of 21 lines the store has %d, and %v are counted as dropped", lines, got)
		}
		w.wantUnacknowledged(0, 0, 0)
	})
}

func TestTheBrokerMayStopAndStart(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.whole(fire{report, 0})
		time.Sleep(10 * time.Second)
		w.broker.Stop()
		time.Sleep(time.Minute)
		w.broker.Start()
		time.Sleep(20 * time.Second)
		w.whole(fire{report, 1})
		time.Sleep(20 * time.Second)
		w.wantWhole(0, 1)
		w.wantUnacknowledged(0, 0, 0)
	})
}

func TestEndsOfRunsAreCountedByHowTheyEnded(t *testing.T) {
	run(t, func(w *world) {
		in := w.start("a")
		a, b := fire{report, 0}, fire{report, 1}
		w.record(a, b)
		w.finish(a)
		lost := b.finished(job.StatusLost)
		w.say(lost)
		time.Sleep(settled)
		for status, want := range map[string]float64{"succeeded": 1, "lost": 1, "failed": 0} {
			if got := in.counter("carillon_runs_total", "status", status); got != want {
				w.t.Errorf("%s: %v, want %v", status, got, want)
			}
		}
		if got := in.counter("carillon_runs_lost_total"); got != 1 {
			w.t.Errorf("%v runs were lost, want 1", got)
		}
	})
}
