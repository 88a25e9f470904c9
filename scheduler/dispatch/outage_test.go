package dispatch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// pulled publishes a trigger that any instance may pull.
func (w *world) pulled(change ...func(*bus.Trigger)) *bus.Trigger {
	w.t.Helper()
	return w.trigger("", change...)
}

// ends returns how often each status was stored as the end of one of the runs.
func (w *world) ends(all []*bus.Trigger) map[string]int {
	w.t.Helper()
	ends := map[string]int{}
	for _, tr := range all {
		for _, told := range w.told(tr) {
			if status, ended := strings.CutPrefix(told, "finished "); ended {
				status, _, _ = strings.Cut(status, " ")
				ends[status]++
			}
		}
	}
	return ends
}

func TestAfterAnOutageTheResultOfAnExecutorThatLivesCounts(t *testing.T) {
	for _, away := range []time.Duration{15 * time.Second, 20 * time.Second, time.Minute, 10 * time.Minute} {
		for _, takes := range []time.Duration{8 * time.Second, 40 * time.Second} {
			run(t, func(w *world) {
				w.dispatcher("node-1")
				w.dispatcher("node-2")
				for _, name := range []string{"a", "b", "c", "d"} {
					w.executor(name, takes)
				}
				time.Sleep(time.Second)
				var all []*bus.Trigger
				for range 4 {
					all = append(all, w.pulled(), w.pulled(atMostOnce))
				}
				all = append(all, w.trigger(job.RouteRoundRobin), w.trigger(job.RouteRoundRobin, atMostOnce))
				time.Sleep(4 * time.Second)
				w.broker.Stop()
				time.Sleep(away)
				w.broker.Start()
				time.Sleep(3 * time.Minute)
				if ends := w.ends(all); ends["succeeded"] != len(all) || len(ends) != 1 {
					t.Errorf("NATS away for %v, runs of %v: ends are %v, want %d succeeded", away, takes, ends, len(all))
				}
				if began := strings.Split(w.began(), ", "); len(began) != len(all) {
					t.Errorf("NATS away for %v, runs of %v: %d began of %d: %q", away, takes, len(began), len(all), began)
				}
				w.wantTriggers(0)
			})
		}
	}
}

func TestARunWhoseAcknowledgementWasLostIsNotRepeatedByAnotherInstance(t *testing.T) {
	for _, leaves := range []bool{false, true} { // who has done it is there, or is not any more
		for _, delivery := range []job.Delivery{job.AtLeastOnce, job.AtMostOnce} {
			run(t, func(w *world) {
				w.dispatcher("node")
				a := w.executor("a", 5*time.Second)
				time.Sleep(time.Second)
				tr := w.pulled(func(t *bus.Trigger) { t.Delivery = delivery })
				time.Sleep(time.Second)
				w.broker.LoseAcks("a")
				w.executor("b", 5*time.Second)
				time.Sleep(5 * time.Second)
				w.broker.Heal("a")
				if leaves {
					a.stop()
				} else if got := w.ask(bus.VerbCordon); got != "accepted, cordoned 0/4" { // b gets it
					t.Error(got)
				}
				time.Sleep(time.Minute)
				w.wantBegan("a job")
				if ends := w.ends([]*bus.Trigger{tr}); ends["succeeded"] != 1 || len(ends) != 1 {
					t.Errorf("ends: %v, want succeeded once", ends)
				}
				w.wantTriggers(0)
			})
		}
	}
}

func TestAnInstanceThatDiesIsNotedSoonAlsoAfterAnOutage(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		a := w.executor("a", 20*time.Second)
		time.Sleep(time.Second)
		once, again := w.pulled(atMostOnce), w.pulled()
		time.Sleep(time.Second)
		w.executor("b", time.Second)
		w.broker.Stop()
		a.die()
		time.Sleep(time.Minute)
		w.wantBegan("a job, a job")
		w.broker.Start()
		time.Sleep(bus.AckWait - time.Second)
		w.wantBegan("")
		time.Sleep(fleet.InstanceTTL)
		w.wantBegan("b job")
		time.Sleep(5 * time.Second)
		if ends := w.ends([]*bus.Trigger{once}); ends["lost"] != 1 {
			t.Errorf("the run that must not be done twice: %v, want lost", ends)
		}
		if ends := w.ends([]*bus.Trigger{again}); ends["succeeded"] != 1 {
			t.Errorf("the other: %v, want succeeded", ends)
		}
		w.wantTriggers(0)
	})
}

func TestAnInstanceThatDoesNotAnswerKeepsItsAttemptsWhileItsHeartIsHeard(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		beat := func() { // of an instance that is alive, and deaf
			w.heartbeat(fleet.Instance{Group: "g", Instance: "deaf", State: fleet.InstanceOnline, Protocol: fleet.Protocol, At: time.Now()})
		}
		beat()
		tr := w.pulled()
		w.takeFirst("g") // and nothing is heard of it any more
		w.executor("a", time.Second)
		for range 12 {
			beat()
			time.Sleep(5 * time.Second)
		}
		w.wantBegan("")
		w.wantTriggers(1)
		time.Sleep(45 * time.Second)
		w.wantBegan("a job")
		if ends := w.ends([]*bus.Trigger{tr}); ends["succeeded"] != 1 {
			t.Errorf("ends: %v", ends)
		}
		w.wantTriggers(0)
	})
}

func TestATriggerForAnotherKindOfInstanceIsHandedOver(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.executor("a", time.Second)
		time.Sleep(time.Second)
		news := func(t *bus.Trigger) { t.Task = job.Task{Handler: "new"} }
		var all []*bus.Trigger
		for i := range 8 {
			all = append(all, w.pulled(news, named(job.Name(fmt.Sprintf("g/job-%d", i)))))
		}
		time.Sleep(3 * time.Second)
		w.wantBegan("")
		w.wantTold(all[0], `held no live instance of group g has a handler "new"`, `held no live instance of group g has a handler "new"`)
		w.executor("b", time.Second, handles("new"))
		time.Sleep(40 * time.Second)
		began := strings.Split(w.began(), ", ")
		slices.Sort(began)
		if want := "b job-0, b job-1, b job-2, b job-3, b job-4, b job-5, b job-6, b job-7"; strings.Join(began, ", ") != want {
			t.Errorf("began: %q, want %q", began, want)
		}
		if ends := w.ends(all); ends["succeeded"] != len(all) || len(ends) != 1 {
			t.Errorf("ends: %v, want %d succeeded", ends, len(all))
		}
		w.wantTriggers(0)
	})
}

func TestATriggerOfALaterVersionStaysForWhoeverKnowsIt(t *testing.T) {
	for name, governed := range map[string]bool{"routed": false, "governed": true} {
		t.Run(name, func(t *testing.T) {
			run(t, func(w *world) {
				if governed {
					w.govern(cluster.GroupLimits{Limit: 3})
				}
				w.dispatcher("node")
				w.executor("a", time.Second)
				time.Sleep(time.Second)
				given := w.givenBack()
				for _, subject := range []string{bus.SubjectTrigger(1, "g"), bus.SubjectPriority(1, job.PriorityNormal, "g")} {
					if _, err := w.conn.JS.PublishMsg(w.t.Context(), bus.NewMessage(subject, "trigger.v2", []byte(`{"v2":true}`))); err != nil {
						w.t.Fatal(err)
					}
				}
				time.Sleep(time.Minute)
				w.wantTriggers(2)
				if n := given.Load(); n == 0 || n > 40 { // two triggers, 1, 2, 4, 8, then 15 s apart, by servers a little more often
					w.t.Errorf("given back %d times", n)
				}
				w.pulled()
				time.Sleep(2 * time.Second)
				w.wantBegan("a job")
			})
		})
	}
}

func TestServersTakeOnlyTriggersOfTheGroupThatHandsThemOver(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.group("other")
		w.executor("a", time.Hour)
		w.executor("b", time.Hour, of("other"))
		time.Sleep(time.Second)
		tr := w.pulled()
		time.Sleep(time.Second)
		w.wantBegan("a job")
		for _, ack := range []string{
			"", "$JS.ACK.TRIG.any-g.2.1.1.1.0", "$JS.ACK.TRIG.ledger.2.1.1.1.0", "$JS.ACK.EVT.any-other.2.1.1.1.0", "$JS.ACK.TRIG.any-other.2.1", "$JS.ACK.TRIG.any-other.*.1.1.1.0",
			"$JS.ACK.TRIG.any-other.2.0.1.1.0", "$JS.ACK.TRIG.any-other.-1.1.1.1.0", "$JS.ACK.TRIG.any-other.2.1.1.1.0 x", "exec.g.a.drain",
		} {
			m, err := w.conn.NC.RequestMsg(bus.HandOverRequest("other", "b", w.replyTo(ack), ""), time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if err := bus.Answered(m); err == nil {
				t.Errorf("%q was taken", ack)
			}
		}
		// The subject of another group's trigger, with one's own consumer: it is not believed.
		m, err := w.conn.NC.RequestMsg(bus.HandOverRequest("other", "b", w.replyTo("$JS.ACK.TRIG.any-other.2.1.1.1.0"), ""), time.Second)
		if err != nil || bus.Answered(m) != nil {
			t.Fatal(err, bus.Answered(m))
		}
		time.Sleep(time.Minute)
		w.wantBegan("")
		if told := w.told(tr); len(told) != 1 {
			t.Errorf("told: %q", told)
		}
		w.wantTriggers(1)
	})
}
