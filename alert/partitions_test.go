package alert_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// of returns the name of the n-th job of group billing that is in a partition.
func (w *world) of(partition, n int) job.Name {
	for i := 0; ; i++ {
		name := job.Name(fmt.Sprintf("billing/j%d", i))
		if w.conn.Cluster().Partitions.Of(name.Shard(shards)) != partition {
			continue
		}
		if n--; n < 0 {
			return name
		}
	}
}

// Each end in a pack counts, once, though a new alerter reads the pack again.
func TestAnIncidentIsAboutAllRunsOfAPack(t *testing.T) {
	runPartitioned(t, 1, func(w *world) {
		a := w.start("a")
		w.rule(alerting.Condition{}, func(r *alerting.Rule) { r.GroupBy = alerting.ByGroup })
		var ends []*nats.Msg
		for n := range 4 {
			e := bus.EventOf(w.trigger(w.of(0, n)), bus.EventFinished, time.Now())
			e.Status, e.StartedAt, e.FinishedAt = job.StatusFailed, e.At, e.At
			if n == 3 {
				e.Status = job.StatusSucceeded
			}
			m, err := bustest.Event(w.conn.Tokens(), e)
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, m)
		}
		if _, err := w.conn.JS.PublishMsg(w.t.Context(), bustest.Pack(bus.SubjectEnds(0, "billing"), ends...)); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"", "b"} {
			if name != "" {
				a.crash()
				time.Sleep(time.Minute)
				w.start(name)
			}
			time.Sleep(time.Minute)
			if inc := w.incidents(); len(inc) != 1 || inc[0].Count != 3 {
				t.Fatalf("with alerter %q: %d incidents, the first of %+v; want one of 3 runs", name, len(inc), inc)
			}
		}
	})
}

// All streams count from 1, so a lower number on another stream is news.
func TestAnIncidentIsAboutRunsOfAllPartitions(t *testing.T) {
	runPartitioned(t, 2, func(w *world) {
		a := w.start("a")
		w.rule(alerting.Condition{}, func(r *alerting.Rule) { r.GroupBy = alerting.ByGroup })
		want := func(n int) {
			t.Helper()
			if inc := w.incidents(); len(inc) != 1 || inc[0].Count != n {
				t.Fatalf("%d incidents, the first of %+v; want one of %d runs", len(inc), inc[0], n)
			}
		}
		for n := range 3 {
			w.ends(w.of(0, n), job.StatusFailed)
		}
		w.ends(w.of(1, 0), job.StatusFailed)
		want(4)
		w.decided(job.StatusMissed, "noticed late", w.of(0, 3))
		w.decided(job.StatusMissed, "noticed late", w.of(0, 4))
		w.decided(job.StatusMissed, "noticed late", w.of(1, 1))
		want(7)
		if w.notices() != 0 {
			t.Error("notices are left on TRIG")
		}

		// Whoever follows begins where this one was, with each stream.
		time.Sleep(10 * time.Second)
		a.crash()
		w.ends(w.of(1, 2), job.StatusFailed)
		w.ends(w.of(0, 5), job.StatusFailed)
		time.Sleep(time.Minute)
		w.start("b")
		want(9)
		for _, stream := range w.conn.Evts() {
			last, err := w.conn.LastSeq(w.t.Context(), stream)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
			if upTo, err := w.conn.Events().Alerted(w.t.Context(), stream); err != nil || upTo != last {
				t.Errorf("the alerter is at %d of %s, %v; want %d", upTo, stream, err, last)
			}
		}
	})
}

// So that no node's NATS answers about the first partition's streams, as while most of their copies
// are away.
func (w *world) loseFirstPartition() {
	w.t.Helper()
	synctest.Wait()
	w.broker.Stop()
	w.broker.Configure("users: [{user: local}]", `users: [{user: local, permissions: {publish: {deny: [
		"$JS.API.STREAM.INFO.TRIG", "$JS.API.STREAM.INFO.EVT", "$JS.API.STREAM.MSG.GET.TRIG", "$JS.API.STREAM.MSG.GET.EVT", "$JS.API.CONSUMER.CREATE.EVT.>",
	]}}}]`)
	w.broker.Start()
	time.Sleep(10 * time.Second)
}

func TestAPartitionThatIsAwayHidesNothingOfTheOthers(t *testing.T) {
	runPartitioned(t, 2, func(w *world) {
		w.rule(alerting.Condition{}, func(r *alerting.Rule) { r.Alert = "ended-badly" })
		w.rule(alerting.Condition{StartsWithin: job.Duration(time.Minute)}, func(r *alerting.Rule) { r.Alert = "late" })
		w.rule(alerting.Condition{StreamFull: 80}, func(r *alerting.Rule) { r.Alert = "full" })
		w.loseFirstPartition()
		w.start("a")
		late := w.trigger(w.of(1, 0))
		body, err := late.Encode()
		if err != nil {
			t.Fatal(err)
		}
		w.put(bus.AppendTrigger(nil, late, body), bus.SubjectTrigger(late.Shard, "billing"))
		w.ends(w.of(1, 1), job.StatusFailed)
		w.decided(job.StatusMissed, "noticed late", w.of(1, 2))
		for range 7 {
			w.put(make([]byte, 64<<10), bus.SubjectTrigger(late.Shard, "x"))
		}
		time.Sleep(5 * time.Minute)
		var got []string
		for _, inc := range w.incidents() {
			got = append(got, inc.Rule+": "+inc.Subject)
		}
		slices.Sort(got)
		want := []string{"ended-badly: job " + string(w.of(1, 1)), "ended-badly: job " + string(w.of(1, 2)), "full: stream TRIG1", "late: job " + string(w.of(1, 0))}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("incidents (-want +got):\n%s", diff)
		}
	})
}
