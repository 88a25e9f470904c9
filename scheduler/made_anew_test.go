package scheduler_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// What a node has heard of a bucket says nothing of one that was made in its place.
func TestJobsGoOnAfterTheirBucketWasMadeAnew(t *testing.T) {
	run(t, func(w *world) {
		old := names(16)
		for range 3 {
			for _, n := range old {
				w.put(n, secondly)
				w.put(n, cron("0 3 * * *"))
			}
		}
		w.startNode("a")
		w.startNode("b")
		time.Sleep(10 * time.Second)
		if err := w.conn.JS.DeleteKeyValue(w.t.Context(), bus.BucketJobs); err != nil {
			t.Fatal(err)
		}
		w.setup()
		w.put("g/first", secondly) // before anybody notices
		time.Sleep(time.Minute)
		w.put("g/second", secondly)
		time.Sleep(10 * time.Second)
		w.killNode("a")
		time.Sleep(20 * time.Second)
		second := time.Date(2026, time.January, 5, 0, 1, 41, 0, time.UTC)
		if all := w.fires("g/second", time.Second); len(all) < 20 || all[0].FireTime.After(second.Add(time.Second)) {
			t.Errorf("the job that was saved in the new bucket has %d fires", len(all))
		}
		if all := w.fires("g/first", time.Second); len(all) < 60 {
			t.Errorf("the first job of the new bucket has %d fires", len(all))
		}
		if n := w.nodes["b"].Owned(); n != 8 {
			t.Errorf("b owns %d shards of 8", n)
		}
		shard := job.Name("g/second").Shard(8)
		cursor := w.cursor(shard)
		bucket, err := w.conn.Jobs().Info(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		if got := cursor.Jobs; !got.Made.Equal(bucket.Created) || got.Seq == 0 || got.Seq > bucket.State.LastSeq {
			t.Errorf("the cursor has revision %d of the JOBS of %v; that of %v is at %d", got.Seq, got.Made, bucket.Created, bucket.State.LastSeq)
		}
	})
}
