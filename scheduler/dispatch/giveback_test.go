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
// times in all. Then it accepts no more and leaves; gone is closed once it has left.
func (w *world) giveBackAtOnce(times int) (gone <-chan struct{}) {
	w.t.Helper()
	conn := w.connect("a")
	beat := bus.Heartbeat{ControlSecret: bus.NewControlSecret(), Instance: fleet.Instance{
		Group: "g", Instance: "a", State: fleet.InstanceOnline, Kinds: []string{job.KindHandler}, Handlers: []string{"h"}, Slots: 100, Protocol: fleet.Protocol,
	}}
	key := "$KV." + bus.BucketInst + "." + beat.Key()
	ctx, leave := context.WithCancel(w.t.Context())
	given := 0 // of the subscription, whose messages come one by one
	if _, err := conn.NC.Subscribe(beat.Address().Subject("*"), func(m *nats.Msg) {
		reply := fleet.InstanceReply{Instance: "a", Answer: fleet.AnswerAccepted, State: fleet.InstanceOnline, Slots: 100}
		if beat.Address().Verb(m.Subject) == bus.VerbAttempts {
			reply.Attempts = []fleet.Custody{fleet.CustodyNone}
		}
		if given == times {
			reply.Answer, reply.State = fleet.AnswerDraining, fleet.InstanceDraining
		}
		if err := bus.Respond(m, reply, nil); err != nil && ctx.Err() == nil {
			w.t.Error(err)
		}
		ack := m.Header.Get(bus.HeaderAck)
		if ack == "" || given == times {
			return
		}
		_ = conn.NC.Publish(ack, []byte("-NAK"))
		if given++; given == times {
			leave()
		}
	}); err != nil {
		w.t.Fatal(err)
	}
	data, err := json.Marshal(beat)
	if err != nil {
		w.t.Fatal(err)
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
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
		time.Sleep(time.Second) // in which it answers what is on its way to it
	}()
	w.t.Cleanup(func() { leave(); <-left })
	return left
}

// JetStream may tell of it only after the next delivery, while servers judge who has the attempt.
func TestWhoGivesAnAttemptBackAtOnceHasNotDied(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("n1")
		time.Sleep(20 * time.Second)
		gone := w.giveBackAtOnce(300)
		time.Sleep(time.Second)
		tr := w.trigger(job.RouteFirst)
		select {
		case <-gone: // each may have cost backWait
		case <-time.After(10 * time.Minute):
			t.Fatalf("not given back as often as it was to be: %q", w.told(tr))
		}
		time.Sleep(10 * time.Second)
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
