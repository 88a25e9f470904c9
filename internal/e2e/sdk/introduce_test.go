package sdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// second starts another executor of the name "a", and returns what ends it and what it ends with.
func (w *world) second(c *counter) (stop func(), ended <-chan error) {
	w.t.Helper()
	return w.secondLogging(c, io.Discard)
}

// secondLogging is second with a writer for what the executor logs.
func (w *world) secondLogging(c *counter, log io.Writer) (stop func(), ended <-chan error) {
	w.t.Helper()
	e, err := executor.New(w.opened("second a").Conn, executor.Config{Group: "g", Instance: "a", Grace: -1, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		w.t.Fatal(err)
	}
	e.Handle("h", c.sleeper(time.Second))
	ctx, stop := context.WithCancel(w.t.Context())
	end, over := make(chan error, 1), make(chan struct{})
	go func() { defer close(over); end <- e.Run(ctx) }()
	w.t.Cleanup(func() { stop(); <-over })
	return stop, end
}

// killed leaves the heartbeat of an executor "a" that has ended without a word.
func (w *world) killed(c *counter) {
	w.t.Helper()
	conn := w.opened("a")
	a := w.startOn(conn, "a", executor.Config{Grace: -1, Patience: time.Second}, handler(c.sleeper(time.Second)))
	time.Sleep(3 * time.Second)
	conn.NC.Close() // it can say nothing any more
	a.stop()
}

// secret returns the control secret of the instance whose heartbeat stands under the name "a".
func (w *world) secret() string {
	w.t.Helper()
	beat, err := w.conn.Instances().Heartbeat(w.t.Context(), "g", "a")
	if err != nil {
		w.t.Fatal(err)
	}
	return beat.ControlSecret
}

func TestAnExecutorWhoseNameIsTakenStopsAndSaysByWhom(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, first, other := newWorld(t), &counter{}, &counter{}
		w.start("a", executor.Config{}, handler(first.sleeper(time.Second)))
		time.Sleep(3 * time.Second)
		secret := w.secret()
		var log bytes.Buffer
		_, ended := w.secondLogging(other, &log)
		select {
		case err := <-ended:
			if strings.Contains(log.String(), "executor started") {
				t.Errorf("it claims to have started: %s", log.String())
			}
			if !errors.Is(err, job.ErrConflict) || !strings.Contains(err.Error(), "instance a of group g runs already, on host ") || !strings.Contains(err.Error(), "--instance") {
				t.Errorf("error %v", err)
			}
		case <-time.After(8 * time.Second):
			t.Error("it goes on")
		}
		time.Sleep(20 * time.Second)
		if w.secret() != secret {
			t.Error("the heartbeat is not of the first one any more")
		}
		w.trigger()
		time.Sleep(5 * time.Second)
		if first.total() != 1 || other.total() != 0 {
			t.Errorf("runs: %d of the first, %d of the other", first.total(), other.total())
		}
	})
}

func TestAnExecutorWhoseNameIsTakenStopsThoughHeartbeatsCannotBeReadAtFirst(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, c := newWorld(t), &counter{}
		readable := func(yes bool) {
			t.Helper()
			w.change("KV_"+bus.BucketInst, func(cfg *jetstream.StreamConfig) { cfg.AllowDirect = yes })
		}
		readable(false)
		first := w.start("a", executor.Config{}, handler(c.sleeper(time.Second)))
		time.Sleep(3 * time.Second)
		_, ended := w.second(c)
		time.Sleep(3 * time.Second)
		readable(true)
		if err := first.SetLabels(job.Labels{"zone": "eu"}); err != nil { // for a heartbeat
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if !errors.Is(err, job.ErrConflict) {
				t.Errorf("error %v", err)
			}
		case <-time.After(12 * time.Second):
			t.Error("it goes on")
		}
	})
}

func TestTheNameOfAKilledExecutorIsFreeThoughItsHeartbeatCannotBeReadAtFirst(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, c := newWorld(t), &counter{}
		last, err := json.Marshal(bus.Heartbeat{
			Instance:      fleet.Instance{Group: "g", Instance: "a", State: fleet.InstanceOnline, Protocol: fleet.Protocol},
			ControlSecret: bus.NewControlSecret(),
		})
		if err != nil {
			t.Fatal(err)
		}
		readable := func(yes bool) {
			t.Helper()
			w.change("KV_"+bus.BucketInst, func(cfg *jetstream.StreamConfig) { cfg.AllowDirect = yes })
			if _, err := w.conn.JS.Publish(t.Context(), bus.SubjectHeartbeat("g", "a"), last); err != nil {
				t.Fatal(err)
			}
		}
		readable(false)
		_, ended := w.second(c)
		time.Sleep(4500 * time.Millisecond)
		readable(true)
		w.trigger()
		time.Sleep(fleet.InstanceTTL + 3*time.Second)
		select {
		case err := <-ended:
			t.Errorf("it ended: %v", err)
		default:
		}
		if c.total() != 1 {
			t.Errorf("%d runs", c.total())
		}
	})
}

func TestAnExecutorStartsThoughTheHeartbeatThatHasItsNameIsNeverFound(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, c := newWorld(t), &counter{}
		w.killed(c)
		w.broker.Lag("second a")
		_, ended := w.second(c)
		time.Sleep(fleet.InstanceTTL + time.Second)
		w.trigger()
		time.Sleep(2 * time.Second)
		if len(ended) != 0 || c.total() != 1 {
			t.Errorf("%d executors have ended, %d runs have begun, want 0 and 1", len(ended), c.total())
		}
	})
}

func TestOfTwoExecutorsOfANameThatStartAtOnceOneStays(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, c := newWorld(t), &counter{}
		stop1, first := w.second(c)
		stop2, second := w.second(c)
		time.Sleep(10 * time.Second)
		if len(first)+len(second) != 1 {
			t.Fatalf("%d and %d have ended, want one", len(first), len(second))
		}
		w.trigger()
		time.Sleep(5 * time.Second)
		if c.total() != 1 {
			t.Errorf("%d runs", c.total())
		}
		stop1()
		stop2()
		if err := errors.Join(<-first, <-second); !errors.Is(err, job.ErrConflict) {
			t.Errorf("error %v", err)
		}
	})
}

func TestTheNameOfAKilledExecutorIsFreeAfterItsHeartbeatsHaveCeased(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, c := newWorld(t), &counter{}
		w.killed(c)
		stop, ended := w.second(c)
		w.trigger()
		time.Sleep(fleet.InstanceTTL + 3*time.Second)
		if c.total() != 1 {
			t.Errorf("%d runs", c.total())
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAnExecutorThatWasStoppedIsStartedAgainWithoutWaiting(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, c := newWorld(t), &counter{}
		a := w.start("a", executor.Config{}, handler(c.sleeper(time.Second)))
		time.Sleep(3 * time.Second)
		a.stop()
		w.trigger()
		w.second(c)
		time.Sleep(2 * time.Second)
		if c.total() != 1 {
			t.Errorf("%d runs", c.total())
		}
	})
}

// A name that another has taken meanwhile is that one's.
func TestAnExecutorThatIsBackStopsWhenItsNameWasTaken(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, c := newWorld(t), &counter{}
		_, ended := w.second(c)
		time.Sleep(3 * time.Second)
		w.broker.Partition("second a")
		time.Sleep(time.Minute)
		w.start("a", executor.Config{}, handler(c.sleeper(time.Second)))
		time.Sleep(20 * time.Second)
		secret := w.secret()
		w.broker.Heal("second a")
		time.Sleep(time.Minute)
		select {
		case err := <-ended:
			if !errors.Is(err, job.ErrConflict) {
				t.Error(err)
			}
		default:
			t.Error("it goes on")
		}
		if w.secret() != secret {
			t.Error("the heartbeat is not of the new one any more")
		}
	})
}
