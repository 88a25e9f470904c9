package dispatch_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

// govern makes "g" a group with limits.
func (w *world) govern(limits cluster.GroupLimits) {
	w.t.Helper()
	if err := w.conn.Groups().Govern(w.t.Context(), "g"); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.conn.Groups().Set(w.t.Context(), "g", cluster.GroupSettings{Limit: &limits.Limit, Rate: &limits.Rate}); err != nil {
		w.t.Fatal(err)
	}
	if err := w.conn.Groups().Setup(w.t.Context(), cluster.Group{Group: "g", Dispatched: true}); err != nil {
		w.t.Fatal(err)
	}
}

func slots(n int) func(*executor.Config) { return func(c *executor.Config) { c.Slots = n } }

// count returns how many runs have begun since it was asked last.
func (w *world) count() int {
	began := w.began()
	if began == "" {
		return 0
	}
	return strings.Count(began, ",") + 1
}

func TestAGroupRunsNoMoreAtOnceThanItsLimit(t *testing.T) {
	run(t, func(w *world) {
		w.govern(cluster.GroupLimits{Limit: 3})
		_, kill := w.dispatcher("one")
		w.dispatcher("two")
		w.executor("a", 10*time.Second, slots(8))
		w.executor("b", 10*time.Second, slots(8))
		time.Sleep(3 * time.Second)
		for range 10 {
			w.trigger(job.RouteAny)
		}
		most, total := 0, 0
		for second := range 60 {
			time.Sleep(time.Second)
			n := w.count()
			if total += n; second < 9 {
				most += n
			}
			if second == 13 { // the other one takes over, and knows how many are alive
				kill()
			}
		}
		if most != 3 || total != 10 {
			t.Errorf("%d runs began in the first nine seconds, want 3; %d in all, want 10", most, total)
		}
		w.wantTriggers(0)
	})
}

func TestAGroupBeginsNoMoreRunsASecondThanItsRate(t *testing.T) {
	run(t, func(w *world) {
		w.govern(cluster.GroupLimits{Rate: 4})
		stop, _ := w.dispatcher("one")
		w.dispatcher("two")
		w.executor("a", time.Millisecond, slots(50))
		time.Sleep(10 * time.Second)
		for range 40 {
			w.trigger(job.RouteAny)
		}
		total := 0
		for second := range 15 {
			time.Sleep(time.Second)
			n := w.count()
			if total += n; n > 5 {
				t.Errorf("%d runs began in second %d", n, second)
			}
			if second == 4 {
				stop()
			}
		}
		if total != 40 {
			t.Errorf("%d runs began in 15 s, want 40", total)
		}
		w.wantTriggers(0)
	})
}

func TestRunsOfAHigherPriorityBeginFirst(t *testing.T) {
	run(t, func(w *world) {
		w.govern(cluster.GroupLimits{})
		w.dispatcher("node")
		w.executor("a", time.Second, oneSlot)
		time.Sleep(3 * time.Second)
		for _, p := range []job.Priority{job.PriorityLow, job.PriorityNormal, job.PriorityHigh} {
			for range 12 {
				w.trigger(job.RouteAny, named(job.Name("g/"+p.String())), priority(p))
			}
		}
		time.Sleep(50 * time.Second)
		began := w.began()
		first := strings.Split(began, ", ")[1:15] // one had begun before the others came
		high := strings.Count(strings.Join(first, " "), "high")
		if high < 9 || !strings.Contains(strings.Join(first, " "), "normal") || strings.Count(began, ",") != 35 {
			t.Errorf("began: %s", began)
		}
		w.wantTriggers(0)
	})
}

func TestWhatMayNotWaitAnyLongerIsMissedWithoutUsingUpTheRate(t *testing.T) {
	run(t, func(w *world) {
		w.govern(cluster.GroupLimits{Rate: 1})
		w.dispatcher("node")
		w.executor("a", time.Millisecond)
		time.Sleep(10 * time.Second)
		var late *bus.Trigger
		for range 100 {
			late = w.trigger(job.RouteAny, func(t *bus.Trigger) { t.StartBy = time.Now().Add(5 * time.Second) })
		}
		time.Sleep(8 * time.Second)
		if n := w.count(); n < 4 || n > 7 {
			t.Errorf("%d runs began, want five or so", n)
		}
		w.wantTold(late, "finished missed no instance of its group could begin it by 2026-01-05T02:00:15Z")
		w.wantTriggers(0)
	})
}

func TestAGroupGoesOnAfterRunsThatMayNotWaitAnyLonger(t *testing.T) {
	run(t, func(w *world) {
		w.govern(cluster.GroupLimits{Limit: 1})
		w.dispatcher("node")
		w.executor("a", 10*time.Second)
		time.Sleep(time.Second)
		w.trigger(job.RouteAny)
		for range 10 {
			w.trigger(job.RouteAny, func(t *bus.Trigger) { t.StartBy = time.Now().Add(5 * time.Second) })
		}
		w.trigger(job.RouteAny)
		time.Sleep(30 * time.Second)
		if n := w.count(); n != 2 {
			t.Errorf("%d runs began, want 2", n)
		}
		w.wantTriggers(0)
	})
}

func TestAGroupThatBecomesGovernedGoesOn(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.executor("a", 5*time.Second)
		time.Sleep(time.Second)
		w.trigger(job.RouteAny)
		w.trigger(job.RouteAny)
		time.Sleep(time.Second)
		w.govern(cluster.GroupLimits{Limit: 2})
		time.Sleep(time.Second) // until the executor has heard of it, it takes runs
		w.trigger(job.RouteAny) // two are alive
		time.Sleep(time.Second)
		if n := w.count(); n != 2 {
			t.Errorf("%d runs began, want 2", n)
		}
		time.Sleep(3 * time.Second)
		w.govern(cluster.GroupLimits{}) // no limit any more
		for range 3 {
			w.trigger(job.RouteAny)
		}
		time.Sleep(3 * time.Second)
		if n := w.count(); n != 4 {
			t.Errorf("then %d runs began, want 4", n)
		}
		time.Sleep(5 * time.Second)
		w.wantTriggers(0)
	})
}

func TestARunThatIsCalledOffWhileItWaitsIsNotBegun(t *testing.T) {
	run(t, func(w *world) {
		w.govern(cluster.GroupLimits{Limit: 1})
		w.dispatcher("node")
		w.executor("a", 50*time.Second)
		time.Sleep(3 * time.Second)
		w.trigger(job.RouteAny)
		waiting := w.trigger(job.RouteAny, named("g/other"))
		time.Sleep(time.Second)
		var seq uint64
		if err := w.conn.Scan(w.t.Context(), bus.StreamTrig, bus.SubjectTriggers(waiting.Shard, "g"), func(m *jet.Stored) bool {
			if tr, err := bus.DecodeTrigger(m.Header, m.Data); err == nil && tr.RunID == waiting.RunID {
				seq = m.Seq
			}
			return true
		}); err != nil {
			w.t.Fatal(err)
		}
		if err := w.conn.Remove(w.t.Context(), bus.StreamTrig, seq); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		w.wantBegan("a job")
		w.wantTriggers(0)
	})
}

func TestRunsThatAreCalledOffWhileTheyWaitMakeNoRoom(t *testing.T) {
	run(t, func(w *world) {
		w.govern(cluster.GroupLimits{Limit: 1})
		w.dispatcher("node")
		w.executor("a", 20*time.Second, slots(20))
		time.Sleep(3 * time.Second)
		for range 6 {
			w.trigger(job.RouteAny)
		}
		waiting, shard := map[job.RunID]bool{}, 0
		for range 10 {
			tr := w.trigger(job.RouteAny, named("g/other"))
			waiting[tr.RunID], shard = true, tr.Shard
		}
		time.Sleep(time.Second)
		if err := w.conn.Scan(w.t.Context(), bus.StreamTrig, bus.SubjectTriggers(shard, "g"), func(m *jet.Stored) bool {
			tr, err := bus.DecodeTrigger(m.Header, m.Data)
			if err == nil && waiting[tr.RunID] {
				err = errors.Join(w.conn.Events().EndRun(w.t.Context(), tr, job.StatusCancelled, ""), w.conn.Remove(w.t.Context(), bus.StreamTrig, m.Seq))
				delete(waiting, tr.RunID)
			}
			if err != nil {
				w.t.Fatal(err)
			}
			return true
		}); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if n := w.count(); n != 1 || len(waiting) != 0 {
			t.Errorf("%d runs began, and %d were not called off; want 1 and none", n, len(waiting))
		}
	})
}

func priority(p job.Priority) func(*bus.Trigger) { return func(t *bus.Trigger) { t.Priority = p } }

// Its trigger comes again to the governor, who finds that an instance has it.
func TestARunThatIsFoundToBeAliveKeepsItsPlace(t *testing.T) {
	run(t, func(w *world) {
		w.govern(cluster.GroupLimits{Limit: 2})
		w.dispatcher("n")
		w.executor("a", time.Hour)
		time.Sleep(time.Second)
		w.trigger(job.RouteAny)
		time.Sleep(time.Second)
		w.broker.Mute("a")
		time.Sleep(bus.AckWait + 3*time.Second)
		w.broker.Heal("a")
		time.Sleep(10 * time.Second)
		if n := w.count(); n != 1 {
			t.Fatalf("%d runs began, want 1", n)
		}
		for range 3 {
			w.trigger(job.RouteAny)
		}
		time.Sleep(5 * time.Second)
		if n := w.count(); n != 1 {
			t.Errorf("%d runs began beside one that is alive, and the limit is 2", n)
		}
	})
}

// What the one who died had in hand counts as alive until it comes again.
func TestAGroupWithALongQueueGoesOnWhenItsGovernorDies(t *testing.T) {
	partitions := []bus.Partitions{1, 3}
	if testing.Short() { // three streams take the race detector a minute
		partitions = partitions[:1]
	}
	for _, n := range partitions {
		runPartitioned(t, n, func(w *world) {
			w.govern(cluster.GroupLimits{Limit: 2})
			_, kill := w.dispatcher("one")
			w.executor("a", time.Second, slots(8))
			time.Sleep(3 * time.Second)
			for i := range 250 {
				w.trigger(job.RouteAny, ofShard(i%shards))
			}
			time.Sleep(3 * time.Second)
			kill()
			w.dispatcher("two")
			time.Sleep(2 * bus.AckWait)
			w.count()
			for range 3 { // what waits is pulled again, and stays in hand
				time.Sleep(15 * time.Second)
				if n := w.count(); n < 20 || n > 31 {
					t.Errorf("%d runs began in 15 s, two at a time, of a second each", n)
				}
			}
		})
	}
}

func TestAPieceThatWaitsForItsInstanceDelaysNoOtherRunOfALimitedGroup(t *testing.T) {
	run(t, func(w *world) {
		w.govern(cluster.GroupLimits{Limit: 10})
		w.dispatcher("node")
		w.executor("a", time.Hour, oneSlot)
		w.executor("b", time.Millisecond)
		time.Sleep(3 * time.Second)
		forA := func(t *bus.Trigger) { t.Prefer = "a" }
		w.trigger(job.RouteBroadcast, forA)
		w.trigger(job.RouteBroadcast, forA, named("g/waits"))
		time.Sleep(time.Second)
		w.wantBegan("a job")
		for range 20 {
			w.trigger(job.RouteLast)
			w.wantBegan("b job")
			time.Sleep(70 * time.Millisecond)
		}
	})
}
