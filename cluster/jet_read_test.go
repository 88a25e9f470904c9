package cluster_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

func (w *world) publish(subject, text string) uint64 {
	w.t.Helper()
	ack, err := w.conn.JS.Publish(w.t.Context(), subject, []byte(text))
	if err != nil {
		w.t.Fatal(err)
	}
	return ack.Sequence
}

func TestScanReadsAllPagesInOrder(t *testing.T) {
	inCluster(t, func(w *world) {
		const n = 2500
		for i := range n {
			w.publish("evt.1.g", strconv.Itoa(i))
			if i%3 == 0 {
				w.publish("evt.2.g", "other")
			}
		}
		next := 0
		err := w.conn.Scan(w.t.Context(), bus.StreamEvt, "evt.1.*", func(m *jet.Stored) bool {
			if string(m.Data) != strconv.Itoa(next) || m.Subject != "evt.1.g" {
				w.t.Errorf("%d: %s on %s", next, m.Data, m.Subject)
			}
			next++
			return true
		})
		if err != nil || next != n {
			w.t.Errorf("%d messages, %v", next, err)
		}
		seen := 0
		if err := w.conn.Scan(w.t.Context(), bus.StreamEvt, "evt.1.*", func(*jet.Stored) bool { seen++; return seen < 1500 }); err != nil || seen != 1500 {
			w.t.Errorf("stopped after %d, %v", seen, err)
		}
		if err := w.conn.Scan(w.t.Context(), bus.StreamEvt, "evt.3.*", func(*jet.Stored) bool { w.t.Error("a message"); return true }); err != nil {
			w.t.Error(err)
		}
	})
}

func TestScanReadsPagesOfLargeMessages(t *testing.T) {
	inCluster(t, func(w *world) {
		text := strings.Repeat("x", 200<<10)
		for range 100 { // 20 MB, in pages of 8
			w.publish("evt.1.g", text)
		}
		seen := 0
		if err := w.conn.Scan(w.t.Context(), bus.StreamEvt, "evt.1.*", func(m *jet.Stored) bool {
			seen++
			return len(m.Data) == len(text)
		}); err != nil || seen != 100 {
			w.t.Errorf("%d messages, %v", seen, err)
		}
	})
}

func TestOnlyAnEmptySubjectHasNoMessage(t *testing.T) {
	inCluster(t, func(w *world) {
		if _, err := w.conn.Last(w.t.Context(), bus.StreamEvt, "evt.1.g"); !errors.Is(err, jet.ErrNoMessage) {
			w.t.Errorf("nothing there: %v", err)
		}
		w.publish("evt.1.g", "a")
		seq := w.publish("evt.1.g", "b")
		if m, err := w.conn.Last(w.t.Context(), bus.StreamEvt, "evt.1.g"); err != nil || m.Seq != seq || string(m.Data) != "b" {
			w.t.Errorf("%+v, %v", m, err)
		}
		if _, err := w.conn.Last(w.t.Context(), "NONE", "evt.1.g"); errors.Is(err, jet.ErrNoMessage) || !errors.Is(err, job.ErrUnavailable) {
			w.t.Errorf("no stream: %v", err)
		}
		w.broker.Stop()
		if _, err := w.conn.Last(w.t.Context(), bus.StreamEvt, "evt.1.g"); errors.Is(err, jet.ErrNoMessage) || !errors.Is(err, job.ErrUnavailable) {
			w.t.Errorf("no broker: %v", err)
		}
	})
}

func TestRemovingWhatIsGoneIsNoError(t *testing.T) {
	inCluster(t, func(w *world) {
		seq := w.publish("evt.1.g", "a")
		for range 2 {
			if err := w.conn.Remove(w.t.Context(), bus.StreamEvt, seq); err != nil {
				w.t.Error(err)
			}
		}
		if err := w.conn.Remove(w.t.Context(), bus.StreamEvt, seq+100); err != nil {
			w.t.Error(err)
		}
		if err := w.conn.Remove(w.t.Context(), "NONE", 1); !errors.Is(err, job.ErrUnavailable) {
			w.t.Errorf("no stream: %v", err)
		}
	})
}

// NATS closes a connection on which 64 MB wait to be sent, and with it whatever else that does.
func TestAFollowerAsksForNoMoreBytesAtOnceThanItsConnectionTakes(t *testing.T) {
	inCluster(t, func(w *world) {
		text := strings.Repeat("x", 200<<10)
		const n = 100 // 20 MB
		for range n {
			w.publish("evt.1.g", text)
		}
		conn := w.connect("follower")
		before := conn.NC.Stats().InBytes
		ctx, stop := context.WithCancel(w.t.Context())
		seen, done := 0, make(chan error, 1)
		slow := make(chan struct{})
		go func() {
			done <- conn.Follow(ctx, bus.StreamEvt, []string{"evt.1.>"}, 1, func(*jet.Stored) { <-slow; seen++ })
		}()
		synctest.Wait()
		if came := conn.NC.Stats().InBytes - before; came == 0 || came > 9<<20 {
			w.t.Errorf("%d bytes came at once for a follower that reads none; want some, and 9 MiB at most", came)
		}
		close(slow)
		time.Sleep(10 * time.Second)
		stop()
		if err := <-done; err != nil || seen != n {
			w.t.Errorf("%d messages, %v; want %d", seen, err, n)
		}
	})
}

func TestAFollowerReadsAMessageThatIsLargerThanAPage(t *testing.T) {
	inCluster(t, func(w *world) {
		for _, size := range []int{10, 8 << 20, 8<<20 - 1000, 8<<20 - 10, 20} {
			w.publish("$KV.JOBS.a", strings.Repeat("x", size))
			w.publish("$KV.JOBS.b", "small")
		}
		ctx, stop := context.WithCancel(w.t.Context())
		got, done := 0, make(chan error, 1)
		begun := time.Now()
		go func() {
			done <- w.conn.Follow(ctx, "KV_JOBS", []string{"$KV.JOBS.a"}, 1, func(m *jet.Stored) {
				if got++; got == 5 {
					stop()
				}
				if len(m.Data) < 10 {
					w.t.Errorf("message %d has %d bytes", m.Seq, len(m.Data))
				}
			})
		}()
		if err := <-done; err != nil || time.Since(begun) > 100*time.Millisecond {
			w.t.Errorf("%d messages after %v, %v", got, time.Since(begun), err)
		}
	})
}

// The server says when it has handed out all messages of a request that asked for bytes, too.
func TestAFollowerGoesFromPageToPageWithoutAPause(t *testing.T) {
	inCluster(t, func(w *world) {
		const n = 2500
		for i := range n {
			w.publish("evt.1.g", strconv.Itoa(i))
		}
		ctx, stop := context.WithCancel(w.t.Context())
		got, done := 0, make(chan error, 1)
		begun := time.Now()
		go func() {
			done <- w.conn.Follow(ctx, bus.StreamEvt, []string{"evt.1.>"}, 1, func(*jet.Stored) {
				if got++; got == n {
					stop()
				}
			})
		}()
		if err := <-done; err != nil || time.Since(begun) > 100*time.Millisecond {
			w.t.Errorf("%d messages after %v, %v", got, time.Since(begun), err)
		}
	})
}

// While NATS answers too late, each try makes a consumer that nobody will read.
func TestAFollowerLeavesNoConsumerOfWhichItNeverHeard(t *testing.T) {
	inCluster(t, func(w *world) {
		conn := w.connect("follower")
		ctx, stop := context.WithCancel(w.t.Context())
		done := make(chan error, 1)
		others := w.consumers()
		w.broker.Deafen("follower")
		go func() { done <- conn.Follow(ctx, bus.StreamEvt, []string{"evt.1.>"}, 1, func(*jet.Stored) {}) }()
		time.Sleep(time.Second)
		if n := w.consumers() - others; n != 1 {
			w.t.Errorf("%d consumers in the first try, want 1", n)
		}
		time.Sleep(12 * time.Second) // in the third try
		if n := w.consumers() - others; n != 1 {
			w.t.Errorf("%d consumers in the third try, want 1", n)
		}
		w.broker.Heal("follower")
		time.Sleep(time.Minute)
		if n := w.consumers() - others; n != 1 {
			w.t.Errorf("%d consumers once NATS answers, want 1", n)
		}
		stop()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
}

// consumers returns how many EVT has.
func (w *world) consumers() int {
	w.t.Helper()
	s, err := w.conn.JS.Stream(w.t.Context(), bus.StreamEvt)
	if err != nil {
		w.t.Fatal(err)
	}
	return s.CachedInfo().State.Consumers
}

func TestFollowHasNoGapThroughRestartsAndCuts(t *testing.T) {
	inCluster(t, func(w *world) {
		conn := w.connect("follower")
		ctx, stop := context.WithCancel(w.t.Context())
		var got []string
		done := make(chan error)
		go func() {
			done <- conn.Follow(ctx, bus.StreamEvt, []string{"evt.1.>"}, 3, func(m *jet.Stored) { got = append(got, string(m.Data)) })
		}()
		n := 0
		publish := func(count int) {
			for range count {
				n++
				w.publish("evt.1.g", strconv.Itoa(n))
			}
		}
		publish(700)
		time.Sleep(time.Second)
		w.restart()
		time.Sleep(time.Second)
		publish(10)
		w.broker.Partition("follower")
		publish(10)
		time.Sleep(3 * time.Minute)
		w.broker.Heal("follower")
		time.Sleep(2 * time.Second)
		publish(1)
		synctest.Wait()
		stop()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
		if len(got) != n-2 {
			w.t.Fatalf("%d messages, want %d", len(got), n-2)
		}
		for i, text := range got {
			if text != strconv.Itoa(i+3) {
				w.t.Fatalf("message %d is %s", i+3, text)
			}
		}
	})
}

func TestTheLeaderSaysWhatIsNextAndWhetherItKnows(t *testing.T) {
	inCluster(t, func(w *world) {
		for _, subject := range []string{"evt.1.g", "evt.2.g", "evt.1.g", "evt.3.g"} {
			w.publish(subject, "")
		}
		f := func(want uint64, from, known uint64, filters ...string) {
			w.t.Helper()
			if got, err := w.conn.NextSeq(w.t.Context(), bus.StreamEvt, filters, from, known); err != nil || got != want {
				w.t.Errorf("from %d on %v: %d, %v; want %d", from, filters, got, err, want)
			}
		}
		f(1, 0, 4)
		f(2, 2, 4)
		f(3, 2, 4, "evt.1.*")
		f(4, 4, 4, "evt.1.*", "evt.3.*")
		f(0, 4, 4, "evt.1.*", "evt.2.*")
		f(0, 5, 4)
		if _, err := w.conn.NextSeq(w.t.Context(), bus.StreamEvt, nil, 5, 5); !errors.Is(err, job.ErrUnavailable) {
			w.t.Errorf("a leader that does not know message 5: %v", err)
		}
		s, err := w.conn.JS.Stream(w.t.Context(), bus.StreamEvt)
		if err == nil {
			err = s.Purge(w.t.Context())
		}
		if err != nil {
			w.t.Fatal(err)
		}
		f(0, 1, 4)
	})
}

func TestAWatchThatIsStoppedUnreadLeavesNothingBehind(t *testing.T) {
	inCluster(t, func(w *world) {
		for i := range 600 {
			w.publish("$KV.JOBS.0.g.job-"+strconv.Itoa(i), "{}")
		}
		watch, err := w.conn.Jobs().Watch(w.t.Context(), true)
		if err != nil {
			w.t.Fatal(err)
		}
		synctest.Wait()
		if err := watch.Stop(); err != nil {
			w.t.Error(err)
		}
	})
}

func TestALeaderThatWasDeposedIsNotBelievedByWhoeverKnowsBetter(t *testing.T) {
	inCluster(t, func(w *world) {
		known := w.publish("evt.1.g", "")
		conn := w.connect("reader")
		seen := 0
		scan := func() error {
			seen = 0
			return conn.Read(w.t.Context(), jet.Reading{Stream: bus.StreamEvt, Filter: "evt.1.*", Known: known}, func(*jet.Stored) bool { seen++; return true })
		}
		if err := scan(); err != nil || seen != 1 {
			w.t.Errorf("%d messages, %v; want 1", seen, err)
		}
		w.broker.Depose("reader")
		if err := scan(); !errors.Is(err, job.ErrUnavailable) {
			w.t.Errorf("a server that knows of nothing: %v, want that it is not believed", err)
		}
		if _, err := conn.NextSeq(w.t.Context(), bus.StreamEvt, nil, 1, known); !errors.Is(err, job.ErrUnavailable) {
			w.t.Errorf("what comes next, by the same server: %v, want that it is not believed", err)
		}
		w.broker.Heal("reader")
		const ask = `"next_by_subj"` // the leader answers what is asked before
		w.broker.DeposeAt("reader", ask)
		if err := scan(); !errors.Is(err, job.ErrUnavailable) {
			w.t.Errorf("by turns: %v, want that it is not believed", err)
		}
		w.broker.DeposeAt("reader", ask)
		if _, err := conn.NextSeq(w.t.Context(), bus.StreamEvt, nil, 1, known); !errors.Is(err, job.ErrUnavailable) {
			w.t.Errorf("what comes next, by turns: %v, want that it is not believed", err)
		}
	})
}
