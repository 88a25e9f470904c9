package scheduler_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAtLengthNoNumberOfEditsWithoutAnOwnerLosesAFire(t *testing.T) {
	run(t, func(w *world) {
		everyTen := func(j *job.Job) { j.Misfire = job.Misfire{Policy: job.FireAll, MaxCount: 100} }
		w.put("g/a", cron("*/10 * * * *"), everyTen)
		w.startNode("a")
		time.Sleep(10 * time.Minute) // 00:10:30
		w.stopNode("a")
		time.Sleep(50 * time.Minute) // 01:00:30
		edit := func(i int) error {
			j := job.Job{Job: "g/a", Schedule: cron("*/10 * * * *"), Task: job.Task{Handler: "h"}, Title: strconv.Itoa(i)}
			everyTen(&j)
			_, _, err := w.conn.Jobs().Put(w.t.Context(), j.WithDefaults(), cluster.Edit{At: time.Now()})
			return err
		}
		saved := 0
		var err error
		for ; saved < 40; saved++ {
			if err = edit(saved); err != nil {
				break
			}
		}
		if saved != bus.JobHistory-1 || !errors.Is(err, job.ErrUnavailable) {
			t.Errorf("%d edits were taken, and then %v", saved, err)
		}
		w.startNode("b")
		time.Sleep(time.Minute)
		w.wantDecided(
			"g/a 00:10:00 pending schedule", "g/a 00:20:00 pending misfire", "g/a 00:30:00 pending misfire",
			"g/a 00:40:00 pending misfire", "g/a 00:50:00 pending misfire", "g/a 01:00:00 pending misfire",
		)
		for i := range 40 {
			time.Sleep(time.Duration(i) * 5 * time.Millisecond)
			if err := edit(100 + i); err != nil {
				t.Fatalf("edit %d with an owner: %v", i, err)
			}
		}
	})
}
