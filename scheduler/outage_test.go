package scheduler_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
)

func TestARestartOfTheBrokerLosesNothing(t *testing.T) {
	run(t, func(w *world) {
		jobs := names(16)
		for _, n := range jobs {
			w.put(n, secondly)
		}
		w.startNode("a")
		w.startNode("b")
		time.Sleep(5 * time.Second) // just when fires are due
		for range 4 {
			w.broker.Stop()
			w.broker.Start()
			time.Sleep(5 * time.Second)
		}
		time.Sleep(500 * time.Millisecond)
		for n, all := range w.wantEachOnce(second(1), jobs...) {
			if d := longest(all[2:]); d > jet.LeaseTTL {
				t.Errorf("%s: a fire was decided %v late", n, d)
			}
		}
	})
}

func TestTenSecondsWithoutABrokerAreNoMisfire(t *testing.T) {
	run(t, func(w *world) {
		jobs := names(16)
		for _, n := range jobs {
			w.put(n, secondly)
		}
		w.startNode("a")
		w.startNode("b")
		time.Sleep(5500 * time.Millisecond)
		w.broker.Stop()
		time.Sleep(10 * time.Second)
		w.broker.Start()
		time.Sleep(10 * time.Second)
		for n, all := range w.wantEachOnce(second(1), jobs...) {
			for _, f := range all {
				if f.Status != job.StatusPending || f.Cause != job.CauseSchedule {
					t.Fatalf("%s at %v: %s, %s %s", n, f.FireTime, f.Status, f.Cause, f.Reason)
				}
			}
		}
	})
}

func TestMisfirePoliciesRuleAfterALongOutage(t *testing.T) {
	run(t, func(w *world) {
		policy := func(m job.Misfire) func(*job.Job) { return func(j *job.Job) { j.Misfire = m } }
		w.put("g/skip", cron("* * * * *"), policy(job.Misfire{Policy: job.MisfireSkip}))
		w.put("g/once", cron("* * * * *"), policy(job.Misfire{Policy: job.FireOnce}))
		w.put("g/all", cron("* * * * *"), policy(job.Misfire{Policy: job.FireAll}))
		w.put("g/two", cron("* * * * *"), policy(job.Misfire{Policy: job.FireAll, MaxCount: 2}))
		w.startNode("a")
		time.Sleep(time.Minute) // 00:01:30
		w.broker.Stop()
		time.Sleep(5 * time.Minute)
		w.broker.Start()
		time.Sleep(time.Minute) // 00:07:30
		w.wantDecided(
			"g/skip 00:01:00 pending schedule", "g/once 00:01:00 pending schedule",
			"g/all 00:01:00 pending schedule", "g/two 00:01:00 pending schedule",
			"g/skip 00:02:00 missed schedule x5",
			"g/once 00:02:00 missed schedule x4", "g/once 00:06:00 pending misfire",
			"g/all 00:02:00 pending misfire", "g/all 00:03:00 pending misfire", "g/all 00:04:00 pending misfire",
			"g/all 00:05:00 pending misfire", "g/all 00:06:00 pending misfire",
			"g/two 00:02:00 missed schedule x3", "g/two 00:05:00 pending misfire", "g/two 00:06:00 pending misfire",
			"g/skip 00:07:00 pending schedule", "g/once 00:07:00 pending schedule",
			"g/all 00:07:00 pending schedule", "g/two 00:07:00 pending schedule",
		)
	})
}

func TestANodeFindsItsWayFromSomeStepsOfATakeover(t *testing.T) { findWay(t, 1, 46, 91) }

func TestAtLengthANodeFindsItsWayFromFurtherStepsOfATakeover(t *testing.T) {
	findWay(t, 16, 31, 61, 76)
}

// findWay has a node fall silent, or deaf, after each of these writes of its takeover.
func findWay(t *testing.T, steps ...int64) {
	t.Helper()
	for _, fault := range []struct {
		name string
		set  func(*bustest.Broker, string)
	}{
		{"silent", (*bustest.Broker).Partition},
		{"deaf", (*bustest.Broker).Deafen},
	} {
		for _, step := range steps {
			t.Run(fmt.Sprintf("%s after %d writes", fault.name, step), func(t *testing.T) {
				run(t, func(w *world) {
					jobs := names(16)
					for _, n := range jobs {
						w.put(n, secondly)
					}
					way := &tripwire{InProcessConnProvider: w.broker.Dialer("a"), trip: func() { fault.set(w.broker, "a") }}
					conn := w.connectBy("a", way)
					if err := conn.Open(w.t.Context()); err != nil {
						w.t.Fatal(err)
					}
					way.left.Store(step)
					w.startNodeOn("a", conn)
					time.Sleep(2 * time.Minute)
					w.broker.Heal("a")
					time.Sleep(20 * time.Second)
					w.put("g/later", secondly)
					time.Sleep(3500 * time.Millisecond)
					w.wantEachOnce(second(1), jobs...)
					if later := w.fires("g/later", time.Second); len(later) != 3 {
						t.Errorf("%d fires of a job that was put after the outage, want 3", len(later))
					}
				})
			})
		}
	}
}

func TestAFullStreamLosesNothingOnceThereIsRoom(t *testing.T) {
	run(t, func(w *world) {
		w.limit(bus.StreamTrig, 64<<10)
		jobs := names(16)
		for _, n := range jobs {
			w.put(n, secondly)
		}
		w.startNode("a")
		time.Sleep(2 * time.Minute)
		if all := w.fires(jobs[0], time.Second); len(all) == 0 || len(all) > 60 {
			t.Fatalf("%d fires decided on a stream that should be full by now", len(all))
		}
		w.limit(bus.StreamTrig, 256<<20)
		time.Sleep(5500 * time.Millisecond)
		w.wantEachOnce(second(1), jobs...)
	})
}

func TestAStreamThatIsLostIsTakenUpAtItsFloor(t *testing.T) {
	run(t, func(w *world) {
		jobs := names(16)
		for _, n := range jobs {
			w.put(n, secondly, func(j *job.Job) { j.Misfire.Grace = job.Duration(time.Hour) })
		}
		w.startNode("a")
		time.Sleep(100 * time.Second) // floors are written every 30 s
		trig, err := w.conn.JS.Stream(w.t.Context(), bus.StreamTrig)
		if err != nil {
			w.t.Fatal(err)
		}
		if err := trig.Purge(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(20500 * time.Millisecond)
		for n, all := range w.firesOf(time.Second, jobs...) {
			if first := all[0].FireTime; first.Before(second(90)) || first.After(second(92)) {
				t.Errorf("%s goes on at %v, want the floor that was written 90 s after the start", n, first)
			}
			w.wantEverySecond(n, all[0].FireTime, all)
			if i := slices.IndexFunc(all, func(f fire) bool { return f.Status != job.StatusPending }); i >= 0 {
				t.Errorf("%s: %+v", n, all[i])
			}
		}
		w.wantTriggersOnce()
	})
}
