package ingest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

func TestRunsOfAllPartitionsAreInTheStoreOnce(t *testing.T) {
	runPartitioned(t, 3, func(w *world) {
		fires := func(from, to int) (all []fire) {
			for shard := range shards {
				for n := from; n < to; n++ {
					all = append(all, fire{ofShard(shard), n})
				}
			}
			return all
		}
		// Some of them have only been decided: nobody has begun them.
		publish := func(all []fire) {
			for _, f := range all {
				w.decide(f)
				if f.n%2 == 0 {
					w.finish(f)
				}
			}
		}
		early, late := fires(0, 10), fires(10, 20)
		publish(early)
		a := w.start("a")
		time.Sleep(time.Second)
		w.wantStatuses(early)
		publish(late)
		a.crash()
		w.start("b")
		time.Sleep(2 * time.Minute)
		w.wantStatuses(append(early, late...))
		w.wantRows(len(early) + len(late))
		for _, stream := range w.conn.Trigs() {
			if n := w.unacknowledged(stream, bus.ConsumerLedger); n != 0 {
				t.Errorf("%d records of %s are not acknowledged", n, stream)
			}
		}
		for _, stream := range w.conn.Evts() {
			if n := w.unacknowledged(stream, bus.ConsumerEvents); n != 0 {
				t.Errorf("%d events of %s are not acknowledged", n, stream)
			}
		}
	})
}

func TestAPartitionThatIsAwayKeepsNoOtherOutOfTheStore(t *testing.T) {
	runPartitioned(t, 2, func(w *world) {
		fires := []fire{{ofShard(1), 0}, {ofShard(1), 1}}
		w.decide(fires[0])
		w.finish(fires[0])
		w.decide(fires[1])
		synctest.Wait()
		w.broker.Stop()
		w.broker.Configure("users: [{user: local}]", `users: [{user: local, permissions: {publish: {deny: [
			"$JS.API.STREAM.*.TRIG", "$JS.API.STREAM.*.EVT", "$JS.API.CONSUMER.*.TRIG.>", "$JS.API.CONSUMER.*.EVT.>",
		]}}}]`)
		w.broker.Start()
		time.Sleep(10 * time.Second)
		w.start("a")
		time.Sleep(2 * time.Minute)
		w.wantStatuses(fires)
	})
}

// ofShard returns the name of a job of a shard.
func ofShard(shard int) job.Name {
	for i := 0; ; i++ {
		if name := job.Name(fmt.Sprintf("billing/j%d", i)); name.Shard(shards) == shard {
			return name
		}
	}
}

// decide stores the record of a fire, as the owner of its job's shard does.
func (w *world) decide(f fire) {
	w.t.Helper()
	r := &journal.Record{Shard: f.job.Shard(shards), Epoch: 1, Commit: fmt.Sprint(f), Node: "a", At: f.time().Add(5 * time.Millisecond), Outcomes: []journal.Outcome{
		{Status: job.StatusPending, Cause: job.CauseSchedule, FireTime: f.time(), Jobs: []string{journal.JobVersion(f.job, 3)}},
	}}
	w.publish(r.Msg())
}

// wantStatuses checks that every second run has succeeded, and the others wait.
func (w *world) wantStatuses(fires []fire) {
	w.t.Helper()
	for _, f := range fires {
		want := []job.Status{job.StatusSucceeded, job.StatusPending}[f.n%2]
		if runs, err := w.store.Run(w.t.Context(), f.id()); err != nil || len(runs) != 1 || runs[0].Status != want {
			w.t.Errorf("run %d of %s is %+v, %v; want %s", f.n, f.job, runs, err, want)
		}
	}
}
