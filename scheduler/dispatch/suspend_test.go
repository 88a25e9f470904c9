package dispatch_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// spinMost ends a client that would go on for ever, without any time passing.
const spinMost = 50_000

// spinner is a client of another make, which gives back at once all that it gets.
type spinner struct {
	n    atomic.Int64 // deliveries
	stop func()
}

// pullAndGiveBack runs a spinner that pulls.
func (w *world) pullAndGiveBack() *spinner {
	w.t.Helper()
	s := &spinner{}
	conn := w.connect("x")
	ctx, cancel := context.WithCancel(w.t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		p := conn.NewPuller(8, slog.New(slog.DiscardHandler), bus.Consumer{Stream: bus.StreamTrig, Consumer: bus.ConsumerAny("g")})
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for s.n.Load() < spinMost {
			p.Ask(8)
			select {
			case <-ctx.Done():
				return
			case m := <-p.Inbox():
				if p.Take(m) {
					s.n.Add(1)
					_ = conn.NC.Publish(m.Reply, []byte("-NAK"))
				}
			case now := <-tick.C:
				p.Look(now)
			}
		}
	}()
	s.stop = func() { cancel(); <-over; conn.NC.Close() }
	w.t.Cleanup(s.stop)
	return s
}

// acceptAndGiveBack runs a spinner that is the instance "a", accepts runs, and gives them back.
func (w *world) acceptAndGiveBack() *spinner {
	w.t.Helper()
	s := &spinner{}
	conn := w.connect("a")
	beat := bus.Heartbeat{ControlSecret: bus.NewControlSecret(), Instance: fleet.Instance{
		Group: "g", Instance: "a", State: fleet.InstanceOnline, Kinds: []string{job.KindHandler}, Handlers: []string{"h"}, Slots: 100, Protocol: fleet.Protocol,
	}}
	sub, err := conn.NC.Subscribe(beat.Address().Subject("*"), func(m *nats.Msg) {
		reply := fleet.InstanceReply{Instance: "a", Answer: fleet.AnswerAccepted, State: fleet.InstanceOnline, Slots: 100}
		if beat.Address().Verb(m.Subject) == bus.VerbAttempts {
			reply.Attempts = []fleet.Custody{fleet.CustodyNone}
		}
		if err := bus.Respond(m, reply, nil); err != nil {
			w.t.Error(err)
		}
		if ack := m.Header.Get(bus.HeaderAck); ack != "" && s.n.Add(1) < spinMost {
			_ = conn.NC.Publish(ack, []byte("-NAK"))
		}
	})
	if err != nil {
		w.t.Fatal(err)
	}
	data, err := json.Marshal(beat)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(fleet.HeartbeatEvery)
		defer tick.Stop()
		for {
			if err := conn.NC.Publish("$KV."+bus.BucketInst+"."+beat.Key(), data); err != nil {
				w.t.Error(err)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	s.stop = func() { cancel(); <-over; _ = sub.Unsubscribe(); conn.NC.Close() }
	w.t.Cleanup(s.stop)
	synctest.Wait()
	return s
}

// suspended returns what is suspended, as "group/instance".
func (w *world) suspended() string {
	w.t.Helper()
	list, err := w.conn.Suspensions(w.t.Context(), time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, s := range list {
		all = append(all, s.Group+"/"+s.Instance)
	}
	return strings.Join(all, ", ")
}

// wantGivenBackHandedOver has somebody give back all that executors pull, and checks that executor "b"
// gets it from a dispatcher.
func (w *world) wantGivenBackHandedOver() *spinner {
	w.t.Helper()
	time.Sleep(20 * time.Second) // who lives is known
	w.executor("b", time.Second)
	s := w.pullAndGiveBack()
	const runs = 40
	for range runs {
		w.trigger("")
	}
	time.Sleep(time.Minute - time.Second)
	if got := strings.Count(w.began(), "b "); got != runs {
		w.t.Errorf("%d runs began, want %d", got, runs)
	}
	w.wantTriggers(0)
	if n := s.n.Load(); n == 0 || n > 50*runs {
		w.t.Errorf("%d deliveries to the one that gives them back", n)
	}
	if got := w.suspended(); got != "g/" {
		w.t.Errorf("suspended: %q", got)
	}
	return s
}

func TestTriggersThatAPullerGivesBackAtOnceAreHandedToOthers(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("n1")
		w.dispatcher("n2")
		s := w.wantGivenBackHandedOver()

		s.stop()
		time.Sleep(2 * time.Minute)
		if got := w.suspended(); got != "" {
			w.t.Errorf("suspended, though nothing is given back any more: %q", got)
		}
		w.trigger("")
		time.Sleep(5 * time.Second)
		if got := w.began(); got != "b job" {
			w.t.Errorf("afterwards began %q", got)
		}
	})
}

func TestAnInstanceThatGivesBackWhatItIsHandedIsSuspendedForLongerEachTime(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("n1")
		time.Sleep(20 * time.Second)
		s := w.acceptAndGiveBack()
		w.trigger(job.RouteFirst)
		time.Sleep(10 * time.Second)
		if got := w.suspended(); got != "g/a" {
			w.t.Fatalf("suspended: %q", got)
		}
		alone := s.n.Load()
		if alone > 100 {
			w.t.Errorf("%d deliveries while it was alone", alone)
		}
		instances, err := w.conn.Instances(w.t.Context())
		if err != nil || len(instances) != 1 || instances[0].State != fleet.InstanceSuspended || !strings.Contains(string(instances[0].Reason), "suspended until 2026-01-05T02:01:") {
			w.t.Errorf("%+v, %v", instances, err)
		}
		w.executor("b", time.Second)
		time.Sleep(20 * time.Second)
		w.wantBegan("b job")
		w.wantTriggers(0)

		time.Sleep(time.Minute) // it is over, and begins again
		w.trigger(job.RouteFirst)
		time.Sleep(10 * time.Second)
		list, err := w.conn.Suspensions(w.t.Context(), time.Now())
		if err != nil || len(list) != 1 || list[0].Until.Sub(list[0].Since) != 2*time.Minute {
			w.t.Errorf("%+v, %v", list, err)
		}
		w.wantBegan("b job")
		s.stop()
	})
}

// An executor that stops gives back all that it has.
func TestAnInstanceThatLeavesIsNotSuspended(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("n1")
		a := w.executor("a", time.Hour, func(c *executor.Config) { c.Slots = 50 })
		w.executor("b", time.Hour)
		for range 50 {
			w.trigger(job.RouteFirst)
		}
		time.Sleep(5 * time.Second)
		if got := strings.Count(w.began(), "a "); got != 50 {
			w.t.Fatalf("%d runs began", got)
		}
		a.stop()
		time.Sleep(5 * time.Second)
		if got := w.suspended(); got != "" {
			w.t.Errorf("suspended: %q", got)
		}
	})
}
