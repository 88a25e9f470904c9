package sdk_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// offer publishes a routed trigger, takes it as a dispatcher would, and offers it to
// instance a. It returns the answer.
func (w *world) offer(change ...func(*bus.Trigger)) string {
	w.t.Helper()
	routed := func(t *bus.Trigger) { t.Route = job.RouteFirst }
	w.trigger(append(change, routed)...)
	c, err := w.conn.JS.Consumer(w.t.Context(), bus.StreamTrig, bus.ConsumerRoute("g"))
	if err != nil {
		w.t.Fatal(err)
	}
	m, err := c.Next()
	if err != nil {
		w.t.Fatal(err)
	}
	header := bus.RunRequest(&nats.Msg{Reply: m.Reply(), Header: m.Headers()}, "", false)
	reply, err := w.conn.AskInstance(w.t.Context(), w.address("a"), bus.VerbRun, header, m.Data(), time.Second)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s %d/%d", reply.Answer, reply.Running, reply.Slots)
}

func (w *world) wantOffer(want string, change ...func(*bus.Trigger)) {
	w.t.Helper()
	if got := w.offer(change...); got != want {
		w.t.Errorf("answer %q, want %q", got, want)
	}
}

func TestPulledAndRoutedRunsShareTheSlots(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorldWithoutServers(t)
		var c counter
		a := w.start("a", executor.Config{Slots: 2}, handler(c.sleeper(time.Minute)))
		w.trigger()
		time.Sleep(time.Second)
		w.wantOffer("accepted 2/2")
		w.wantOffer("busy 2/2")
		if err := a.SetSlots(3); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		w.wantOffer("accepted 3/3")
		if err := a.SetSlots(1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		w.wantOffer("busy 3/1") // what runs goes on
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.most != 3 {
			t.Errorf("%d at once, want 3", c.most)
		}
		for _, n := range []int{0, -1, executor.MaxSlots + 1} {
			if err := a.SetSlots(n); !errors.Is(err, job.ErrInvalid) {
				t.Errorf("%d slots: %v", n, err)
			}
		}
		if err := a.SetLabels(job.Labels{"Zone": "eu"}); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("labels: %v", err)
		}
	})
}

func TestATriggerWhoseSlotARoutedRunTookGoesToAnotherInstance(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorldWithoutServers(t)
		var a, b counter
		w.start("a", executor.Config{Slots: 1}, handler(a.sleeper(time.Hour)))
		time.Sleep(time.Second) // a has asked for one trigger by now
		w.wantOffer("accepted 1/1")
		tr := w.trigger()
		w.dispatcher()
		w.start("b", executor.Config{Slots: 1}, handler(b.sleeper(time.Second)))
		time.Sleep(25 * time.Second)
		if e := w.finished(tr.RunID); e.Instance != "b" {
			t.Errorf("done by %s", e.Instance)
		}
	})
}

func TestAnInstanceSaysWhatItCannotDo(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var c counter
		w.start("a", executor.Config{}, handler(c.sleeper(time.Second)))
		w.wantOffer("unknown_handler 0/32", func(t *bus.Trigger) { t.Task.Handler = "x" })
		w.wantOffer("unknown_kind 0/32", func(t *bus.Trigger) { t.Task = job.Task{Shell: "true"} })
		if _, err := w.conn.AskInstance(t.Context(), w.address("a"), "dance", nil, nil, time.Second); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("an unknown request: %v", err)
		}
		if _, err := w.conn.AskInstance(t.Context(), w.address("a"), bus.VerbRun, nil, []byte("{"), time.Second); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("no trigger: %v", err)
		}
	})
}

func TestADrainWithALimitGivesBackWhatStillRunsThen(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var a, b, c counter
		first := w.start("a", executor.Config{Slots: 4, Grace: time.Hour}, handler(a.sleeper(time.Hour)))
		long := w.trigger()
		once := w.trigger(func(t *bus.Trigger) { t.Delivery = job.AtMostOnce })
		time.Sleep(time.Second)
		drain := func(body string) *fleet.InstanceReply {
			t.Helper()
			reply, err := w.conn.AskInstance(t.Context(), w.address("a"), bus.VerbDrain, nil, []byte(body), time.Second)
			if err != nil {
				t.Fatal(err)
			}
			return reply
		}
		for _, bad := range []string{`{"within":"-5s"}`, `{"within":"8d"}`, `{"within":1}`} {
			if _, err := w.conn.AskInstance(t.Context(), w.address("a"), bus.VerbDrain, nil, []byte(bad), time.Second); !errors.Is(err, job.ErrInvalid) {
				t.Errorf("drain %s: %v", bad, err)
			}
		}
		second := w.start("b", executor.Config{Slots: 4}, handler(b.sleeper(time.Second)))

		asked := time.Now()
		if got := drain(`{"within":"1m"}`); !got.DrainBy.Equal(asked.Add(time.Minute)) || got.State != fleet.InstanceDraining {
			t.Errorf("drained within a minute, asked at %s: %+v", asked, got)
		}
		time.Sleep(30 * time.Second)
		if got := drain(`{"within":"10m"}`); !got.DrainBy.Equal(time.Now().Add(10 * time.Minute)) {
			t.Errorf("given more time: %+v", got)
		}
		time.Sleep(9 * time.Minute) // longer than at first
		all, err := w.conn.Instances().List(t.Context())
		at := slices.IndexFunc(all, func(i fleet.Instance) bool { return i.Instance == "a" })
		if err != nil || at < 0 || !all[at].DrainBy.Equal(asked.Add(10*time.Minute+30*time.Second)) || all[at].Running != 2 {
			t.Errorf("instances before the end: %+v, %v", all, err)
		}
		time.Sleep(2 * time.Minute) // the limit, not Grace, which is an hour
		<-first.over
		if e := w.finished(long.RunID); e.Instance != "b" || e.Status != job.StatusSucceeded || e.Attempt != 1 {
			t.Errorf("what was given back ended %+v", e)
		}
		if e := w.finished(once.RunID); e.Instance != "a" || e.Status != job.StatusLost {
			t.Errorf("at_most_once ended %+v", e)
		}

		// Without a limit, and with one that is taken away, it waits.
		w.start("c", executor.Config{Slots: 1}, handler(c.sleeper(2*time.Hour)))
		second.stop()
		time.Sleep(time.Second)
		last := w.trigger()
		time.Sleep(time.Second)
		for _, body := range []string{`{"within":"1m"}`, ``} {
			if _, err := w.conn.AskInstance(t.Context(), w.address("c"), bus.VerbDrain, nil, []byte(body), time.Second); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(3 * time.Hour)
		if e := w.finished(last.RunID); e.Instance != "c" || e.Status != job.StatusSucceeded {
			t.Errorf("without a limit it ended %+v", e)
		}
	})
}

// Whoever asks all instances that may have a run reads their heartbeats.
func TestNothingIsPulledBeforeTheHeartbeatIsStored(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		full := func(maxBytes int64) {
			t.Helper()
			w.change("KV_"+bus.BucketInst, func(cfg *jetstream.StreamConfig) { cfg.MaxBytes = maxBytes })
		}
		full(1)
		var c counter
		w.start("a", executor.Config{}, handler(c.sleeper(time.Minute)))
		tr := w.trigger()
		time.Sleep(20 * time.Second)
		if _, err := w.conn.Instances().Heartbeat(t.Context(), "g", "a"); !errors.Is(err, job.ErrNotFound) || c.total() != 0 {
			t.Fatalf("%d runs while nobody knows the instance; %v", c.total(), err)
		}
		full(-1)
		time.Sleep(2 * time.Second)
		if who := w.kill(tr.RunID); who != "a" {
			t.Errorf("%q ended the run, want a", who)
		}

		// It was cut off for so long that its heartbeat was forgotten.
		w.broker.Partition("a")
		time.Sleep(fleet.InstanceShown + time.Minute)
		full(1)
		begun := c.total()
		tr = w.trigger()
		w.broker.Heal("a")
		time.Sleep(time.Minute)
		if _, err := w.conn.Instances().Heartbeat(t.Context(), "g", "a"); !errors.Is(err, job.ErrNotFound) || c.total() != begun {
			t.Fatalf("%d more runs while nobody knows the instance; %v", c.total()-begun, err)
		}
		full(-1)
		time.Sleep(2 * time.Second)
		if who := w.kill(tr.RunID); who != "a" {
			t.Errorf("%q ended the run, want a", who)
		}
	})
}

func TestRequestsAreAnsweredThoughEventsOfManyRunsAreNotAcknowledged(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		const slots = 1300
		w := newWorld(t)
		var c counter
		a := w.start("a", executor.Config{Slots: 1}, handler(c.sleeper(time.Hour)))
		if err := a.SetSlots(slots); err != nil {
			t.Fatal(err)
		}
		w.change(bus.StreamEvt, func(cfg *jetstream.StreamConfig) { cfg.NoAck = true })
		var last *bus.Trigger
		for range slots {
			last = w.trigger()
		}
		time.Sleep(5 * time.Second)
		if c.total() != slots {
			t.Fatalf("%d runs, want %d", c.total(), slots)
		}
		if who := w.kill(last.RunID); who != "a" {
			t.Errorf("%q ended the run, want a", who)
		}
	})
}
