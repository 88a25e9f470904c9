package dispatch_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

// ofShard names a job of a shard.
func ofShard(shard int) func(*bus.Trigger) {
	for i := 0; ; i++ {
		if name := job.Name("g/job-" + strconv.Itoa(i)); name.Shard(shards) == shard {
			return named(name)
		}
	}
}

// triggerAll publishes a trigger of each shard, and returns them.
func (w *world) triggerAll(r job.Route, change ...func(*bus.Trigger)) (all []*bus.Trigger) {
	w.t.Helper()
	for shard := range shards {
		all = append(all, w.trigger(r, append(slices.Clone(change), ofShard(shard))...))
	}
	return all
}

// beginAll starts a dispatcher and an instance, which is at work on a run of each shard.
func (w *world) beginAll() (*instance, []*bus.Trigger) {
	w.t.Helper()
	w.dispatcher("n")
	a := w.executor("a", time.Hour, slots(8)) // with fewer, partitions take turns, of a second each
	time.Sleep(time.Second)
	all := w.triggerAll("")
	time.Sleep(5 * time.Second)
	w.wantAllBegan(all, "a")
	return a, all
}

// wantAllBegan checks that each trigger has begun once, on one of instances.
func (w *world) wantAllBegan(all []*bus.Trigger, instances ...string) {
	w.t.Helper()
	var want, got []string
	for _, t := range all {
		want = append(want, t.Job.Short())
	}
	for run := range strings.SplitSeq(w.began(), ", ") {
		instance, name, _ := strings.Cut(run, " ")
		if got = append(got, name); !slices.Contains(instances, instance) {
			w.t.Errorf("%q began, not on one of %v", run, instances)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		w.t.Errorf("began: %v, want %v", got, want)
	}
}

func TestExecutorsAreToldToPullFromAllPartitions(t *testing.T) {
	runPartitioned(t, 3, func(w *world) {
		stop, _ := w.dispatcher("n")
		a := w.executor("a", 0)
		all := w.triggerAll("")
		time.Sleep(2 * time.Second)
		w.wantAllBegan(all, "a")
		w.wantTriggers(0)

		// One that starts again has forgotten it, and has another secret.
		a.stop()
		a = w.executor("a", 0)
		all = w.triggerAll("")
		time.Sleep(2 * time.Second)
		w.wantAllBegan(all, "a")
		w.wantTriggers(0)

		// A server that starts later tells those that are there.
		a.stop()
		stop()
		w.executor("a", 0)
		all = w.triggerAll("")
		time.Sleep(2 * time.Second)
		w.dispatcher("n2")
		time.Sleep(2 * time.Second)
		w.wantAllBegan(all, "a")
		w.wantTriggers(0)
	})
}

func TestRoutedTriggersOfAllPartitionsAreHandedOut(t *testing.T) {
	runPartitioned(t, 3, func(w *world) {
		w.dispatcher("n")
		w.executor("a", 0)
		w.executor("b", 0)
		all := w.triggerAll(job.RouteFirst)
		time.Sleep(2 * time.Second)
		w.wantAllBegan(all, "a", "b")
		w.wantTriggers(0)
	})
}

func TestAGovernedGroupIsServedFromAllPartitions(t *testing.T) {
	runPartitioned(t, 3, func(w *world) {
		w.govern(cluster.GroupLimits{Limit: 2})
		w.dispatcher("n")
		w.executor("a", 10*time.Second)
		time.Sleep(time.Second)
		n := 0
		for _, p := range job.Priorities {
			n += len(w.triggerAll(job.RouteAny, func(t *bus.Trigger) { t.Priority = p }))
		}
		time.Sleep(5 * time.Second)
		if first := w.count(); first != 2 {
			t.Errorf("%d runs began, and the limit is 2", first)
		}
		time.Sleep(2 * time.Minute)
		if later := w.count(); later != n-2 {
			t.Errorf("%d runs began later, want %d", later, n-2)
		}
		w.wantTriggers(0)
	})
}

// All streams count from 1: the same number on another stream is another trigger.
func TestATriggerThatIsHandedOverIsTheOneOfItsPartition(t *testing.T) {
	runPartitioned(t, 3, func(w *world) {
		w.dispatcher("n")
		w.executor("a", 0)
		time.Sleep(time.Second)
		all := w.triggerAll("", func(t *bus.Trigger) { t.Task.Handler = "other" })
		time.Sleep(5 * time.Second)
		if got := w.began(); got != "" {
			t.Errorf("%s began, and cannot be done", got)
		}
		w.executor("b", 0, handles("other"))
		time.Sleep(time.Minute)
		w.wantAllBegan(all, "b")
		w.wantTriggers(0)
	})
}

func TestAnAttemptIsFoundToHaveEndedInItsPartition(t *testing.T) {
	runPartitioned(t, 3, func(w *world) {
		a, all := w.beginAll()
		for _, t := range all { // a has said so, and died before it could acknowledge
			e := bus.EventOf(t, bus.EventFinished, time.Now())
			e.Status, e.FinishedAt = job.StatusSucceeded, e.At
			m, err := w.conn.Events().Message(e)
			if err != nil {
				w.t.Fatal(err)
			}
			if _, err := w.conn.JS.PublishMsg(w.t.Context(), m); err != nil {
				w.t.Fatal(err)
			}
		}
		a.die()
		w.executor("b", 0)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		w.wantBegan("")
		w.wantTriggers(0)
	})
}

// TestAttemptsAreJudgedInTimeWhileAnotherPartitionIsSilent has two shards of that one looked at, which
// takes seconds each.
func TestAttemptsAreJudgedInTimeWhileAnotherPartitionIsSilent(t *testing.T) {
	took := func(silent string) (took time.Duration) {
		runPartitioned(t, 3, func(w *world) {
			a, all := w.beginAll()
			a.die()
			w.broker.Silence(silent)
			w.executor("b", time.Hour, slots(8))
			of := w.conn.Cluster().Partitions
			begun := time.Now()
			for left := all; len(left) > 0 && time.Since(begun) < 2*time.Minute; time.Sleep(time.Second) {
				began := w.began()
				left = slices.DeleteFunc(left, func(t *bus.Trigger) bool {
					return of.Of(t.Shard) == 0 || strings.Contains(began, "b "+t.Job.Short())
				})
				took = time.Since(begun)
			}
		})
		return took
	}
	if all, some := took(""), took(bus.StreamEvt); some > all+time.Second {
		t.Errorf("runs of the partitions that answer began elsewhere after %s, and after %s while all answer", some, all)
	}
}

// What is alive in a partition that falls silent counts as alive until it answers again.
func TestAGovernedGroupGoesOnInThePartitionsThatAnswer(t *testing.T) {
	runPartitioned(t, 3, func(w *world) {
		w.govern(cluster.GroupLimits{Limit: 2})
		w.dispatcher("n")
		w.executor("a", 10*time.Second)
		time.Sleep(time.Second)
		w.trigger(job.RouteAny, ofShard(1))
		time.Sleep(time.Second)
		w.broker.Silence("TRIG1")
		for range 5 {
			w.trigger(job.RouteAny, ofShard(0))
			w.trigger(job.RouteAny, ofShard(2))
		}
		began := 1 - w.count()
		for range 4 {
			time.Sleep(11 * time.Second)
			n := w.count()
			if began += n; n != 1 {
				t.Errorf("%d runs began in 11 s; want 1, beside that of the silent partition", n)
			}
		}
		w.broker.Silence("")
		time.Sleep(bus.AckWait)
		w.count()
		w.trigger(job.RouteAny, ofShard(1))
		time.Sleep(50 * time.Second)
		w.wantTriggers(0)
	})
}
