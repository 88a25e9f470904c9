package scheduler_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

// jobReads returns the requests to read messages of JOBS that are made from now on: how many
// there were for each revision from which on they read.
func (w *world) jobReads() func() map[uint64]int {
	w.t.Helper()
	heard, err := w.conn.NC.SubscribeSync("$JS.API.DIRECT.GET.KV_" + bus.BucketJobs)
	if err != nil {
		w.t.Fatal(err)
	}
	leader, err := w.conn.NC.SubscribeSync("$JS.API.STREAM.MSG.GET.KV_" + bus.BucketJobs)
	if err != nil {
		w.t.Fatal(err)
	}
	return func() map[uint64]int {
		w.t.Helper()
		reads := map[uint64]int{}
		for _, sub := range []*nats.Subscription{heard, leader} {
			for n, _, _ := sub.Pending(); n > 0; n-- {
				m, err := sub.NextMsg(time.Second)
				if err != nil {
					w.t.Fatal(err)
				}
				var request struct {
					Seq uint64 `json:"seq"`
				}
				if err := json.Unmarshal(m.Data, &request); err != nil {
					w.t.Fatal(err)
				}
				if request.Seq > 0 {
					reads[request.Seq]++
				}
			}
		}
		return reads
	}
}

func TestTheJobsOfManyShardsAreReadInOnePass(t *testing.T) {
	run(t, func(w *world) {
		jobs := names(32)
		for _, n := range jobs {
			w.put(n, secondly)
		}
		total := func(reads map[uint64]int) (n int) {
			for _, times := range reads {
				n += times
			}
			return n
		}
		reads := w.jobReads()
		w.startNode("a")
		time.Sleep(5500 * time.Millisecond)
		if made := reads(); total(made) != 2 { // where the first is, and a page from there
			t.Errorf("a node that begins made these requests for jobs, by revision: %v", made)
		}
		reads = w.jobReads()
		w.startNode("b") // takes over half of 8 shards, one by one, and stands by for the others as a does for these
		time.Sleep(10 * time.Second)
		if made := reads(); total(made) > 24 { // some 37 shard by shard
			t.Errorf("two nodes that share their shards made these requests for jobs, by revision: %v", made)
		}
		w.wantEachOnce(second(1), jobs...)
	})
}

func TestASuccessorReadsOnFromWhereItStoodBy(t *testing.T) {
	run(t, func(w *world) {
		jobs := names(32)
		for _, n := range jobs {
			w.put(n, secondly)
		}
		w.startNode("a")
		w.startNode("b")
		time.Sleep(5500 * time.Millisecond)
		other := func(j *job.Job) { j.Task.Handler = "other" }
		for _, n := range jobs[:8] { // while b stands by
			w.put(n, secondly, other)
		}
		if err := w.conn.Jobs().Delete(w.t.Context(), jobs[31], cluster.Edit{At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		w.killNode("a")
		reads := w.jobReads()
		time.Sleep(time.Second)
		for _, n := range jobs[8:16] { // while nobody is there
			w.put(n, secondly, other)
		}
		time.Sleep(9 * time.Second)

		made := reads()
		for from := range made {
			if from <= uint64(len(jobs)) {
				t.Errorf("the successor read from revision %d, and had read %d before", from, len(jobs))
			}
		}
		fires := w.wantEachOnce(second(1), jobs[:31]...)
		for i, n := range jobs[:31] {
			all, want := fires[n], 1
			if i < 16 {
				want = 2
			}
			if v := all[len(all)-1].Version; v != want {
				t.Errorf("%s fires by version %d, want %d", n, v, want)
			}
		}
		if all := w.fires(jobs[31], time.Second); all[len(all)-1].FireTime.After(second(6)) {
			t.Errorf("%s fires after it was deleted: %v", jobs[31], all[len(all)-1])
		}
	})
}
