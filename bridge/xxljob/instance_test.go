package xxljob

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/bustest"
	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/bus/recent"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// Requests are answered before the instance looks after its runs: one that comes in between must not be
// taken for one that was taken over.
func TestARunThatComesWhileItsInstanceBeginsIsCarriedOnce(t *testing.T) {
	bustest.Run(t, now, func(t *testing.T) {
		broker := bustest.NewBroker(t)
		conn, err := cluster.Connect(jet.Config{Options: []nats.Option{nats.InProcessServer(broker.Dialer("test"))}})
		check(t, err)
		t.Cleanup(conn.NC.Close)
		check(t, conn.Setup(t.Context(), cluster.Assets{Shards: 1}))
		b, err := New(conn.Conn, Config{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("connection refused") }})
		check(t, err)
		b.work = &errgroup.Group{}
		is := state.Instance{Group: "g", Instance: "i", Holder: b.id, Address: "http://10.0.0.1:9999", Secret: bus.NewControlSecret()}
		revision, err := b.store.PutInstance(t.Context(), &is, 0)
		check(t, err)
		ctx, cancel := context.WithCancelCause(t.Context())
		g := &group{b: b, name: "g", log: b.log, killed: recent.New[bus.AttemptRef](killedFor, maxKilled), done: recent.New[bus.AttemptRef](doneFor, maxDone), holders: map[bus.AttemptRef]*instance{}, changed: make(chan struct{}, 1)}
		i := newInstance(b, g, is, revision, cancel)
		answers := make(chan string, 10)
		_, err = conn.NC.Subscribe("ack", func(m *nats.Msg) { answers <- string(m.Data) })
		check(t, err)
		o := &offer{ack: "ack", delivery: 1, trigger: &bus.Trigger{RunID: job.NewRunID(now), Job: "g/j", Attempt: 1, TriggerBody: bus.TriggerBody{Task: job.Task{Handler: "h"}}}}
		if answer, _ := i.accept(o); answer != fleet.AnswerAccepted {
			t.Fatalf("the run is %s", answer)
		}
		var running sync.WaitGroup
		running.Go(func() { i.run(ctx) })
		time.Sleep(3 * time.Second)
		cancel(errLeft)
		running.Wait()
		check(t, b.work.Wait())
		if n := len(answers); n != 1 {
			t.Fatalf("its trigger was answered %d times", n)
		}
		if answer := <-answers; !strings.HasPrefix(answer, "-NAK") { // its executor cannot be reached
			t.Errorf("its trigger was answered %q", answer)
		}
	})
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
