package dispatch_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
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

func TestARunWhoseInstanceDiesGoesElsewhere(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		a := w.executor("a", time.Minute)
		w.executor("b", time.Minute)
		time.Sleep(time.Second)
		tr := w.trigger(job.RouteFirst)
		time.Sleep(40 * time.Second)
		w.wantBegan("a job")
		a.die()
		time.Sleep(fleet.InstanceTTL + fleet.HeartbeatEvery)
		w.wantBegan("b job")
		time.Sleep(2 * time.Minute)
		w.wantTold(tr, "started a", "started b", "finished succeeded b")
		w.wantTriggers(0)
	})
}

func TestARunThatWasAcceptedAndNeverBegunIsDoneByAnother(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.executor("b", 3*time.Second)
		time.Sleep(time.Second)
		// Instance a says that it takes the run, and dies at that moment.
		secret := bus.NewControlSecret()
		dying := w.connect("a")
		kv, err := dying.JS.KeyValue(w.t.Context(), bus.BucketInst)
		if err != nil {
			w.t.Fatal(err)
		}
		if _, err := dying.NC.Subscribe(bus.NewAddress("g", "a", secret).Subject(bus.VerbRun), func(m *nats.Msg) {
			reply := fleet.InstanceReply{Instance: "a", Answer: fleet.AnswerAccepted, State: fleet.InstanceOnline, Running: 1, Slots: 4}
			if err := bus.RespondInstance(m, &reply); err != nil {
				w.t.Error(err)
			}
		}); err != nil {
			w.t.Fatal(err)
		}
		for _, change := range []func(*bus.Trigger){func(*bus.Trigger) {}, atMostOnce} { // nobody has claimed it
			i := bus.Heartbeat{ControlSecret: secret, Instance: fleet.Instance{
				Group: "g", Instance: "a", State: fleet.InstanceOnline, Kinds: []string{job.KindHandler}, Handlers: []string{"h"},
				Slots: 4, Protocol: fleet.Protocol, At: time.Now(),
			}}
			data, err := json.Marshal(i)
			if err != nil {
				w.t.Fatal(err)
			}
			if _, err := kv.Put(w.t.Context(), i.Key(), data); err != nil {
				w.t.Fatal(err)
			}
			time.Sleep(time.Second)
			tr := w.trigger(job.RouteFirst, change)
			time.Sleep(time.Second)
			w.wantBegan("")
			if err := kv.Delete(w.t.Context(), i.Key()); err != nil {
				w.t.Fatal(err)
			}
			time.Sleep(bus.AckWait + 10*time.Second)
			w.wantBegan("b job")
			w.wantTold(tr, "started b", "finished succeeded b")
		}
		w.wantTriggers(0)
	})
}

func TestADispatcherThatDiesBeforeTheHandOverLosesNothing(t *testing.T) {
	for _, change := range []func(*bus.Trigger){func(*bus.Trigger) {}, atMostOnce} {
		run(t, func(w *world) {
			_, kill := w.dispatcher("node-1")
			a := w.executor("a", 20*time.Second, oneSlot)
			time.Sleep(time.Second)
			w.trigger(job.RouteFirst)
			time.Sleep(500 * time.Millisecond)
			tr := w.trigger(job.RouteFirst, change) // in hand, as a is busy
			time.Sleep(500 * time.Millisecond)
			kill()
			w.dispatcher("node-2")
			if err := a.SetSlots(2); err != nil {
				t.Fatal(err)
			}
			time.Sleep(bus.AckWait + 2*time.Second)
			w.wantBegan("a job, a job")
			time.Sleep(time.Minute)
			told := w.told(tr)
			if len(told) == 0 || told[len(told)-1] != "finished succeeded a" {
				t.Errorf("told: %q", told)
			}
			w.wantTriggers(0)
		})
	}
}

func TestADispatcherThatStopsHandsBackWhatItHas(t *testing.T) {
	run(t, func(w *world) {
		stop, _ := w.dispatcher("node-1")
		a := w.executor("a", 20*time.Second, oneSlot)
		time.Sleep(time.Second)
		w.trigger(job.RouteFirst)
		time.Sleep(500 * time.Millisecond)
		w.trigger(job.RouteFirst)
		time.Sleep(500 * time.Millisecond)
		w.dispatcher("node-2")
		stop()
		if err := a.SetSlots(2); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1500 * time.Millisecond)
		w.wantBegan("a job, a job")
	})
}

func TestTwoDispatchersWithTheSameTriggerMakeOneRun(t *testing.T) {
	for _, change := range []func(*bus.Trigger){func(*bus.Trigger) {}, atMostOnce} {
		run(t, func(w *world) {
			w.dispatcher("node-1")
			w.dispatcher("node-2")
			w.executor("a", time.Minute)
			w.executor("b", time.Minute)
			time.Sleep(time.Second)
			b, err := w.conn.Heartbeat(w.t.Context(), "g", "b")
			if err != nil {
				t.Fatal(err)
			}
			requests, err := w.conn.NC.SubscribeSync(b.Address().Subject(bus.VerbRun))
			if err != nil {
				t.Fatal(err)
			}
			tr := w.trigger(job.RouteLast, change)
			for range 4 { // the trigger is delivered again, to either node
				m, err := requests.NextMsg(time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				if err := w.conn.NC.Publish(m.Header.Get(bus.HeaderAck), []byte("-NAK")); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
			}
			time.Sleep(2 * time.Minute)
			w.wantBegan("b job")
			w.wantTold(tr, "started b", "finished succeeded b")
			w.wantTriggers(0)
		})
	}
}

func TestAnAttemptThatMustNotBeDoneTwiceIsLostWithItsInstance(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		a := w.executor("a", time.Hour)
		w.executor("b", time.Hour)
		time.Sleep(time.Second)
		tr := w.trigger(job.RouteFirst, atMostOnce)
		time.Sleep(10 * time.Minute) // longer than JetStream knows message ids
		w.wantBegan("a job")
		a.die()
		time.Sleep(time.Minute)
		w.wantBegan("")
		w.wantTold(tr, "started a",
			"finished lost instance a began this attempt and went silent, and delivery at_most_once forbids to run it again")
		w.wantTriggers(0)
	})
}

func TestAnInstanceThatWasCutOffGoesOnWithWhatItHas(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.executor("a", 2*time.Minute)
		w.executor("b", 2*time.Minute)
		time.Sleep(time.Second)
		tr := w.trigger(job.RouteFirst, atMostOnce)
		time.Sleep(time.Second)
		w.broker.Partition("a")
		time.Sleep(bus.AckWait - 2*time.Second)
		w.broker.Heal("a")
		time.Sleep(3 * time.Minute)
		w.wantBegan("a job")
		w.wantTold(tr, "started a", "finished succeeded a")
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

func TestDeliveriesThatNobodyBeganDoNotLoseAnAttempt(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.executor("a", time.Minute, oneSlot)
		time.Sleep(time.Second)
		w.trigger(job.RouteFirst)
		time.Sleep(time.Second)
		tr := w.trigger(job.RouteFirst, atMostOnce)
		time.Sleep(3 * time.Minute)
		w.wantBegan("a job, a job")
		if told := w.told(tr); told[len(told)-1] != "finished succeeded a" {
			t.Errorf("told: %q", told)
		}
		w.wantTriggers(0)
	})
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
		if told := w.told(late); told[len(told)-1] != "finished missed no instance of its group could begin it by 2026-01-05T02:00:11Z" {
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
		for range 2000 {
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
