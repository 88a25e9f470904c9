package cluster_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

// batch returns a cursor that expects the given one before it, and n records.
func batch(last uint64, n int, size int) []*nats.Msg {
	cursor := bus.NewMessage(bus.SubjectCursor(1), bus.MessageCursor, []byte("{}"))
	bus.Rollup(cursor)
	bus.ExpectLast(cursor, last)
	all := []*nats.Msg{cursor}
	for range n {
		all = append(all, bus.NewMessage(bus.SubjectRecord(1), bus.MessageRecord, []byte(strings.Repeat(" ", size))))
	}
	return all
}

func TestABatchIsStoredInOrderWithoutGap(t *testing.T) {
	inCluster(t, func(w *world) {
		last := uint64(0)
		for _, n := range []int{0, 1, 999, 2} {
			first, err := w.conn.PublishBatch(w.t.Context(), batch(last, n, 10))
			if err != nil {
				w.t.Fatal(err)
			}
			m, err := w.conn.Last(w.t.Context(), bus.StreamTrig, bus.SubjectCursor(1))
			if err != nil || m.Seq != first {
				w.t.Fatalf("the cursor is at %d, want %d: %v", m.Seq, first, err)
			}
			if end, err := w.conn.LastSeq(w.t.Context(), bus.StreamTrig); err != nil || end != first+uint64(n) {
				w.t.Errorf("the batch of %d from %d ended at %d", n+1, first, end)
			}
			last = first
		}
	})
}

func TestABatchThatIsRefusedStoresNothing(t *testing.T) {
	inCluster(t, func(w *world) {
		trig, err := w.conn.Info(w.t.Context(), bus.StreamTrig)
		if err != nil {
			w.t.Fatal(err)
		}
		trig.Config.MaxBytes = 100 << 10
		if _, err := w.conn.JS.UpdateStream(w.t.Context(), trig.Config); err != nil {
			w.t.Fatal(err)
		}
		first, err := w.conn.PublishBatch(w.t.Context(), batch(0, 5, 10))
		if err != nil {
			w.t.Fatal(err)
		}
		try := func(what, kind string, msgs []*nats.Msg) {
			w.t.Helper()
			_, err := w.conn.PublishBatch(w.t.Context(), msgs)
			if refusal, ok := errors.AsType[*jet.BatchError](err); !ok || refusal.Kind() != kind {
				w.t.Errorf("%s: %v, want %s", what, err, kind)
			}
			if end, err := w.conn.LastSeq(w.t.Context(), bus.StreamTrig); err != nil || end != first+5 {
				w.t.Errorf("%s: the stream went on to %d", what, end)
			}
		}
		try("a stale cursor", "stale", batch(first+1, 5, 10))
		try("no cursor where there is one", "stale", batch(0, 5, 10))
		try("a batch for which there is no room", "full", batch(first, 200, 1000))
		if _, err := w.conn.PublishBatch(w.t.Context(), batch(first, 5, 10)); err != nil {
			w.t.Errorf("the next batch: %v", err)
		}
	})
}

func TestABatchThatNATSWouldNeverTakeIsRefusedForGood(t *testing.T) {
	inCluster(t, func(w *world) {
		try := func(what string, msgs []*nats.Msg) {
			w.t.Helper()
			_, err := w.conn.PublishBatch(w.t.Context(), msgs)
			if refusal, ok := errors.AsType[*jet.BatchError](err); !ok || !refusal.Permanent() || refusal.Kind() != "permanent" {
				w.t.Errorf("%s: %v, want a refusal for good", what, err)
			}
		}
		first := batch(0, 2, 10)
		first[1].Data = make([]byte, 9<<20)
		try("a message above max_payload", first)
		last := batch(0, 2, 10)
		last[2].Data = make([]byte, 9<<20)
		try("a last message above max_payload", last)
		try("more messages than a batch may have", batch(0, bus.MaxBatch, 10))
		if _, err := w.conn.PublishBatch(w.t.Context(), batch(0, 5, 10)); err != nil {
			w.t.Errorf("the next batch: %v", err)
		}
	})
}

func TestRequestsWaitAsLongAsTheirConnectionIsTo(t *testing.T) {
	inCluster(t, func(w *world) {
		const wait = 5 * time.Second
		for what, ask := range map[string]func(*jet.Conn) error{
			"a batch": func(c *jet.Conn) error { _, err := c.PublishBatch(w.t.Context(), batch(0, 5, 10)); return err },
			"a direct read": func(c *jet.Conn) error {
				_, err := c.DirectOnce(w.t.Context(), bus.StreamTrig, "trig.0.any.x")
				return err
			},
			"a count":  func(c *jet.Conn) error { _, err := c.Count(w.t.Context(), bus.StreamTrig, ">"); return err },
			"a stream": func(c *jet.Conn) error { _, err := c.JS.Stream(w.t.Context(), bus.StreamTrig); return err },
		} {
			conn, err := jet.Connect(jet.Config{Wait: wait, Options: []nats.Option{nats.InProcessServer(w.broker.Dialer("a"))}})
			if err != nil {
				w.t.Fatal(err)
			}
			w.broker.Deafen("a")
			asked := time.Now()
			if err := ask(conn); err == nil || time.Since(asked) != wait {
				w.t.Errorf("%s: %v after %v", what, err, time.Since(asked))
			}
			conn.NC.Close()
			w.broker.Heal("a")
		}
	})
}

func TestABatchWithoutAnswerHasAnUnknownOutcome(t *testing.T) {
	inCluster(t, func(w *world) {
		conn := w.connect("a")
		w.broker.Deafen("a")
		msgs := batch(0, 5, 10)
		asked := time.Now()
		if _, err := conn.PublishBatch(w.t.Context(), msgs); !errors.Is(err, jet.ErrBatchUnknown) {
			w.t.Errorf("a batch without an answer: %v", err)
		}
		if took := time.Since(asked); took != jet.BatchTimeout {
			w.t.Errorf("gave up after %v", took)
		}
		if end, err := w.conn.LastSeq(w.t.Context(), bus.StreamTrig); err != nil || end != 6 {
			w.t.Errorf("the stream ends at %d, %v", end, err)
		}
		w.broker.Heal("a")
		time.Sleep(time.Second)
		_, err := conn.PublishBatch(w.t.Context(), msgs)
		if refusal, ok := errors.AsType[*jet.BatchError](err); !ok || !refusal.Stale() {
			w.t.Errorf("the same batch again: %v, want stale", err)
		}
		w.broker.Stop()
		if _, err := conn.PublishBatch(w.t.Context(), msgs); !errors.Is(err, jet.ErrBatchUnknown) {
			w.t.Errorf("a batch without a broker: %v", err)
		}
	})
}
