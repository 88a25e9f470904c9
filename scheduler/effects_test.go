package scheduler

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// A shard may be lost with a batch under way, of which its successors find out whether it
// is stored. Its machine must be told nothing more.
func TestALookThatEndsWhenItsShardIsLostChangesNothing(t *testing.T) {
	bustest.Run(t, time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC), func(t *testing.T) {
		conn := clustertest.Setup(t, bustest.NewBroker(t), "a", 1)
		s, err := New(conn, Config{Node: "a"})
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now().UTC()
		o := newOwnership(s, 0, func() {})
		machine := shard.New(shard.Config{Tokens: conn.Tokens(), Shards: 1, Epoch: 1, Node: "a", Planner: s.planner}, &journal.Cursor{Done: now}, 1)
		v := &job.Version{
			Job:     job.Job{Job: "g/a", Schedule: job.Schedule{FixedRate: job.Duration(time.Second)}, Task: job.Task{Handler: "h"}}.WithDefaults(),
			Version: 1, EffectiveFrom: now,
		}
		if err := machine.PutVersion(v, 1); err != nil {
			t.Fatal(err)
		}
		letter := &journal.Deferred{Kind: journal.DeferredChild, Job: "g/a", Parent: &journal.ParentEnd{
			Job: "g/b", RunID: job.NewRunID(now), Status: job.StatusSucceeded, At: now, Depth: 1,
		}}
		m, err := letter.Msg(0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.JS.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}

		o.lane.add(newLaneShard(o, machine, nil))
		if machine.Step(now.Add(2*time.Second).UnixMilli(), bus.MaxBatch) == nil {
			t.Fatal("there is no batch under way")
		}
		go o.scanDeferred(t.Context())
		(<-o.lane.inbox)() // it asks from where on to read
		put := <-o.lane.inbox
		o.lane.remove(o)
		put()
		if looked := machine.LastItem(); looked != 0 {
			t.Errorf("the machine of a lost shard was told of items up to %d", looked)
		}
	})
}
