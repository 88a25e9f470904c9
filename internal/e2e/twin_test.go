//go:build unix

package e2e

import (
	"context"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// twins are two dispatchers that have the same trigger, as when one was frozen until
// JetStream gave it to the other: each offers it to an instance of its choice.
type twins struct {
	conn      *cluster.Conn
	group     string
	instances []string
	both      int // triggers that two instances have taken
}

func newTwins(c *system, group string) (*twins, error) {
	conn, err := cluster.Connect(jet.Config{URL: c.url, Name: "twins", Options: []nats.Option{nats.Timeout(processtest.Patience)}})
	if err != nil {
		return nil, err
	}
	c.t.Cleanup(conn.NC.Close)
	w := &twins{conn: conn, group: group}
	for _, p := range c.executors {
		w.instances = append(w.instances, p.Name)
	}
	return w, nil
}

// step pulls a trigger and offers it twice. That nobody is there, or says nothing, is
// what dispatchers live with: the trigger comes again.
func (w *twins) step(ctx context.Context, r *rand.Rand) error {
	consumer, err := w.conn.JS.Consumer(ctx, bus.StreamTrig, bus.ConsumerRoute(w.group))
	if err != nil {
		return err
	}
	batch, err := consumer.Fetch(1, jetstream.FetchMaxWait(2*time.Second))
	if err != nil {
		return err
	}
	for m := range batch.Messages() {
		w.offer(ctx, m, r.Perm(len(w.instances)))
	}
	return batch.Error()
}

func (w *twins) offer(ctx context.Context, m jetstream.Msg, order []int) {
	meta, err := m.Metadata()
	if err != nil || meta.NumDelivered > 1 {
		_ = m.Nak() // somebody may have begun it
		return
	}
	header := bus.RunRequest(&nats.Msg{Reply: m.Reply(), Header: m.Headers()}, "", false)
	var taken [2]bool
	var asking sync.WaitGroup
	for i := range taken {
		asking.Go(func() {
			beat, err := w.conn.Instances().Heartbeat(ctx, w.group, w.instances[order[i]])
			if err != nil {
				return // it is as good as gone
			}
			reply, err := w.conn.AskInstance(ctx, beat.Address(), bus.VerbRun, maps.Clone(header), m.Data(), 2*time.Second)
			taken[i] = err == nil && reply.Answer == fleet.AnswerAccepted
		})
	}
	asking.Wait()
	if taken[0] && taken[1] {
		w.both++
	}
}
