package audit

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job/trail"
)

// world is an audit log on a bus, in a bubble.
type world struct {
	*testing.T
	broker *bustest.Broker
	log    *Log
}

func inBubble(t *testing.T, f func(w *world)) {
	t.Helper()
	bustest.Run(t, time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC), func(t *testing.T) {
		w := &world{T: t, broker: bustest.NewBroker(t)}
		conn := clustertest.Setup(t, w.broker, "api", 1)
		w.log = New(conn, nil)
		f(w)
	})
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// run runs the log for a while.
func (w *world) run(d time.Duration) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), d)
	defer cancel()
	w.check(w.log.Run(ctx))
}

func (w *world) begin(object string) *trail.Entry {
	w.Helper()
	e := &trail.Entry{User: "ann", Operation: "putJob", Object: object, Result: trail.Unknown}
	w.check(w.log.Begin(w.Context(), e))
	return e
}

// want checks what the log has, the oldest first.
func (w *world) want(entries ...string) {
	w.Helper()
	page, _, err := w.log.Find(w.Context(), Filter{}, 0, 1000)
	w.check(err)
	var got []string
	for i := range page {
		e := page[len(page)-1-i]
		got = append(got, e.Object+" "+string(e.Result))
	}
	if fmt.Sprint(got) != fmt.Sprint(entries) {
		w.Errorf("the log has %v, want %v", got, entries)
	}
}

func TestAChangeWhoseServerDiedIsRecordedOnceAsUnknown(t *testing.T) {
	inBubble(t, func(w *world) {
		done := w.begin("a")
		w.begin("b") // and no more is heard of it
		dropped := w.begin("c")
		done.Result = trail.Done
		w.log.End(w.Context(), done)
		w.log.Drop(w.Context(), dropped)
		w.want("a done")
		w.run(time.Minute + time.Second) // it may still be under way
		w.want("a done")
		other := New(w.log.conn, nil)
		time.Sleep(settleAfter)
		w.check(other.settle(w.Context(), time.Now().Add(-settleAfter)))
		w.run(5 * time.Minute)
		w.want("a done", "b unknown")
	})
}

// A server that dies between the entry and the end of its intent leaves both.
func TestAnEntryThatIsSettledAgainIsStoredOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		e := w.begin("a")
		kv, err := w.log.bucket(w.Context())
		w.check(err)
		intent, err := kv.Get(w.Context(), prefix+e.ID)
		w.check(err)
		e.Result = trail.Done
		w.log.End(w.Context(), e)
		_, err = kv.Put(w.Context(), prefix+e.ID, intent.Value())
		w.check(err)
		w.run(10 * time.Minute)
		w.want("a done")
	})
}

func TestAnEntryIsStoredLateWhenTheBusWasAway(t *testing.T) {
	inBubble(t, func(w *world) {
		e := w.begin("a")
		w.broker.Stop()
		e.Result = trail.Done
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		w.log.End(ctx, e)
		w.broker.Start()
		w.run(10 * time.Minute)
		w.want("a done")
	})
}

func TestFindGoesBackThroughALongLog(t *testing.T) {
	inBubble(t, func(w *world) {
		const n = 1203
		for i := range n {
			e := w.begin(fmt.Sprintf("job billing/%d", i))
			e.Result = trail.Done
			w.log.End(w.Context(), e)
		}
		var got []trail.Entry
		for before := uint64(0); ; {
			page, next, err := w.log.Find(w.Context(), Filter{}, before, 100)
			w.check(err)
			got = append(got, page...)
			if before = next; next == 0 {
				break
			}
		}
		if len(got) != n || got[0].Object != fmt.Sprintf("job billing/%d", n-1) || got[n-1].Object != "job billing/0" {
			w.Errorf("%d entries of %d", len(got), n)
		}
		page, _, err := w.log.Find(w.Context(), Filter{Object: "billing/77"}, 0, 100)
		w.check(err)
		if len(page) != 11 { // 77 and 770 to 779
			w.Errorf("%d entries", len(page))
		}
	})
}

// A killed NATS finds again what a deletion has hidden that was forgotten before.
func TestAnEntryIsStoredOnceThoughNATSIsKilledLater(t *testing.T) {
	inBubble(t, func(w *world) {
		kv, err := w.log.bucket(w.Context())
		w.check(err)
		put := func() {
			_, err := kv.Put(w.Context(), "user.ann", nil)
			w.check(err)
		}
		put() // so that the file is kept
		e := w.begin("a")
		e.Result = trail.Done
		w.log.End(w.Context(), e)
		time.Sleep(2 * time.Hour)
		put() // so that NATS reads the file: its index does not have this
		w.broker.Kill()
		w.broker.Start()
		w.run(2 * settleEvery)
		w.want("a done")
	})
}
