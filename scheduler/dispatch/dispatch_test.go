package dispatch_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

func TestARunGoesToTheInstanceThatItsRouteChooses(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.executor("a", time.Millisecond)
		w.executor("b", time.Millisecond)
		w.executor("c", time.Millisecond)
		time.Sleep(time.Second)
		goes := func(r job.Route, want string) {
			w.t.Helper()
			for range 4 {
				w.trigger(r)
				time.Sleep(100 * time.Millisecond)
			}
			w.wantBegan(want)
		}
		goes(job.RouteFirst, "a job, a job, a job, a job")
		goes(job.RouteLast, "c job, c job, c job, c job")
		goes(job.RouteFailover, "a job, a job, a job, a job")
		goes(job.RouteBusyover, "a job, a job, a job, a job")
		goes(job.RouteRoundRobin, "a job, b job, c job, a job")
		goes(job.RouteLeastRecentlyUsed, "b job, c job, a job, b job")
		w.wantTriggers(0)
	})
}

func TestRoutesTellTheStepsOfAJobApart(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.executor("a", time.Millisecond)
		w.executor("b", time.Millisecond)
		time.Sleep(time.Second)
		for _, step := range []string{"load", "clean", "load", "clean"} {
			w.trigger(job.RouteRoundRobin, func(t *bus.Trigger) { t.Cause, t.Step = job.CauseStep, step })
			time.Sleep(100 * time.Millisecond)
		}
		w.wantBegan("a job, a job, b job, b job") // and not each step always at the same
	})
}

func TestOnlyInstancesWithTheLabelsAreConsidered(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		a := w.executor("a", time.Millisecond, labels(job.Labels{"zone": "eu"}))
		w.executor("b", time.Millisecond, labels(job.Labels{"zone": "us", "gpu": "true"}))
		w.executor("c", time.Millisecond)
		time.Sleep(time.Second)
		with := func(l job.Labels) func(*bus.Trigger) { return func(t *bus.Trigger) { t.Labels = l } }
		w.trigger("", with(job.Labels{"zone": "eu"}))
		time.Sleep(time.Second)
		w.wantBegan("a job")
		w.trigger(job.RouteFirst, with(job.Labels{"gpu": "true"}))
		time.Sleep(time.Second)
		w.wantBegan("b job")

		none := w.trigger("", with(job.Labels{"gpu": "true", "zone": "eu"}))
		time.Sleep(2 * time.Second)
		w.wantBegan("")
		w.wantTold(none, "held group g has no instance with labels gpu=true,zone=eu that takes work",
			"held group g has no instance with labels gpu=true,zone=eu that takes work")
		if err := a.SetLabels(job.Labels{"gpu": "true", "zone": "eu"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		w.wantBegan("a job")
		w.wantTriggers(0)
	})
}

func TestADeadInstanceCostsNothing(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		a := w.executor("a", time.Second)
		w.executor("b", time.Second)
		time.Sleep(time.Second)
		a.die() // its heartbeat stays for a while
		for range 3 {
			before := time.Now()
			tr := w.trigger(job.RouteFirst)
			w.wantBegan("b job")
			if took := time.Since(before); took > 10*time.Millisecond {
				t.Errorf("the hand-over took %v", took)
			}
			time.Sleep(3 * time.Second)
			w.wantTold(tr, "started b b was chosen by first; a is gone", "finished succeeded b")
		}
	})
}

func TestABusyInstanceIsPassedOverAndTheReasonTold(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.executor("a", 30*time.Second, oneSlot)
		w.executor("b", 30*time.Second, oneSlot)
		time.Sleep(time.Second)
		first := w.trigger(job.RouteFirst)
		time.Sleep(time.Second)
		second := w.trigger(job.RouteFirst)
		time.Sleep(time.Second)
		w.wantBegan("a job, b job")
		third := w.trigger(job.RouteFirst) // nobody is free for it
		time.Sleep(10 * time.Second)
		w.wantBegan("")
		w.wantTriggers(3)
		time.Sleep(40 * time.Second)
		w.wantBegan("a job")
		time.Sleep(40 * time.Second)
		w.wantTold(first, "started a", "finished succeeded a")
		w.wantTold(second, "started b b was chosen by first; a is busy (1/1)", "finished succeeded b")
		held := "held no instance is free; a is busy (1/1); b is busy (1/1)"
		w.wantTold(third, held, "started a", "finished succeeded a")
		w.wantTriggers(0)
	})
}

func TestThePieceOfABroadcastWaitsForTheInstanceThatItIsMeantForWhileThatIsThere(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.executor("a", time.Second, oneSlot)
		b := w.executor("b", 30*time.Second, oneSlot)
		time.Sleep(time.Second)
		forB := func(t *bus.Trigger) { t.Prefer = "b" }
		w.trigger(job.RouteBroadcast, forB)
		time.Sleep(time.Second)
		second := w.trigger(job.RouteBroadcast, forB)
		time.Sleep(10 * time.Second)
		w.wantBegan("b job")
		time.Sleep(30 * time.Second)
		w.wantBegan("b job")
		third := w.trigger(job.RouteBroadcast, forB)
		b.die() // with the second at work
		time.Sleep(40 * time.Second)
		w.wantBegan("a job, a job")
		told := w.told(third)
		if last := told[len(told)-1]; last != "finished succeeded a" {
			t.Errorf("told: %q", told)
		}
		if told := w.told(second); told[len(told)-1] != "finished succeeded a" {
			t.Errorf("told: %q", told)
		}
		w.wantTriggers(0)
	})
}

func TestBusyoverGoesOnWhenTheInstanceRunsTheJobAlready(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.executor("a", 10*time.Second)
		w.executor("b", 10*time.Second)
		time.Sleep(time.Second)
		w.trigger(job.RouteBusyover)
		time.Sleep(time.Second)
		w.trigger(job.RouteBusyover)
		time.Sleep(time.Second)
		w.trigger(job.RouteBusyover, named("g/other"))
		time.Sleep(time.Second)
		w.wantBegan("a job, b job, a other")
	})
}

func TestFailoverPassesOverWhoDoesNotAnswer(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.executor("a", time.Second)
		w.executor("b", time.Second)
		time.Sleep(time.Second)
		w.broker.Partition("a") // the server has not noticed yet
		tr := w.trigger(job.RouteFailover)
		time.Sleep(2 * time.Second)
		w.wantBegan("b job")
		w.wantTold(tr, "started b b was chosen by failover; a does not answer", "finished succeeded b")
		w.broker.Heal("a")
	})
}

func TestARunWhoseInstanceIsSlowToAnswerIsOfferedToNoOther(t *testing.T) {
	for _, first := range []bool{true, false} { // the dispatcher asks the first choice in another way
		run(t, func(w *world) {
			w.dispatcher("node")
			if !first {
				full := w.executor("0", 10*time.Minute, oneSlot)
				time.Sleep(time.Second)
				w.trigger(job.RouteFirst, named("g/long"))
				time.Sleep(time.Second)
				w.wantBegan("0 long")
				defer full.stop()
			}
			w.executor("a", time.Minute)
			w.executor("b", time.Minute)
			time.Sleep(time.Second)
			w.broker.Partition("a") // the request reaches it in the end
			tr := w.trigger(job.RouteFirst)
			time.Sleep(bus.AckWait / 2)
			w.wantBegan("")
			w.broker.Heal("a")
			time.Sleep(2 * time.Minute)
			w.wantBegan("a job")
			if told := w.told(tr); !slices.Contains(told, "finished succeeded a") {
				t.Errorf("told %q", told)
			}
		})
	}
}

func TestATaskThatNoInstanceCanDoWaitsForOneThatCan(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.executor("a", time.Second)
		time.Sleep(time.Second)
		tr := w.trigger(job.RouteFirst, func(t *bus.Trigger) { t.Task = job.Task{Handler: "new"} })
		shell := w.trigger(job.RouteRandom, func(t *bus.Trigger) { t.Task = job.Task{Shell: "true"} })
		late := w.trigger(job.RouteRandom, func(t *bus.Trigger) {
			t.Task, t.StartBy = job.Task{Shell: "true"}, time.Now().Add(10*time.Second)
		})
		time.Sleep(5 * time.Second)
		w.wantTold(shell, "held no live instance of group g runs shell tasks", "held no live instance of group g runs shell tasks")
		w.executor("b", time.Second, handles("new"))
		time.Sleep(20 * time.Second)
		w.wantBegan("b job")
		if told := w.told(tr); told[len(told)-1] != "finished succeeded b" || told[0] != `held no live instance of group g has a handler "new"` {
			t.Errorf("told: %q", told)
		}
		if told := w.told(late); told[len(told)-1] != "finished missed no instance of its group could begin it by 2026-01-05T02:00:11Z; no live instance of group g runs shell tasks" {
			t.Errorf("told: %q", told)
		}
		w.wantTriggers(1)
	})
}

func TestADrainedInstanceFinishesWhatItHasAndLeaves(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		a := w.executor("a", 10*time.Second)
		w.executor("b", 10*time.Second)
		time.Sleep(time.Second)
		tr := w.trigger(job.RouteFirst)
		time.Sleep(time.Second)
		if got := w.ask(bus.VerbDrain); got != "accepted, draining 1/4" {
			t.Error(got)
		}
		w.trigger(job.RouteFirst)
		time.Sleep(time.Second)
		w.wantBegan("a job, b job")
		time.Sleep(10 * time.Second)
		select {
		case <-a.over:
		default:
			t.Error("it has not left")
		}
		w.wantTold(tr, "started a", "finished succeeded a")
	})
}

func TestACordonedInstanceTakesNothingUntilItIsUncordoned(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.executor("a", time.Millisecond)
		time.Sleep(time.Second)
		if got := w.ask(bus.VerbCordon); got != "accepted, cordoned 0/4" {
			t.Error(got)
		}
		if got := w.ask(bus.VerbBeat); got != "cordoned, cordoned 0/4" {
			t.Error(got)
		}
		w.trigger(job.RouteFirst)
		time.Sleep(time.Minute)
		w.wantBegan("")
		if got := w.ask(bus.VerbUncordon); got != "accepted, online 0/4" {
			t.Error(got)
		}
		time.Sleep(20 * time.Second)
		w.wantBegan("a job")
	})
}

func TestANodeThatStopsHavingInstancesServesThemAgainWhenTheyComeBack(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		a := w.executor("a", time.Millisecond)
		time.Sleep(time.Second)
		a.stop()
		time.Sleep(time.Second)
		tr := w.trigger(job.RouteFirst)
		time.Sleep(5 * time.Minute)
		w.wantTold(tr) // a group without executors costs nothing: nobody has pulled it
		w.executor("a", time.Millisecond)
		time.Sleep(5 * time.Second)
		w.wantBegan("a job")
	})
}

func TestChoicesOfOneNodeAreKnownToTheOthers(t *testing.T) {
	run(t, func(w *world) {
		for n := range 3 {
			w.dispatcher(fmt.Sprintf("node-%d", n))
		}
		w.executor("a", time.Millisecond)
		w.executor("b", time.Millisecond)
		w.executor("c", time.Millisecond)
		time.Sleep(time.Second)
		for range 6 {
			w.trigger(job.RouteRoundRobin)
			time.Sleep(100 * time.Millisecond)
		}
		w.wantBegan("a job, b job, c job, a job, b job, c job")
	})
}

func TestAGroupWhoseExecutorsAreStuckDelaysNoOther(t *testing.T) {
	run(t, func(w *world) {
		w.group("stuck")
		w.dispatcher("node")
		w.executor("s", time.Hour, of("stuck"), oneSlot)
		w.executor("gone", time.Hour, of("stuck"), oneSlot)
		w.executor("a", time.Millisecond, func(c *executor.Config) { c.Slots = 100 })
		time.Sleep(time.Second)
		w.broker.Partition("gone") // it does not even answer
		waiting := 2000
		if testing.Short() {
			waiting = 500
		}
		for range waiting {
			w.trigger(job.RouteFirst, named("stuck/job"))
		}
		time.Sleep(10 * time.Second)
		w.began()
		for range 20 {
			before := time.Now()
			w.trigger(job.RouteFirst)
			w.wantBegan("a job")
			if took := time.Since(before); took > 10*time.Millisecond {
				t.Errorf("the hand-over took %v", took)
			}
			time.Sleep(time.Second)
			w.began() // what the stuck group gave back and began anew, if anything
		}
		w.broker.Heal("gone")
	})
}
