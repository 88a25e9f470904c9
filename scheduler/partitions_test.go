package scheduler_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

const partitions = 3

// everywhere returns the name of a job of each shard.
func (w *world) everywhere() (names []job.Name) {
	shards := w.conn.Cluster().Shards
	names = make([]job.Name, shards)
	for i, found := 0, 0; found < shards; i++ {
		name := job.Name(fmt.Sprintf("g/job-%d", i))
		if shard := name.Shard(shards); names[shard] == "" {
			names[shard] = name
			found++
		}
	}
	return names
}

func TestShardsOfAllPartitionsFireOnceThroughTakeovers(t *testing.T) {
	runPartitioned(t, start, 8, partitions, func(w *world) {
		first := start.Add(time.Second)
		names := w.everywhere()
		for _, name := range names {
			w.put(name, cron("* * * * * ?"))
		}
		w.startNode("a")
		w.startNode("b")
		time.Sleep(20 * time.Second)
		w.killNode("a")
		time.Sleep(30 * time.Second)
		w.startNode("a")
		time.Sleep(20 * time.Second)
		w.stopNode("b")
		time.Sleep(20 * time.Second)
		w.wantEachOnce(first, names...)
		for shard, name := range names {
			w.wantOn(name, w.conn.TrigOf(shard))
		}
	})
}

// wantOn checks that a stream has all records of a job, which is alone in its shard.
func (w *world) wantOn(name job.Name, stream string) {
	w.t.Helper()
	subject := bus.SubjectRecord(name.Shard(w.conn.Cluster().Shards))
	if m, err := w.conn.Last(w.t.Context(), stream, subject); err != nil || m.Subject != subject {
		w.t.Errorf("%s has no record of %s: %v", stream, name, err)
	}
}

func TestRunsOfAllPartitionsAreTriedAgain(t *testing.T) {
	runPartitioned(t, start, 8, partitions, func(w *world) {
		names := w.everywhere()
		for _, name := range names {
			w.put(name, job.Schedule{FixedDelay: job.Duration(10 * time.Second)}, func(j *job.Job) {
				j.Retry = job.Retry{Limit: 2, Delay: job.Duration(time.Second)}
			})
		}
		w.executeAs(func(tr *bus.Trigger) (time.Duration, job.Status) {
			if tr.Attempt < 3 {
				return time.Millisecond, job.StatusFailed
			}
			return time.Millisecond, job.StatusSucceeded
		})
		w.startNode("a")
		time.Sleep(time.Minute)
		w.killNode("a")
		w.startNode("b")
		time.Sleep(time.Minute)
		for name, all := range w.firesOf(0, names...) {
			if n := len(all); n < 6 {
				t.Errorf("%s: %d fires in two minutes, one 10 s after each end", name, n)
			}
		}
	})
}

func TestAStreamOfEventsThatIsAwayHidesNothingOfTheOthers(t *testing.T) {
	runPartitioned(t, start, 3, partitions, func(w *world) {
		name := w.everywhere()[2]
		w.execute(time.Second)
		w.startNode("a")
		w.put(name, cron("* * * * * ?"), func(j *job.Job) { j.Overlap = job.Overlap{Policy: job.OverlapSkip} })
		time.Sleep(time.Minute)
		info, err := w.conn.Info(w.t.Context(), "EVT2")
		for _, stream := range []string{"EVT1", "EVT2"} {
			err = errors.Join(err, w.conn.JS.DeleteStream(w.t.Context(), stream))
		}
		if err == nil {
			_, err = w.conn.JS.CreateStream(w.t.Context(), info.Config)
		}
		if err != nil {
			t.Fatal(err)
		}
		began := func() (n int) {
			for _, f := range w.fires(name, time.Second) {
				if f.Status == job.StatusPending {
					n++
				}
			}
			return n
		}
		time.Sleep(2 * time.Minute)
		before := began()
		time.Sleep(time.Minute)
		if n := began() - before; n < 20 {
			t.Errorf("%d runs in a minute, long after EVT2 was made anew, and EVT1 is away", n)
		}
	})
}

// The housekeeper trims each stream of events by how far the readers of that one have come.
func TestAtLengthTheEventsOfAllPartitionsAreTrimmed(t *testing.T) {
	runPartitioned(t, start, 3, partitions, func(w *world) {
		w.keepEvents = 5 * time.Minute
		for _, name := range w.everywhere() {
			w.put(name, job.Schedule{FixedRate: job.Duration(time.Minute)})
		}
		stopped := map[string]*atomic.Bool{}
		for _, stream := range w.conn.Evts() {
			stopped[stream], _ = w.moveEventsOf(stream)
		}
		w.execute(time.Millisecond)
		w.startNode("a")
		time.Sleep(time.Minute + time.Second)
		stopped["EVT2"].Store(true) // the log store has nothing of it from now on
		time.Sleep(15 * time.Minute)
		for stream, want := range map[string]time.Duration{"EVT": w.keepEvents, "EVT1": w.keepEvents, "EVT2": 15 * time.Minute} {
			if oldest := time.Since(w.state(stream).FirstTime); oldest < want-time.Minute || oldest > want+3*time.Minute {
				t.Errorf("the oldest event of %s is %v old, want %v", stream, oldest, want)
			}
		}
	})
}

func TestANodeStartsAndFiresWhileAPartitionIsSilent(t *testing.T) {
	runPartitioned(t, start, 3, partitions, func(w *world) {
		var ran [3]atomic.Int32
		w.executeAs(func(tr *bus.Trigger) (time.Duration, job.Status) {
			ran[tr.Shard].Add(1)
			return time.Millisecond, job.StatusSucceeded
		})
		for _, name := range w.everywhere() {
			w.put(name, cron("* * * * * ?"))
		}
		w.broker.Silence("TRIG1")
		w.startNode("a")
		time.Sleep(2 * time.Minute)
		if ran[0].Load() < 60 || ran[1].Load() != 0 || ran[2].Load() < 60 {
			t.Errorf("%d, %d and %d runs in two minutes", ran[0].Load(), ran[1].Load(), ran[2].Load())
		}
		w.broker.Silence("")
		time.Sleep(2 * time.Minute)
		if n := ran[1].Load(); n < 60 {
			t.Errorf("%d runs of the partition once it answers", n)
		}
	})
}
