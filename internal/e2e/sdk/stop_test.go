package sdk_test

import (
	"context"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

func TestAnEndWhoseAnswerAStopDoesNotAwaitIsNotDoneAgain(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var a, b counter
		stopping := w.start("a", executor.Config{Grace: -1}, handler(a.sleeper(time.Second)))
		w.broker.LoseEventAcks("a")
		tr := w.trigger()
		time.Sleep(2 * time.Second)
		w.start("b", executor.Config{}, handler(b.sleeper(time.Second)))
		stopping.stop()
		time.Sleep(time.Minute)
		w.wantStatus(tr.RunID, job.StatusSucceeded, "")
		if a.total() != 1 || b.total() != 0 {
			t.Errorf("runs: a %d, b %d; want 1 and 0", a.total(), b.total())
		}
		w.wantTriggers(0)
	})
}

func TestAStopReportsWhatHasEndedThoughItsLogCannotBeStored(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		if err := w.conn.JS.DeleteStream(t.Context(), bus.StreamLog); err != nil {
			t.Fatal(err)
		}
		a := w.start("a", executor.Config{Grace: -1, Patience: time.Second}, handler(func(ctx context.Context, run *executor.Run) (any, error) {
			<-ctx.Done()
			run.Log().InfoContext(ctx, "the last table")
			return nil, nil
		}))
		tr := w.trigger()
		time.Sleep(time.Second)
		a.stop()
		w.wantStatus(tr.RunID, job.StatusSucceeded, "")
		w.wantTriggers(0)
	})
}

func TestAKillEndsARunThatAStopIsGivingBack(t *testing.T) {
	for name, test := range map[string]struct {
		stays bool // until after the process
		job   func(*bus.Trigger)
	}{
		"it ends":                             {false, func(*bus.Trigger) {}},
		"it is abandoned":                     {true, func(*bus.Trigger) {}},
		"it has more time than its process":   {true, func(t *bus.Trigger) { t.KillGrace = job.Duration(2 * time.Minute) }},
		"it is not to be done again, anyway":  {false, atMostOnce},
		"it is abandoned, and not done again": {true, atMostOnce},
	} {
		bustest.Run(t, began, func(t *testing.T) {
			w := newWorld(t)
			over := make(chan struct{})
			defer close(over)
			a := w.start("a", executor.Config{Grace: -1, Patience: 5 * time.Second}, handler(func(ctx context.Context, _ *executor.Run) (any, error) {
				<-ctx.Done()
				if test.stays {
					<-over
				} else {
					time.Sleep(2 * time.Second)
				}
				return nil, context.Cause(ctx)
			}))
			tr := w.trigger(test.job)
			time.Sleep(time.Second)
			a.halt()
			time.Sleep(time.Second)
			if who := w.kill(tr.RunID); who != "a" {
				t.Errorf("%s: %q answered, want a", name, who)
			}
			<-a.over
			var b counter
			w.start("b", executor.Config{}, handler(b.sleeper(time.Second))) // it has not heard of the kill
			time.Sleep(time.Minute)
			w.wantStatus(tr.RunID, job.StatusCancelled, "cancelled by ann: wrong day")
			if b.total() != 0 {
				t.Errorf("%s: the run was done again", name)
			}
			w.wantTriggers(0)
		})
	}
}

func TestASecondStopGivesRunsBackAtOnce(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		time.Sleep(fleet.InstanceTTL + 3*time.Second) // the server knows who is there
		var a, b counter
		stopping := w.start("a", executor.Config{Grace: time.Hour}, handler(a.sleeper(time.Hour)))
		given := w.trigger()
		time.Sleep(time.Second)
		stopping.halt()
		time.Sleep(time.Minute)
		again := time.Now()
		stopping.GiveBack()
		stopping.GiveBack()
		<-stopping.over
		if took := time.Since(again); took > 3*time.Second {
			t.Errorf("the stop took another %v", took)
		}
		w.wantTriggers(1)
		w.start("b", executor.Config{}, handler(b.sleeper(0)))
		time.Sleep(3 * time.Second)
		w.wantStatus(given.RunID, job.StatusSucceeded, "")
	})
}

func TestAStopDuringADrainLeavesRunsNoMoreTimeThanTheDrainDoes(t *testing.T) {
	for _, test := range []struct{ within, grace, took time.Duration }{
		{5 * time.Second, time.Hour, 5 * time.Second},
		{time.Hour, 5 * time.Second, 6 * time.Second},
	} {
		bustest.Run(t, began, func(t *testing.T) {
			w := newWorld(t)
			var c counter
			a := w.start("a", executor.Config{Grace: test.grace}, handler(c.sleeper(2*time.Hour)))
			w.trigger()
			time.Sleep(time.Second)
			asked := time.Now()
			if _, err := w.conn.AskInstance(t.Context(), w.address("a"), bus.VerbDrain, nil, []byte(`{"within":"`+job.Duration(test.within).String()+`"}`), time.Second); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			a.stop()
			if took := time.Since(asked).Round(time.Second); took != test.took {
				t.Errorf("a drain within %s and a grace of %s: it stopped after %s, want %s", test.within, test.grace, took, test.took)
			}
			w.wantTriggers(1)
		})
	}
}
