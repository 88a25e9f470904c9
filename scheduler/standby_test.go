package scheduler_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"carillon/bus"
	"carillon/job"
)

// jobReads returns the requests to read JOBS that are made from now on: the shard's
// filter, and from which revision on.
func (w *world) jobReads() func() map[string]uint64 {
	w.t.Helper()
	sub, err := w.conn.NC.SubscribeSync("$JS.API.CONSUMER.CREATE.KV_" + bus.BucketJobs + ".>")
	if err != nil {
		w.t.Fatal(err)
	}
	return func() map[string]uint64 {
		w.t.Helper()
		reads := map[string]uint64{}
		for n, _, _ := sub.Pending(); n > 0; n-- {
			m, err := sub.NextMsg(time.Second)
			if err != nil {
				w.t.Fatal(err)
			}
			var request struct {
				Config struct {
					From    uint64   `json:"opt_start_seq"`
					Filter  string   `json:"filter_subject"`
					Filters []string `json:"filter_subjects"`
				} `json:"config"`
			}
			if err := json.Unmarshal(m.Data, &request); err != nil {
				w.t.Fatal(err)
			}
			reads[request.Config.Filter+strings.Join(request.Config.Filters, " ")] = request.Config.From
		}
		return reads
	}
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
		if err := w.conn.DeleteJob(w.t.Context(), jobs[31], bus.Edit{At: time.Now()}); err != nil {
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

		var last uint64
		made := reads()
		for _, from := range made {
			last = max(last, from)
			if from <= uint64(len(jobs)) {
				t.Errorf("the successor read from revision %d, and had read %d before", from, len(jobs))
			}
		}
		if len(made) == 0 || last == 0 {
			t.Errorf("the successor did not read on: %v", made)
		}
		for i, n := range jobs[:31] {
			all := w.wantEachOnce(n, second(1))
			want := 1
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
