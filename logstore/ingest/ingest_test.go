package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/bustest"
	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/ingest"
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

func TestGarbageIsCountedAndLeftOut(t *testing.T) {
	run(t, func(w *world) {
		in := w.start("a")
		good := fire{report, 0}
		shardSubject := bus.SubjectEvent(report.Shard(shards), "billing")
		garbage := func(subject, kind, data string) { w.publish(bus.NewMessage(subject, kind, []byte(data)), nil) }
		garbage(shardSubject, bus.MessageEvent, "{")
		garbage(shardSubject, bus.MessageEvent, `{"kind":"finished"}`)
		garbage(shardSubject, "event.v9", `{}`)
		garbage(bus.SubjectRecord(1), bus.MessageRecord, "\x00\xff")
		garbage(bus.SubjectRecord(1), bus.MessageRecord, `{"outcomes":[{"status":"pending","cause":"schedule","fire_time":"2026-01-05T03:00:00Z","jobs":["billing/report"]}]}`)
		garbage(bus.SubjectLog("billing", good.id()), bus.MessageLog, `{"run_id":7}`)
		lines := good.log("one", "two", "three")
		lines.Lines[2].Seq = -3
		w.record(good)
		w.finish(good)
		w.print(lines)
		w.publish(&nats.Msg{Subject: shardSubject, Data: []byte("no header")}, nil)
		time.Sleep(3 * time.Second)
		w.wantWhole(0, 0)
		w.wantRows(1)
		w.wantUnacknowledged(0, 0, 0)
		for _, c := range []struct {
			stream string
			want   float64
		}{{bus.StreamEvt, 4}, {bus.StreamTrig, 2}, {bus.StreamLog, 2}} {
			if got := in.counter("carillon_ingest_refused_total", "stream", c.stream); got != c.want {
				t.Errorf("%v messages of %s are counted as refused; want %v", got, c.stream, c.want)
			}
		}
		if got := in.counter("carillon_ingest_refused_total", "reason", bus.HeaderMessage); got != 2 {
			t.Errorf("%v messages are counted for an unknown version, or none; want 2", got)
		}
	})
}

func TestWhatIsRefusedIsKeptWithItsReason(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		subject := bus.SubjectEvent(report.Shard(shards), "billing")
		w.publish(bus.NewMessage(subject, bus.MessageEvent, []byte("{")), nil)
		w.publish(bus.NewMessage(bus.SubjectRecord(1), bus.MessageRecord, []byte(strings.Repeat("x", 1<<20-200))), nil)
		w.whole(fire{report, 0})
		time.Sleep(3 * time.Second)
		w.wantWhole(0, 0)
		var got []string
		err := w.conn.Scan(w.t.Context(), bus.StreamDead, "dead.*", func(s *jet.Stored) bool {
			got = append(got, fmt.Sprintf("%s: %s of %s bytes, has %d", s.Subject, s.Header.Get(cluster.HeaderDeadSubject), s.Header.Get(cluster.HeaderDeadSize), len(s.Data)))
			if s.Header.Get(cluster.HeaderDeadReason) == "" {
				t.Errorf("%s has no reason", s.Subject)
			}
			return true
		})
		slices.Sort(got)
		want := []string{"dead.EVT: " + subject + " of 1 bytes, has 1", "dead.TRIG: rec.1 of 1048376 bytes, has 524288"}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("dead letters differ, with %v (-want +got):\n%s", err, diff)
		}
	})
}

// A newer executor may use words that this program does not know: they are kept for
// later, and keep nothing else from the store.
func TestWordsOfANewerExecutorAreKeptAsideWithTheFieldThatHasThem(t *testing.T) {
	run(t, func(w *world) {
		in := w.start("a")
		good := fire{report, 0}
		w.record(good)
		for _, change := range []func(*bus.Event){
			func(e *bus.Event) { e.Kind = "suspended" },
			func(e *bus.Event) { e.Kind, e.Cause = bus.EventStarted, "webhook" },
		} {
			e := good.finished(job.StatusSucceeded)
			change(e)
			m, err := bustest.Event(w.conn.Tokens(), e)
			m.Header.Del(nats.MsgIdHdr) // they are different
			w.publish(m, err)
		}
		w.finish(good)
		w.print(good.log("one", "two"))
		time.Sleep(3 * time.Second)
		w.wantWhole(0, 0)
		w.wantUnacknowledged(0, 0, 0)
		for _, field := range []string{"kind", "cause"} {
			if got := in.counter("carillon_ingest_refused_total", "stream", bus.StreamEvt, "reason", field); got != 1 {
				t.Errorf("%v events are counted as refused for their %s; want 1", got, field)
			}
		}
		kept := 0
		err := w.conn.Scan(w.t.Context(), bus.StreamDead, "dead.*", func(*jet.Stored) bool { kept++; return true })
		if err != nil || kept != 2 {
			t.Errorf("%d messages are kept aside, with %v; want 2", kept, err)
		}
	})
}

// An end is one, though the executor that says so gets the rest wrong.
func TestAnEndThatIsNotValidEndsItsRun(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		for n, change := range [][2]string{{`"succeeded"`, `"ok"`}, {`"result":7`, `"result":NaN`}, {`"finished_at":"`, `"finished_at":"at `}, {`"result":7`, `"exit_code":"3"`}} {
			f := fire{report, n}
			w.record(f)
			e := f.finished(job.StatusSucceeded)
			e.Result = []byte("7")
			m, err := bustest.Event(w.conn.Tokens(), e)
			if err != nil {
				t.Fatal(err)
			}
			data := strings.Replace(string(m.Data), change[0], change[1], 1)
			if data == string(m.Data) {
				t.Fatalf("%s has no %s", data, change[0])
			}
			m.Data = []byte(data)
			w.publish(m, nil)
		}
		time.Sleep(5 * time.Minute)
		for n := range 4 {
			runs, err := w.store.Run(w.t.Context(), fire{report, n}.id())
			if err != nil || runs[0].Status != job.StatusFailed || !strings.Contains(string(runs[0].Message), "not valid") || runs[0].Instance != "worker-1" {
				t.Errorf("run %d is %+v, with %v", n, runs, err)
			}
		}
	})
}

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
		time.Sleep(150 * time.Millisecond) // it has tried, and has not become the holder again
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

// One line that cannot be kept costs none of the others in its message, which is kept aside.
func TestABadLineCostsNoneOfTheOthers(t *testing.T) {
	run(t, func(w *world) {
		in := w.start("a")
		f := fire{report, 0}
		l := f.log("one", "two", "three", "four", "five")
		l.Lines[2].Seq, l.Lines[3].At = 0, time.Time{}
		m, err := bustest.Log(w.conn.Tokens(), l)
		if err != nil {
			t.Fatal(err)
		}
		m.Data = []byte(strings.Replace(string(m.Data), `"text":"five"`, `"text":5`, 1))
		w.publish(m, nil)
		time.Sleep(3 * time.Second)
		lines, err := w.store.Lines(w.t.Context(), logstore.LineFilter{RunID: f.id(), Attempt: 1})
		if err != nil || len(lines) != 2 || lines[0].Text != "one" || lines[1].Text != "two" {
			t.Errorf("the lines are %+v, with %v", lines, err)
		}
		if got := in.counter("carillon_ingest_refused_total", "stream", bus.StreamLog); got != 3 {
			t.Errorf("%v lines are counted as refused; want 3", got)
		}
		var reasons []string
		err = w.conn.Scan(w.t.Context(), bus.StreamDead, "dead.*", func(m *jet.Stored) bool {
			reasons = append(reasons, m.Header.Get(cluster.HeaderDeadReason))
			return true
		})
		if err != nil || len(reasons) != 1 || !strings.Contains(reasons[0], "not understood") {
			t.Errorf("kept aside: %q, with %v", reasons, err)
		}
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

func TestAGroupCannotSpeakForAnother(t *testing.T) {
	run(t, func(w *world) {
		in := w.start("a")
		victim := fire{report, 0}
		w.record(victim)
		forged := victim.finished(job.StatusSucceeded)
		m, err := bustest.Event(w.conn.Tokens(), forged) // though it had the token
		if err != nil {
			t.Fatal(err)
		}
		m.Subject = bus.SubjectEvent(report.Shard(shards), "intruder") // the only group it may write as
		w.publish(m, nil)
		m, err = bustest.Log(w.conn.Tokens(), victim.log("all is well"))
		if err != nil {
			t.Fatal(err)
		}
		m.Subject = bus.SubjectLog("intruder", victim.id())
		w.publish(m, nil)
		time.Sleep(3 * time.Second)

		runs, err := w.store.Run(w.t.Context(), victim.id())
		if err != nil || runs[0].Status != job.StatusPending {
			t.Errorf("the run is %+v, with %v; want it pending", runs, err)
		}
		if got := in.counter("carillon_ingest_refused_total", "reason", "job"); got != 2 {
			t.Errorf("%v messages are counted as forged; want 2", got)
		}
		w.wantUnacknowledged(0, 0, 0)
	})
}

// Whoever may speak about jobs of its own group gets nothing by naming another's run: the
// message is kept aside, and the run stays as it is.
func TestAnEventAboutAnotherJobsRunIsKeptAside(t *testing.T) {
	run(t, func(w *world) {
		in := w.start("a")
		victim := fire{report, 0}
		w.whole(victim)
		time.Sleep(time.Minute)
		const intruder job.Name = "other/hello"
		forged := victim.finished(job.StatusFailed)
		forged.Job, forged.Shard, forged.Cause, forged.Instance, forged.Message = intruder, intruder.Shard(shards), job.CauseManual, "evil", "forged"
		w.say(forged)
		forged.Attempt = 2
		w.say(forged)
		time.Sleep(3 * time.Second)
		w.wantWhole(0, 0)
		w.wantRows(1)
		if got := in.counter("carillon_ingest_refused_total", "stream", bus.StreamEvt, "reason", "run_id"); got != 2 {
			t.Errorf("%v events are counted as refused for their run_id; want 2", got)
		}
		kept := 0
		err := w.conn.Scan(w.t.Context(), bus.StreamDead, "dead.*", func(*jet.Stored) bool { kept++; return true })
		if err != nil || kept != 2 {
			t.Errorf("%d messages are kept aside, with %v; want 2", kept, err)
		}
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
