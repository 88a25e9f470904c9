package dispatch_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// giveBackAtOnce is instance "a" of another make: it accepts attempts and gives each back at once, so many
// times in all. Then it leaves.
func (w *world) giveBackAtOnce(times int64) *atomic.Int64 {
	w.t.Helper()
	conn := w.connect("a")
	beat := bus.Heartbeat{ControlSecret: bus.NewControlSecret(), Instance: fleet.Instance{
		Group: "g", Instance: "a", State: fleet.InstanceOnline, Kinds: []string{job.KindHandler}, Handlers: []string{"h"}, Slots: 100, Protocol: fleet.Protocol,
	}}
	key := "$KV." + bus.BucketInst + "." + beat.Key()
	ctx, leave := context.WithCancel(w.t.Context())
	given := &atomic.Int64{}
	if _, err := conn.NC.Subscribe(beat.Address().Subject("*"), func(m *nats.Msg) {
		reply := fleet.InstanceReply{Instance: "a", Answer: fleet.AnswerAccepted, State: fleet.InstanceOnline, Slots: 100}
		if beat.Address().Verb(m.Subject) == bus.VerbAttempts {
			reply.Attempts = []fleet.Custody{fleet.CustodyNone}
		}
		if err := bus.Respond(m, reply, nil); err != nil {
			w.t.Error(err)
		}
		ack := m.Header.Get(bus.HeaderAck)
		if ack == "" {
			return
		}
		if given.Add(1) == times {
			leave()
		}
		_ = conn.NC.Publish(ack, []byte("-NAK"))
	}); err != nil {
		w.t.Fatal(err)
	}
	data, err := json.Marshal(beat)
	if err != nil {
		w.t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		defer conn.NC.Close()
		tick := time.NewTicker(fleet.HeartbeatEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			if err := conn.NC.Publish(key, data); err != nil {
				w.t.Error(err)
			}
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
		_ = conn.NC.PublishMsg(&nats.Msg{Subject: key, Header: nats.Header{"KV-Operation": {"DEL"}}})
		_ = conn.NC.Flush()
	}()
	w.t.Cleanup(func() { leave(); <-gone })
	return given
}

// JetStream may tell of it only after the next delivery, while servers judge who has the attempt.
func TestWhoGivesAnAttemptBackAtOnceHasNotDied(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("n1")
		time.Sleep(20 * time.Second)
		const times = 300
		given := w.giveBackAtOnce(times)
		time.Sleep(time.Second)
		tr := w.trigger(job.RouteFirst)
		time.Sleep(10 * time.Second)
		if n := given.Load(); n != times {
			t.Errorf("given back %d times, want %d", n, times)
		}
		w.executor("b", time.Second)
		time.Sleep(20 * time.Second)
		w.wantBegan("b job")
		w.wantTriggers(0)
		for _, told := range w.told(tr) {
			t.Log(told)
		}
	})
}

// givenBack counts what is given back from now on.
func (w *world) givenBack() *atomic.Int64 {
	w.t.Helper()
	n := &atomic.Int64{}
	for _, stream := range w.conn.Trigs() {
		if _, err := w.conn.NC.Subscribe(bus.NakAdvisories(stream), func(*nats.Msg) { n.Add(1) }); err != nil {
			w.t.Fatal(err)
		}
	}
	return n
}

func TestADeathCountsThoughAnotherHasGivenTheAttemptBackSince(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("n1")
		a := w.executor("a", time.Hour)
		time.Sleep(time.Second)
		tr := w.pulled()
		time.Sleep(time.Second)
		w.wantBegan("a job")
		a.die()
		p := w.conn.NewPuller(1, slog.New(slog.DiscardHandler), bus.Consumer{Stream: bus.StreamTrig, Consumer: bus.ConsumerAny("g")})
		p.Ask(1)
		for m := range p.Inbox() {
			if p.Receive(m) {
				_ = w.conn.NC.Publish(m.Reply, []byte(bus.NakAfter(time.Second)))
				break
			}
		}
		p.Release()
		w.executor("b", 5*time.Second)
		time.Sleep(time.Minute)
		w.wantTold(tr, "started a", "held a instance a died or was cut off while it had this: delivery 1", "started b", "finished succeeded b")
		w.wantTriggers(0)
	})
}
