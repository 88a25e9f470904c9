package sdk_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/executor/metrics"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

func TestARunIsReportedOnceAndItsTriggerIsGone(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		w.start("a", executor.Config{}, handler(func(context.Context, *executor.Run) (any, error) {
			time.Sleep(300 * time.Millisecond)
			return map[string]int{"rows": 7}, nil
		}))
		tr := w.trigger()
		time.Sleep(time.Second)
		start := began.Add(time.Since(began).Truncate(time.Second) - time.Second)
		want := bus.EventOf(tr, bus.EventFinished, start.Add(300*time.Millisecond))
		want.Instance, want.Delivery, want.DeliveredAt, want.StartedAt, want.FinishedAt = "a", 1, start, start, want.At
		want.Status, want.Result = job.StatusSucceeded, []byte(`{"rows":7}`)
		if diff := cmp.Diff([]*bus.Event{want}, w.events()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		w.wantTriggers(0)
	})
}

func TestALongRunIsStartedAndKeptAliveUntilItEnds(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var c counter
		w.start("a", executor.Config{}, handler(c.sleeper(5*time.Minute)))
		w.start("b", executor.Config{}, handler(c.sleeper(5*time.Minute)))
		tr := w.trigger()
		time.Sleep(1300 * time.Millisecond)
		if events := w.events(); len(events) != 1 || events[0].Kind != bus.EventStarted || events[0].RunID != tr.RunID {
			t.Errorf("events after a second: %v, want one started event", events)
		}
		w.wantTriggers(1)
		time.Sleep(6 * time.Minute)
		w.wantStatus(tr.RunID, job.StatusSucceeded, "")
		if c.total() != 1 {
			t.Errorf("the run was done %d times", c.total())
		}
		w.wantTriggers(0)
	})
}

func TestEachWayToFailSaysWhatWasWrong(t *testing.T) {
	type params struct{ Day int }
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		w.start("a", executor.Config{}, func(e *executor.Executor) {
			executor.Register(e, "h", func(_ context.Context, _ *executor.Run, p params) (any, error) {
				switch p.Day {
				case 1:
					return nil, errors.New("disk full")
				case 2:
					panic("no such day")
				case 3:
					runtime.Goexit()
				case 4:
					return nil, errors.New(strings.Repeat("é", bus.MaxMessage))
				}
				return nil, nil
			})
		})
		fails := func(message string, change func(*bus.Trigger)) *bus.Event {
			t.Helper()
			id := w.trigger(change).RunID
			time.Sleep(2 * time.Second)
			w.wantStatus(id, job.StatusFailed, message)
			return w.finished(id)
		}
		params := func(p string) func(*bus.Trigger) { return func(t *bus.Trigger) { t.Params = []byte(p) } }
		fails("disk full", params(`{"Day":1}`))
		panicked := fails("panic: no such day", params(`{"Day":2}`))
		if panicked.Message != "panic: no such day" {
			t.Errorf("message %q, want the panic without its stack", panicked.Message)
		}
		var text strings.Builder
		for _, line := range w.lines(panicked.RunID) {
			text.WriteString(line.Text + "\n")
		}
		if log := text.String(); !strings.Contains(log, "goroutine ") || !strings.Contains(log, "executor_test.go:") {
			t.Errorf("the log has no stack of the panic: %s", log)
		}
		fails("without returning", params(`{"Day":3}`))
		long := fails("ééé", params(`{"Day":4}`))
		if n := len(long.Message); n > bus.MaxMessage || n < bus.MaxMessage-3 || !strings.HasSuffix(long.Message, "é…") {
			t.Errorf("a long message was cut to %d bytes, ending in %q", n, long.Message[n-8:])
		}
		fails("params of handler h: validating /properties/Day: type: monday has type \"string\", want \"integer\"", params(`{"Day":"monday"}`))
		w.wantTriggers(0)
	})
}

func TestAResultThatCannotBeKeptLeavesTheRunSucceeded(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		w.start("a", executor.Config{}, func(e *executor.Executor) {
			e.Handle("h", executor.HandlerFunc(func(context.Context, *executor.Run) (any, error) {
				return strings.Repeat("x", bus.MaxResult), nil
			}))
			e.Handle("func", executor.HandlerFunc(func(context.Context, *executor.Run) (any, error) {
				return func() {}, nil
			}))
		})
		large := w.trigger().RunID
		odd := w.trigger(func(t *bus.Trigger) { t.Task.Handler = "func" }).RunID
		time.Sleep(time.Second)
		w.wantStatus(large, job.StatusSucceeded, "the result has 65538 bytes")
		w.wantStatus(odd, job.StatusSucceeded, "unsupported type")
	})
}

func TestNoMoreRunsAtOnceThanSlots(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var c counter
		w.start("a", executor.Config{Slots: 3}, handler(c.sleeper(2*time.Second)))
		for range 10 {
			w.trigger()
		}
		time.Sleep(9 * time.Second) // ten runs of two seconds, three at a time: eight
		if c.total() != 10 || c.most != 3 {
			t.Errorf("%d runs, %d at once; want 10, and 3", c.total(), c.most)
		}
		w.wantTriggers(0)
	})
}

func TestNoMoreRunsOfAHandlerAtOnceThanItsSlots(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var limited, other counter
		w.start("a", executor.Config{}, func(e *executor.Executor) {
			e.Handle("limited", limited.sleeper(2*time.Second), executor.Slots(2))
			e.Handle("h", other.sleeper(2*time.Second))
		})
		for range 6 {
			w.trigger(func(t *bus.Trigger) { t.Task.Handler = "limited" })
			w.trigger()
		}
		time.Sleep(3 * time.Second)
		if other.total() != 6 {
			t.Errorf("%d runs of a handler without a bound have begun; want 6, beside those that wait", other.total())
		}
		time.Sleep(time.Minute)
		if limited.total() != 6 || limited.most != 2 {
			t.Errorf("%d runs, %d at once; want 6, and 2", limited.total(), limited.most)
		}
		w.wantTriggers(0)
	})
}

func TestAnOfferOfAHandlerWithoutAFreeSlotIsBusy(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorldWithoutServers(t)
		var c counter
		w.start("a", executor.Config{}, func(e *executor.Executor) { e.Handle("h", c.sleeper(time.Minute), executor.Slots(1)) })
		time.Sleep(time.Second)
		w.wantOffer("accepted 1/32")
		w.wantOffer("busy 1/32")
	})
}

func TestAFreedSlotDoesNotWaitForAPullRequestToEnd(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var c counter
		w.start("a", executor.Config{Slots: 2}, handler(c.sleeper(2*time.Second)))
		for range 5 {
			w.trigger()
			time.Sleep(time.Second) // in steady use, each slot is freed while a request waits
		}
		time.Sleep(2 * time.Second)
		if c.total() != 5 {
			t.Errorf("%d runs begun, want 5", c.total())
		}
		w.wantTriggers(0)
	})
}

func TestWhatIsNoTriggerOfTheGroupIsTerminatedAndCounted(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		registry := prometheus.NewRegistry()
		var c counter
		w.start("a", executor.Config{Observers: []executor.NewObserver{metrics.Prometheus(registry)}}, handler(c.sleeper(0)))
		for _, garbage := range []string{"", "garbage", `{"run_id":"x"}`} {
			if _, err := w.conn.JS.Publish(t.Context(), "trig.0.any.g", []byte(garbage)); err != nil {
				t.Fatal(err)
			}
		}
		w.trigger(func(t *bus.Trigger) { t.Job = "other/job" })
		w.trigger(func(t *bus.Trigger) { t.Attempt = 0 })
		good := w.trigger().RunID
		time.Sleep(time.Second)
		w.wantTriggers(0)
		w.wantStatus(good, job.StatusSucceeded, "")
		if n := metric(t, registry, "carillon_executor_triggers_rejected_total"); n != 5 || c.total() != 1 {
			t.Errorf("%v rejected, %d run; want 5 and 1", n, c.total())
		}
	})
}

func TestAnExecutorWaitsForAGroupThatIsNotKnownYet(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		if err := w.conn.JS.DeleteConsumer(t.Context(), bus.StreamTrig, bus.ConsumerAny("g")); err != nil {
			t.Fatal(err)
		}
		var c counter
		a := w.start("a", executor.Config{}, handler(c.sleeper(0)))
		tr := w.trigger()
		time.Sleep(time.Minute)
		if n := strings.Count(a.log.String(), "waiting for triggers"); n != 1 {
			t.Errorf("told %d times that it waits, want once:\n%s", n, a.log)
		}
		setup := func() {
			if err := w.conn.Groups().Setup(t.Context(), cluster.Group{Group: "g", HasRouted: true}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
		}
		setup()
		w.wantStatus(tr.RunID, job.StatusSucceeded, "")

		// Deleted and made again while requests wait at it.
		if err := w.conn.JS.DeleteConsumer(t.Context(), bus.StreamTrig, bus.ConsumerAny("g")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		tr = w.trigger()
		setup()
		w.wantStatus(tr.RunID, job.StatusSucceeded, "")
	})
}

func TestProgressIsPublishedAtMostOnceASecondAndTheLatestCounts(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		w.start("a", executor.Config{}, handler(func(_ context.Context, run *executor.Run) (any, error) {
			for i := range 100 {
				run.Progress(float64(i), "step")
				time.Sleep(100 * time.Millisecond)
			}
			return nil, nil
		}))
		w.trigger()
		time.Sleep(time.Minute)
		var kinds []bus.EventKind
		last := -1.0
		for _, e := range w.events() {
			kinds = append(kinds, e.Kind)
			if e.Kind == bus.EventProgress {
				if e.Percent < last+9 || e.Percent > last+14 || e.Text != "step" {
					t.Errorf("progress %v %q after %v", e.Percent, e.Text, last)
				}
				last = e.Percent
			}
		}
		if n := len(kinds); n < 10 || n > 12 || kinds[0] != bus.EventStarted || kinds[n-1] != bus.EventFinished {
			t.Errorf("events: %v", kinds)
		}
	})
}

func TestAnExecutorBeatsUntilItLeaves(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var c counter
		a := w.start("a", executor.Config{Slots: 4, Version: "1.2", Labels: job.Labels{"zone": "eu"}}, handler(c.sleeper(20*time.Second)))
		w.trigger()
		time.Sleep(12 * time.Second)
		entry := func() fleet.Instance {
			t.Helper()
			all, err := w.conn.Instances().FleetNow(t.Context())
			if err != nil || len(all.Instances) != 1 {
				t.Fatalf("instances: %v, %v", all.Instances, err)
			}
			return all.Instances[0]
		}
		i := entry()
		if age := time.Since(i.At); age > fleet.HeartbeatEvery {
			t.Errorf("the heartbeat is %v old", age)
		}
		if i.Load == nil || i.Load.CPUs == 0 {
			t.Errorf("the machine's load is %+v", i.Load)
		}
		i.At, i.Host, i.PID, i.Load = time.Time{}, "", 0, nil
		want := fleet.Instance{
			Group: "g", Instance: "a", State: fleet.InstanceOnline, Kinds: []string{"handler"}, Handlers: []string{"h"},
			Slots: 4, Running: 1, Labels: job.Labels{"zone": "eu"}, Zone: "eu", Protocol: fleet.Protocol, Version: "1.2", SDK: "carillon-go/0.1.0", StartedAt: i.StartedAt,
		}
		if diff := cmp.Diff(want, i); diff != "" {
			t.Errorf("instance (-want +got):\n%s", diff)
		}
		a.halt()
		time.Sleep(time.Second)
		if i := entry(); i.State != fleet.InstanceDraining || i.Running != 1 {
			t.Errorf("while stopping: state %s, running %d", i.State, i.Running)
		}
		time.Sleep(10 * time.Second)
		if all, err := w.conn.Instances().FleetNow(t.Context()); err != nil || len(all.Instances) != 0 {
			t.Errorf("instances after the stop: %v, %v", all.Instances, err)
		}
	})
}

func TestAnExecutorRefusesWhatCannotWork(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		conn := w.connect("x")
		invalid := func(cfg executor.Config, says string) {
			t.Helper()
			if _, err := executor.New(conn.Conn, cfg); !errors.Is(err, job.ErrInvalid) || !strings.Contains(err.Error(), says) {
				t.Errorf("New: %v, want an invalid %s", err, says)
			}
		}
		invalid(executor.Config{}, "executor_group")
		invalid(executor.Config{Group: "g.h"}, "executor_group")
		invalid(executor.Config{Group: "g", Instance: "A"}, "instance")
		invalid(executor.Config{Group: "g", Slots: -1}, "slots")
		invalid(executor.Config{Group: "g", Patience: -1}, "patience")
		invalid(executor.Config{Group: "g", Version: strings.Repeat("1", bus.MaxVersion+1)}, "version has 256 bytes; at most 255 are allowed")

		nop := executor.HandlerFunc(func(context.Context, *executor.Run) (any, error) { return nil, nil })
		wrong := func(says string, register func(e *executor.Executor)) {
			t.Helper()
			e, err := executor.New(conn.Conn, executor.Config{Group: "g"})
			if err != nil {
				t.Fatal(err)
			}
			register(e)
			if err := e.Run(t.Context()); !errors.Is(err, job.ErrInvalid) || !strings.Contains(err.Error(), says) {
				t.Errorf("Run: %v, want %s", err, says)
			}
		}
		wrong(`"a" is registered twice`, func(e *executor.Executor) { e.Handle("a", nop); e.Handle("a", nop) })
		wrong("makes the names of all handlers longer than the 16384 bytes", func(e *executor.Executor) {
			for n := range 100 {
				e.Handle(strconv.Itoa(n)+strings.Repeat("x", 200), nop)
			}
		})
		wrong("most of them its description and schemas; at most 32768 are allowed", func(e *executor.Executor) {
			e.Handle("a", nop, executor.Describe(strings.Repeat("x", 40000)))
		})
		wrong("1 to 255", func(e *executor.Executor) { e.Handle("", nop) })
		wrong("is nil", func(e *executor.Executor) { e.Handle("a", nil) })
		wrong(`slots 0 of handler "a" must be between 1 and`, func(e *executor.Executor) { e.Handle("a", nop, executor.Slots(0)) })
		wrong("must be one of shell, command, http, script", func(e *executor.Executor) { e.HandleKind("cobol", nop) })

		e, err := executor.New(conn.Conn, executor.Config{Group: "g"})
		if err != nil {
			t.Fatal(err)
		}
		if err := job.CheckSlug("instance", e.Instance()); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := e.Run(ctx); err != nil {
			t.Errorf("Run with a context that is done: %v", err)
		}
		if err := e.Run(ctx); err == nil {
			t.Error("the second Run did not complain")
		}
	})
}

func TestAnExecutorMayStartWhileNATSIsAway(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		conn := w.connect("a")
		synctest.Wait() // the world has its consumers
		w.broker.Stop()
		var c counter
		e, err := executor.New(conn.Conn, executor.Config{Group: "g"})
		if err != nil {
			t.Fatal(err)
		}
		e.Handle("h", c.sleeper(0))
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- e.Run(ctx) }()
		time.Sleep(10 * time.Second)
		w.broker.Start()
		time.Sleep(10 * time.Second)
		tr := w.trigger()
		time.Sleep(time.Second)
		w.wantStatus(tr.RunID, job.StatusSucceeded, "")
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}

// metric returns the sum of a counter's or gauge's series.
func metric(t *testing.T, r *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.GetMetric() {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}
