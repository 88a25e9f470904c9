package sdk_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

// forgotten publishes tr again: what a trigger looks like that a server hands out a
// second time, when it was killed before it had written down the first.
func (w *world) forgotten(tr *bus.Trigger) {
	w.t.Helper()
	again := *tr
	w.trigger(func(t *bus.Trigger) { *t = again })
}

func TestAtMostOnceHoldsThoughTheServerForgotTheFirstDelivery(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var a, b counter
		w.start("a", executor.Config{Slots: 1}, handler(a.sleeper(10*time.Second)))
		tr := w.trigger(atMostOnce)
		time.Sleep(10 * time.Millisecond)
		w.start("b", executor.Config{Slots: 1}, handler(b.sleeper(0)))
		w.forgotten(tr)
		time.Sleep(12 * time.Second)
		w.wantStatus(tr.RunID, job.StatusSucceeded, "")
		if a.total() != 1 || b.total() != 0 {
			t.Errorf("runs: a %d, b %d; want 1 and 0", a.total(), b.total())
		}
	})
}

func TestAnAttemptIsClaimedOnceHoweverLongAnInstanceWasCutOff(t *testing.T) {
	for _, cut := range []time.Duration{2 * time.Second, 20 * time.Second, 42500 * time.Millisecond, 5 * time.Minute} {
		bustest.Run(t, began, func(t *testing.T) {
			w := newWorld(t)
			var a, b counter
			w.start("a", executor.Config{Slots: 1}, handler(a.sleeper(time.Second)))
			w.broker.Mute("a") // it gets the trigger, as it has asked for one, and cannot claim it
			tr := w.trigger(atMostOnce)
			time.Sleep(100 * time.Millisecond)
			w.start("b", executor.Config{Slots: 1}, handler(b.sleeper(time.Second)))
			w.forgotten(tr)
			time.Sleep(cut)
			w.broker.Heal("a")
			time.Sleep(time.Minute)
			if n := a.total() + b.total(); n != 1 {
				t.Errorf("cut off for %v: a did it %d times, b %d times; want once in all", cut, a.total(), b.total())
			}
		})
	}
}

func TestAClaimWhoseAnswerIsLostIsOnesOwn(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var c counter
		w.start("a", executor.Config{Slots: 1}, handler(c.sleeper(time.Second)))
		claims, err := w.conn.NC.SubscribeSync("$KV." + bus.BucketClaim + ".>")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if _, err := claims.NextMsg(time.Minute); err == nil {
				w.broker.Deafen("a")
			}
		}()
		tr := w.trigger(atMostOnce)
		time.Sleep(3 * time.Second)
		w.broker.Heal("a")
		time.Sleep(10 * time.Second)
		if c.total() != 1 {
			t.Errorf("the run was done %d times, want once", c.total())
		}
		w.wantStatus(tr.RunID, job.StatusSucceeded, "")
	})
}

func TestAtMostOnceTellsOnceThatItHasBegun(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var c counter
		w.start("a", executor.Config{}, handler(c.sleeper(40*time.Second)))
		tr := w.trigger(atMostOnce)
		time.Sleep(time.Minute)
		w.wantStatus(tr.RunID, job.StatusSucceeded, "")
		started := 0
		for _, e := range w.events() {
			if e.Kind == bus.EventStarted {
				started++
			}
		}
		if started != 1 {
			t.Errorf("%d started events, want 1", started)
		}
	})
}

func TestAtMostOnceThatCannotBeClaimedEndsWithoutHavingBegun(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var c counter
		w.start("a", executor.Config{}, handler(c.sleeper(0)))
		if err := w.conn.JS.DeleteKeyValue(t.Context(), bus.BucketClaim); err != nil {
			t.Fatal(err)
		}
		tr := w.trigger(atMostOnce, timeout(20*time.Second))
		time.Sleep(30 * time.Second)
		w.wantStatus(tr.RunID, job.StatusTimedOut, "took longer")
		if c.total() != 0 {
			t.Errorf("the run was done %d times", c.total())
		}
		for _, e := range w.events() {
			if e.Kind == bus.EventStarted {
				t.Errorf("it said that it had started: %+v", e)
			}
		}
	})
}
