package scheduler

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
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
				if _, _, err := conn.Jobs().Put(t.Context(), j.WithDefaults(), cluster.Edit{At: time.Now()}); err != nil {
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
		hearing.Go(func() { s.followJobs(ctx) })
		edit(1)
		editing.Go(func() {
			for v := 2; v < versions; v++ {
				edit(v)
			}
		})
		b := s.subscribeJobs(0)
		for range 50 { // as one stands by, and as one takes over
			if err := b.read(ctx, 0); err != nil {
				t.Fatal(err)
			}
		}
		editing.Wait()
		time.Sleep(time.Second)
		b.mu.Lock()
		if len(b.changes) != jobs*versions || b.reading {
			t.Errorf("%d changes were heard of, want %d; reading: %t", len(b.changes), jobs*versions, b.reading)
		}
		b.skipped = b.revision + 1 // heard of when the leader had just said that there is no more
		b.mu.Unlock()
		if complete, err := b.readOn(ctx, 0); complete || err != nil {
			t.Errorf("a change that was heard of has not been read, and nothing is lacking: %t, %v", complete, err)
		}
		edit(versions)
		if complete, err := b.readOn(ctx, 0); !complete || err != nil || len(b.changes) != jobs*(versions+1) {
			t.Errorf("complete %t with %d changes, %v", complete, len(b.changes), err)
		}
		stop()
		hearing.Wait()
	})
}

func TestAReaderWaitsForALeaderThatKnowsWhatTheOwnerBeforeDid(t *testing.T) {
	bustest.Run(t, time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC), func(t *testing.T) {
		broker := bustest.NewBroker(t)
		conn := clustertest.Setup(t, broker, "node", 1)
		j := job.Job{Job: "g/j", Schedule: job.Schedule{FixedRate: job.Duration(time.Hour)}, Task: job.Task{Handler: "h"}}
		entry, _, err := conn.Jobs().Put(t.Context(), j.WithDefaults(), cluster.Edit{At: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(conn, Config{Node: "n"})
		if err != nil {
			t.Fatal(err)
		}
		broker.Outdate("node") // what it hears begins with a wrong end
		ctx, stop := context.WithCancel(t.Context())
		var hearing sync.WaitGroup
		hearing.Go(func() { s.followJobs(ctx) })
		read := func(known uint64, healed bool) (changes int, took time.Duration) {
			t.Helper()
			b := s.subscribeJobs(0)
			defer b.close()
			began := time.Now()
			if healed {
				time.AfterFunc(10*time.Second, func() { broker.Heal("node") })
			}
			if err := b.read(ctx, known); err != nil {
				t.Fatal(err)
			}
			return len(b.changes), time.Since(began)
		}
		if n, took := read(entry.Revision, false); n != 0 || took < deposedFor || took > 2*deposedFor {
			t.Errorf("%d changes after %v; want that the reader gives up after %v, since JOBS may have lost its end", n, took, deposedFor)
		}
		time.Sleep(2 * deposedFor) // in which nothing fails
		if n, took := read(entry.Revision, true); n != 1 || took < 10*time.Second {
			t.Errorf("%d changes after %v; want the one that the owner before knew, once the leader is the right one", n, took)
		}
		stop()
		hearing.Wait()
	})
}
