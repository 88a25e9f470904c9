package scheduler_test

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAVersionThatANewerServerHasSavedHoldsItsJobAndNoOther(t *testing.T) {
	run(t, func(w *world) {
		w.put("g/a", cron("* * * * *"))
		w.put("g/b", cron("* * * * *"))
		w.startNode("a")
		time.Sleep(time.Minute) // 00:01:30
		j := job.Job{Job: "g/a", Schedule: cron("* * * * *"), Task: job.Task{Handler: "h"}}.WithDefaults()
		data, err := json.Marshal(job.Version{Job: j, Version: 2, EffectiveFrom: time.Now(), Format: job.VersionFormat + 1})
		if err != nil {
			t.Fatal(err)
		}
		kv, err := w.conn.JS.KeyValue(w.t.Context(), bus.BucketJobs)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := kv.Put(w.t.Context(), strconv.Itoa(j.Job.Shard(8))+".g.a", data); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // 00:02:30
		w.wantDecided("g/a 00:01:00 pending schedule", "g/b 00:01:00 pending schedule", "g/b 00:02:00 pending schedule")
		if _, _, err := w.conn.Jobs().Put(w.t.Context(), j, cluster.Edit{At: time.Now()}); err == nil {
			t.Error("an edit was taken that loses what the newer server has saved")
		}
	})
}
