package sdk_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/executor/metrics"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

func TestARunOfAnInstanceThatIsCutOffIsDoneByAnother(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var a, b counter
		w.start("a", executor.Config{}, handler(a.sleeper(20*time.Second)))
		tr := w.trigger()
		time.Sleep(3 * time.Second)
		w.broker.Partition("a")
		cut := time.Now()
		w.start("b", executor.Config{}, handler(b.sleeper(10*time.Second)))
		time.Sleep(bus.AckWait + 12*time.Second)
		e := w.finished(tr.RunID)
		if e.Instance != "b" || e.Delivery != 2 || e.Status != job.StatusSucceeded {
			t.Errorf("finished by %s as %s on delivery %d; want b, succeeded, 2", e.Instance, e.Status, e.Delivery)
		}
		if after := e.StartedAt.Sub(cut); after > bus.AckWait {
			t.Errorf("b began %v after the cut, want at most AckWait", after)
		}

		// a, which has come to its end meanwhile, says so when it is back. That is a
		// repeat of the same final event, which readers pass over.
		w.broker.Heal("a")
		time.Sleep(time.Minute)
		w.wantTriggers(0)
		if a.total() != 1 || b.total() != 1 {
			t.Errorf("runs: a %d, b %d; want one each", a.total(), b.total())
		}
	})
}

func TestAtMostOnceIsNeverRunAgainButReportedLost(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var a, b counter
		w.start("a", executor.Config{}, handler(a.sleeper(time.Hour)))
		tr := w.trigger(atMostOnce)
		time.Sleep(3 * time.Second)
		w.broker.Partition("a")
		w.start("b", executor.Config{}, handler(b.sleeper(0)))
		time.Sleep(bus.AckWait + time.Second)
		w.wantStatus(tr.RunID, job.StatusLost, "went silent")
		if a.total() != 1 || b.total() != 0 {
			t.Errorf("runs: a %d, b %d; want 1 and 0", a.total(), b.total())
		}
		w.wantTriggers(0)
	})
}

func TestARedeliveryToTheInstanceThatRunsTheAttemptDoesNotRunItTwice(t *testing.T) {
	for _, delivery := range []job.Delivery{job.AtLeastOnce, job.AtMostOnce} {
		bustest.Run(t, began, func(t *testing.T) {
			w := newWorld(t)
			var c counter
			w.start("a", executor.Config{}, handler(c.sleeper(time.Minute)))
			tr := w.trigger(func(t *bus.Trigger) { t.Delivery = delivery })
			time.Sleep(3 * time.Second)
			w.broker.Partition("a")
			time.Sleep(bus.AckWait + 5*time.Second)
			w.broker.Heal("a")
			time.Sleep(2 * time.Minute)
			w.wantStatus(tr.RunID, job.StatusSucceeded, "")
			if c.total() != 1 {
				t.Errorf("%s: the run was done %d times", delivery, c.total())
			}
			w.wantTriggers(0)
		})
	}
}

func TestALostAcknowledgementDoesNotRepeatTheRun(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var c counter
		w.start("a", executor.Config{}, handler(c.sleeper(time.Second)))
		tr := w.trigger()
		time.Sleep(2 * time.Second)
		// What a redelivery looks like to the executor: the same trigger again.
		again := *tr
		w.trigger(func(t *bus.Trigger) { *t = again })
		time.Sleep(5 * time.Second)
		w.wantStatus(tr.RunID, job.StatusSucceeded, "")
		if c.total() != 1 {
			t.Errorf("the run was done %d times", c.total())
		}
		w.wantTriggers(0)
	})
}

func TestATimeoutCancelsWithItsCause(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var cause atomic.Value
		w.start("a", executor.Config{}, handler(func(ctx context.Context, _ *executor.Run) (any, error) {
			<-ctx.Done()
			cause.Store(context.Cause(ctx))
			return nil, errors.New("rolled back")
		}))
		tr := w.trigger(timeout(90 * time.Second))
		time.Sleep(2 * time.Minute)
		w.wantStatus(tr.RunID, job.StatusTimedOut, "took longer than its timeout of 1m30s; rolled back")
		if e := w.finished(tr.RunID); e.FinishedAt.Sub(e.StartedAt) != 90*time.Second {
			t.Errorf("it took %v", e.FinishedAt.Sub(e.StartedAt))
		}
		if err, _ := cause.Load().(error); !errors.Is(err, executor.ErrTimeout) {
			t.Errorf("cause: %v", err)
		}
		w.wantTriggers(0)
	})
}

func TestAHandlerThatIgnoresItsContextIsAbandonedAndItsSlotIsFree(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		registry := prometheus.NewRegistry()
		w.start("a", executor.Config{Slots: 1, Patience: 5 * time.Second, Observers: []executor.NewObserver{metrics.Prometheus(registry)}}, handler(func(_ context.Context, run *executor.Run) (any, error) {
			if run.Trigger().Timeout > 0 {
				time.Sleep(time.Hour)
				_, _ = run.Stdout().Write([]byte("nobody listens\n"))
			}
			return nil, nil
		}))
		stuck := w.trigger(timeout(10 * time.Second))
		next := w.trigger()
		time.Sleep(17 * time.Second)
		w.wantStatus(stuck.RunID, job.StatusTimedOut, "did not stop within 5s and was abandoned")
		w.wantStatus(next.RunID, job.StatusSucceeded, "")
		if n := metric(t, registry, "carillon_executor_handlers_abandoned_total"); n != 1 {
			t.Errorf("abandoned handlers: %v, want 1", n)
		}
		time.Sleep(2 * time.Hour) // its late return changes nothing
		w.wantStatus(stuck.RunID, job.StatusTimedOut, "")
	})
}

func TestAKillEndsTheRunWhereItIs(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var c counter
		w.start("a", executor.Config{}, handler(c.sleeper(time.Hour)))
		tr, other := w.trigger(), w.trigger()
		time.Sleep(time.Second)
		w.start("b", executor.Config{}, handler(c.sleeper(time.Hour)))
		if who := w.kill(tr.RunID); who != "a" {
			t.Errorf("%q answered, want a", who)
		}
		time.Sleep(time.Second)
		w.wantStatus(tr.RunID, job.StatusCancelled, "cancelled by ann: wrong day")
		w.wantTriggers(1) // the other one's
		if who := w.kill(other.RunID); who != "a" {
			t.Errorf("%q answered, want a", who)
		}
		time.Sleep(time.Second)
		w.wantTriggers(0)
	})
}

func TestARunThatWasKilledBeforeItCameIsReportedCancelledAndNotRun(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var c counter
		w.start("a", executor.Config{}, handler(c.sleeper(0)))
		id := job.NewRunID(time.Now())
		if who := w.kill(id); who != "" {
			t.Errorf("%q answered for a run that nobody has", who)
		}
		if _, err := w.conn.AskInstance(t.Context(), w.address("a"), bus.VerbKill, nil, []byte("garbage"), time.Second); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("a kill of nothing: %v", err)
		}
		w.trigger(func(t *bus.Trigger) { t.RunID, t.Cause = id, job.CauseAPI })
		time.Sleep(time.Second)
		w.wantTriggers(0)
		if c.total() != 0 {
			t.Errorf("%d runs, want none", c.total())
		}
		w.wantStatus(id, job.StatusCancelled, "cancelled before it began here")
	})
}

func TestWhatComesTooLateToBeginIsMissedAndTheExecutorGoesOn(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		by := func(t *bus.Trigger) { t.StartBy = time.Now().Add(10 * time.Second) }
		late := w.trigger(by)
		time.Sleep(11 * time.Second)
		w.start("a", executor.Config{}, handler(func(context.Context, *executor.Run) (any, error) { return nil, nil }))
		time.Sleep(time.Second)
		w.wantStatus(late.RunID, job.StatusMissed, "no instance was free to begin it by 2026-01-05T02:00:10Z")
		in := w.trigger(by)
		time.Sleep(time.Second)
		w.wantStatus(in.RunID, job.StatusSucceeded, "")
		w.wantTriggers(0)
	})
}

func TestAStoppingExecutorFinishesAndThenGivesBack(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		time.Sleep(fleet.InstanceTTL + 3*time.Second) // the server knows who is there
		var a, b counter
		stopping := w.start("a", executor.Config{Grace: 10 * time.Second}, func(e *executor.Executor) {
			e.Handle("h", a.sleeper(5*time.Second))
			e.Handle("long", a.sleeper(time.Hour))
		})
		long := func(t *bus.Trigger) { t.Task.Handler = "long" }
		short, given, once := w.trigger(), w.trigger(long), w.trigger(long, atMostOnce)
		time.Sleep(time.Second)
		stopping.halt()
		time.Sleep(100 * time.Millisecond)
		late := w.trigger() // not for one that is stopping
		began := time.Now()
		<-stopping.over
		if took := time.Since(began); took < 9*time.Second || took > 11*time.Second {
			t.Errorf("the stop took %v, want the grace of 10 s", took)
		}
		w.wantStatus(short.RunID, job.StatusSucceeded, "")
		w.wantStatus(once.RunID, job.StatusLost, "the executor stopped")
		w.wantTriggers(2)

		w.start("b", executor.Config{}, func(e *executor.Executor) {
			e.Handle("h", b.sleeper(0))
			e.Handle("long", b.sleeper(0))
		})
		time.Sleep(3 * time.Second) // soon: the trigger was given back, not left to AckWait
		w.wantStatus(given.RunID, job.StatusSucceeded, "")
		w.wantStatus(late.RunID, job.StatusSucceeded, "")
		if e := w.finished(given.RunID); e.Instance != "b" || e.Delivery != 2 {
			t.Errorf("done by %s on delivery %d, want b on 2", e.Instance, e.Delivery)
		}
		w.wantTriggers(0)
	})
}

func TestAHandlerThatEndsWellWhileStoppingHasSucceeded(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		a := w.start("a", executor.Config{Grace: -1}, handler(func(ctx context.Context, _ *executor.Run) (any, error) {
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), executor.ErrStopping) {
				return nil, errors.New("not stopping")
			}
			return nil, nil
		}))
		tr := w.trigger()
		time.Sleep(time.Second)
		a.stop()
		w.wantStatus(tr.RunID, job.StatusSucceeded, "")
		w.wantTriggers(0)
	})
}

func TestAStopEndsWhateverItsHandlersDo(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		a := w.start("a", executor.Config{Grace: time.Second, Patience: time.Second}, handler(func(context.Context, *executor.Run) (any, error) {
			time.Sleep(time.Hour)
			return nil, nil
		}))
		w.trigger()
		time.Sleep(time.Second)
		began := time.Now()
		a.stop()
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("the stop took %v", took)
		}
		w.wantTriggers(1) // given back
		for _, e := range w.events() {
			if e.Kind == bus.EventFinished {
				t.Errorf("finished event of a run that has not ended: %v", e)
			}
		}
		time.Sleep(2 * time.Hour) // until the handler's goroutine is gone
	})
}

func TestAStopUnderLoadLosesAndDoublesNothing(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var c counter
		var all []*bus.Trigger
		for round := range 10 {
			for range 30 {
				all = append(all, w.trigger(atMostOnce))
			}
			e := w.start(string(rune('a'+round)), executor.Config{Slots: 4 + 96*(round%2)}, handler(c.sleeper(10*time.Millisecond)))
			time.Sleep(time.Duration(round) * 17 * time.Millisecond)
			all = append(all, w.trigger(), w.trigger()) // on their way while it stops
			e.stop()
		}
		w.start("last", executor.Config{}, handler(c.sleeper(0)))
		time.Sleep(time.Minute)
		ends := map[job.RunID]int{}
		for _, e := range w.events() {
			if e.Kind == bus.EventFinished && e.Status == job.StatusSucceeded {
				ends[e.RunID]++
			}
		}
		for _, tr := range all {
			if ends[tr.RunID] != 1 {
				t.Errorf("run %s succeeded %d times", tr.RunID, ends[tr.RunID])
			}
		}
		if c.total() != len(all) {
			t.Errorf("%d runs of %d triggers", c.total(), len(all))
		}
		w.wantTriggers(0)
	})
}

func TestARunOutlivesARestartOfNATS(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var c counter
		w.start("a", executor.Config{}, handler(c.sleeper(20*time.Second)))
		over := w.trigger()
		time.Sleep(5 * time.Second)
		w.broker.Stop()
		time.Sleep(8 * time.Second)
		w.broker.Start()
		time.Sleep(time.Minute)
		w.wantStatus(over.RunID, job.StatusSucceeded, "")
		next := w.trigger()
		time.Sleep(21 * time.Second)
		w.wantStatus(next.RunID, job.StatusSucceeded, "")
		if c.total() != 2 {
			t.Errorf("%d runs, want 2", c.total())
		}
		w.wantTriggers(0)
	})
}

func TestTriggersComeAsSoonAsNATSIsBack(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var c counter
		w.start("a", executor.Config{}, handler(c.sleeper(0)))
		w.broker.Stop()
		time.Sleep(time.Second)
		w.broker.Start()
		time.Sleep(time.Second) // less than it takes until a pull request seems to be dead
		tr := w.trigger()
		time.Sleep(300 * time.Millisecond)
		w.wantStatus(tr.RunID, job.StatusSucceeded, "")
	})
}

func TestARunThatEndsWhileNATSIsAwayIsReportedAfterwards(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var c counter
		w.start("a", executor.Config{}, handler(c.sleeper(5*time.Second)))
		tr := w.trigger()
		time.Sleep(2 * time.Second)
		w.broker.Stop()
		time.Sleep(10 * time.Minute)
		w.broker.Start()
		time.Sleep(time.Minute)
		w.wantStatus(tr.RunID, job.StatusSucceeded, "")
		if e := w.finished(tr.RunID); e.FinishedAt.Sub(e.StartedAt) != 5*time.Second || c.total() != 1 {
			t.Errorf("it took %v, and was done %d times; want 5 s, once", e.FinishedAt.Sub(e.StartedAt), c.total())
		}
		w.wantTriggers(0)
	})
}

func TestAnExecutorHoldsBackWhileTheEventStreamIsFull(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		for _, size := range []int{1000, 1} {
			for err := error(nil); err == nil; {
				_, err = w.conn.JS.Publish(t.Context(), "evt.0.filler", make([]byte, size))
			}
		}
		registry := prometheus.NewRegistry()
		var c counter
		w.start("a", executor.Config{Slots: 2, Observers: []executor.NewObserver{metrics.Prometheus(registry)}}, handler(c.sleeper(time.Second)))
		first := []*bus.Trigger{w.trigger(), w.trigger(), w.trigger()}
		time.Sleep(2 * time.Minute)
		// Two are done and held, so their slots are not free, and their triggers still
		// theirs: nobody does them again.
		if c.total() != 2 {
			t.Errorf("%d runs while nothing can be reported, want the 2 slots'", c.total())
		}
		w.wantTriggers(3)
		if n := metric(t, registry, "carillon_executor_event_publish_retries_total"); n < 2 {
			t.Errorf("retries: %v", n)
		}

		evt, err := w.conn.JS.Stream(t.Context(), bus.StreamEvt)
		if err != nil {
			t.Fatal(err)
		}
		if err := evt.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		for _, tr := range first {
			w.wantStatus(tr.RunID, job.StatusSucceeded, "")
		}
		if c.total() != 3 {
			t.Errorf("%d runs of 3 triggers", c.total())
		}
		w.wantTriggers(0)
	})
}

func TestAStopDoesNotWaitForAFullEventStream(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		if err := w.conn.JS.DeleteStream(t.Context(), bus.StreamEvt); err != nil {
			t.Fatal(err)
		}
		var c counter
		a := w.start("a", executor.Config{Grace: time.Second, Patience: time.Second}, handler(c.sleeper(time.Second)))
		w.trigger()
		time.Sleep(time.Minute)
		began := time.Now()
		a.stop()
		if took := time.Since(began); took > 7*time.Second {
			t.Errorf("the stop took %v", took)
		}
		w.wantTriggers(1) // its end is not recorded, so another instance has to do it
	})
}

func TestAFenceGrowsWithAttemptsAndDeliveries(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		type begin struct {
			run   job.RunID
			fence uint64
		}
		begins := make(chan begin, 4)
		work := func(d time.Duration) func(*executor.Executor) {
			return handler(func(ctx context.Context, run *executor.Run) (any, error) {
				begins <- begin{run.ID(), run.Fence()}
				timer := time.NewTimer(d)
				defer timer.Stop()
				select {
				case <-timer.C:
				case <-ctx.Done():
				}
				return nil, context.Cause(ctx)
			})
		}
		w.start("a", executor.Config{}, work(time.Hour))
		one := w.trigger()
		time.Sleep(time.Second)
		w.broker.Partition("a") // it goes on, and so does b
		w.start("b", executor.Config{}, work(time.Second))
		w.trigger()
		time.Sleep(time.Minute)
		w.broker.Heal("a")
		first := (<-begins).fence
		of := map[bool]uint64{} // what b began, in either order
		for range 2 {
			b := <-begins
			of[b.run == one.RunID] = b.fence
		}
		again, next := of[true], of[false]
		if first == 0 || again <= first || next <= again {
			t.Errorf("fences: the first delivery %d, the second %d, the next run %d; want them to grow", first, again, next)
		}
	})
}
