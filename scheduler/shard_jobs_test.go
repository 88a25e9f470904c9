package scheduler

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus/bustest"
	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/bus/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAShardsJobsAreHeardOfOnceWhileTheyAreReadAndEdited(t *testing.T) {
	bustest.Run(t, time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC), func(t *testing.T) {
		broker := bustest.NewBroker(t)
		conn := clustertest.Setup(t, broker, "node", 1)
		const jobs, versions = 30, 20
		edit := func(version int) {
			for i := range jobs {
				j := job.Job{Job: job.Name(fmt.Sprintf("g/%d", i)), Schedule: job.Schedule{FixedRate: job.Duration(time.Hour)}, Task: job.Task{Handler: fmt.Sprint("h", version)}}
				if _, _, err := conn.PutJob(t.Context(), j.WithDefaults(), cluster.Edit{At: time.Now()}); err != nil {
					t.Error(err)
				}
			}
		}
		edit(0)
		s, err := New(conn, Config{Node: "n"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var hearing, editing sync.WaitGroup
		hearing.Go(func() { s.hearOfJobs(ctx) })
		edit(1)
		editing.Go(func() {
			for v := 2; v < versions; v++ {
				edit(v)
			}
		})
		b := s.hearJobs(0)
		for range 50 { // as one stands by, and as one takes over
			if err := b.read(ctx); err != nil {
				t.Fatal(err)
			}
		}
		editing.Wait()
		time.Sleep(time.Second)
		b.mu.Lock()
		if len(b.changes) != jobs*versions || b.reading {
			t.Errorf("%d changes were heard of, want %d; reading: %t", len(b.changes), jobs*versions, b.reading)
		}
		b.missed = b.revision + 1 // heard of when the leader had just said that there is no more
		b.mu.Unlock()
		if complete, err := b.readOn(ctx); complete || err != nil {
			t.Errorf("a change that was heard of has not been read, and nothing is lacking: %t, %v", complete, err)
		}
		edit(versions)
		if complete, err := b.readOn(ctx); !complete || err != nil || len(b.changes) != jobs*(versions+1) {
			t.Errorf("complete %t with %d changes, %v", complete, len(b.changes), err)
		}
		stop()
		hearing.Wait()
	})
}
