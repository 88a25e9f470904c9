package cluster_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAWatchHearsOfAChangeRightAfterARestart(t *testing.T) {
	inCluster(t, func(w *world) {
		w.put(aJob("g/a", "1 * * * *"), cluster.Edit{At: time.Now()})
		w.put(aJob("g/a", "2 * * * *"), cluster.Edit{At: time.Now()})
		known := func(history bool) (jetstream.KeyWatcher, int) {
			watch, err := w.conn.Jobs().Watch(w.t.Context(), history)
			if err != nil {
				w.t.Fatal(err)
			}
			n := 0
			for e := range watch.Updates() {
				if e == nil {
					break
				}
				n++
			}
			return watch, n
		}
		newest, n := known(false)
		if n != 1 {
			w.t.Errorf("%d entries, want the newest", n)
		}
		all, n := known(true)
		if n != 2 {
			w.t.Errorf("%d entries, want every version", n)
		}
		w.restart()
		time.Sleep(time.Second)
		asked := time.Now()
		entry := w.put(aJob("g/a", "3 * * * *"), cluster.Edit{At: time.Now()})
		for _, watch := range []jetstream.KeyWatcher{newest, all} {
			if e := <-watch.Updates(); e == nil || e.Revision() != entry.Revision || e.Operation() != jetstream.KeyValuePut {
				w.t.Errorf("heard %v", e)
			}
			if err := watch.Stop(); err != nil {
				w.t.Error(err)
			}
		}
		if took := time.Since(asked); took > 10*time.Millisecond {
			w.t.Errorf("heard after %v", took)
		}
	})
}

// Nothing is known to be all there is before the bucket's leader has confirmed it: a
// consumer that is on a replica that lags behind finds too little.
func TestAWatchIsNotCaughtUpWithALaggingReplica(t *testing.T) {
	inCluster(t, func(w *world) {
		w.put(aJob("g/a", "1 * * * *"), cluster.Edit{At: time.Now()})
		w.put(aJob("g/b", "1 * * * *"), cluster.Edit{At: time.Now()})
		conn := w.connect("watcher")
		for _, history := range []bool{false, true} {
			w.broker.Lag("watcher")
			watch, err := conn.Jobs().Watch(w.t.Context(), history)
			if err != nil {
				w.t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
			select {
			case e := <-watch.Updates():
				w.t.Fatalf("heard %v of a replica that has nothing", e)
			default:
			}
			w.broker.Heal("watcher")
			n := 0
			for e := range watch.Updates() {
				if e == nil {
					break
				}
				n++
			}
			if n != 2 {
				w.t.Errorf("with history %t there are %d entries before all is said; want 2", history, n)
			}
			if err := watch.Stop(); err != nil {
				w.t.Error(err)
			}
		}
	})
}

func TestJobsAreReadWholeThoughAReplicaLagsBehind(t *testing.T) {
	inCluster(t, func(w *world) {
		for i := range 5 {
			w.put(aJob("g/a", strconv.Itoa(i)+" * * * *"), cluster.Edit{At: time.Now()})
		}
		shard := job.Name("g/a").Shard(shards)
		last, err := w.conn.Jobs().Info(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		conn := w.connect("reader")
		for _, lags := range []bool{false, true} {
			if lags {
				w.broker.Lag("reader")
			}
			var got []uint64
			err := conn.Jobs().Read(w.t.Context(), shard, 1, last.State.LastSeq, func(e jetstream.KeyValueEntry) { got = append(got, e.Revision()) })
			if diff := cmp.Diff([]uint64{2, 3, 4, 5}, got); err != nil || diff != "" {
				w.t.Errorf("lagging %t: %v, %s", lags, err, diff)
			}
			if versions, err := conn.Jobs().Versions(w.t.Context(), "g/a"); err != nil || len(versions) != 5 {
				w.t.Errorf("lagging %t: %d versions, %v", lags, len(versions), err)
			}
		}
		err = conn.Jobs().Read(w.t.Context(), shard, 0, last.State.LastSeq+1, func(jetstream.KeyValueEntry) {})
		if !errors.Is(err, job.ErrUnavailable) {
			w.t.Errorf("read of a leader that does not know what the caller does: %v", err)
		}
	})
}
