package scheduler_test

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
)

// A NATS server that was cut off may believe for a moment that it still leads the stream of triggers,
// and lacks what was stored meanwhile.

// turncoat is a way to the broker that calls turn before the client asks for something for the first time.
type turncoat struct {
	nats.InProcessConnProvider
	asks []byte
	turn func()
}

func (t *turncoat) InProcessConn() (net.Conn, error) {
	c, err := t.InProcessConnProvider.InProcessConn()
	return turnConn{c, t}, err
}

type turnConn struct {
	net.Conn
	t *turncoat
}

func (c turnConn) Write(p []byte) (int, error) {
	if bytes.Contains(p, c.t.asks) {
		c.t.turn()
	}
	return c.Conn.Write(p)
}

func TestATakeoverForgetsNoRunThoughADeposedLeaderDoesNotHaveIt(t *testing.T) {
	runAt(t, start, 1, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{}, func(j *job.Job) { j.Overlap.Policy = job.OverlapQueue })
		time.Sleep(10 * time.Second)
		for range 2 { // one that waits for an executor, and one for that
			if _, err := w.trigger(job.NewRunID(time.Now()), "g/a"); err != nil {
				w.t.Fatal(err)
			}
		}
		w.killNode("a")
		way := &turncoat{InProcessConnProvider: w.broker.Dialer("b"), asks: []byte(`"next_by_subj":"defer.`)}
		way.turn = sync.OnceFunc(func() { w.broker.Depose("b") })
		conn := w.connectBy("b", way)
		if err := conn.Open(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		w.startNodeOn("b", conn)
		time.Sleep(15 * time.Second)
		w.broker.Heal("b")
		w.execute(time.Second)
		time.Sleep(time.Minute)
		if n := len(w.ends()); n != 2 {
			w.t.Errorf("%d runs have ended, want 2", n)
		}
		w.wantNothingLeft()
	})
}

func TestARunIsNotCancelledInNameOnlyThoughADeposedLeaderDoesNotHaveIt(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{})
		time.Sleep(10 * time.Second)
		id := job.NewRunID(time.Now())
		if _, err := w.trigger(id, "g/a"); err != nil {
			w.t.Fatal(err)
		}
		w.broker.Depose("a")
		if _, err := w.cancel(id); !errors.Is(err, job.ErrUnavailable) {
			w.t.Errorf("%v; want that the run is not known to be gone", err)
		}
		w.broker.Heal("a")
		if _, err := w.cancel(id); err != nil {
			w.t.Error(err)
		}
		if ids := w.triggers(); len(ids) != 0 {
			w.t.Errorf("triggers are left: %v", ids)
		}
	})
}
