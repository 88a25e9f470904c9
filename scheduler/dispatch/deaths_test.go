package dispatch_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

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
		w.wantTold(tr, "started a", "held a instance a died or was cut off while it had this: delivery 1", "started b", "finished succeeded b")
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
			want := []string{"held a instance a died or was cut off while it had this: delivery 1", "started b", "finished succeeded b"}
			if tr.Delivery == job.AtMostOnce {
				want = want[1:]
			}
			w.wantTold(tr, want...)
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
			b, err := w.conn.Instances().Heartbeat(w.t.Context(), "g", "b")
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
