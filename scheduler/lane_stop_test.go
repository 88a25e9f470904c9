package scheduler

import (
	"context"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// An abandoned commit leaves a machine with a batch under way. What others have left for its
// shard meanwhile waits in the lane's inbox.
func TestALaneThatStopsDuringACommitTellsItsMachinesNothingMore(t *testing.T) {
	l := newLane(nil)
	o := newOwnership(&Scheduler{lanes: []*lane{l}}, 0, nil)
	begin := time.Date(2026, time.January, 5, 0, 0, 30, 0, time.UTC)
	m := shard.New(shard.Config{Tokens: bus.NewTokens(), Shards: 1, Planner: &job.Planner{}}, &journal.Cursor{Done: begin}, 1)
	l.add(newLaneShard(o, m, nil))
	if m.Step(begin.Add(time.Hour).UnixMilli(), bus.MaxBatch) == nil {
		t.Fatal("the machine has nothing to commit")
	}
	child := &journal.Deferred{Kind: journal.DeferredChild, Job: "g/child", Parent: &journal.ParentEnd{Job: "g/parent", Status: job.StatusSucceeded}}
	o.post(t.Context(), func(sh *laneShard) { _ = sh.machine.PutDeferred(child, 7) })
	working, stop := context.WithCancel(t.Context())
	stop()
	l.run(working)
	if len(l.shards) != 0 || o.ready.Load() {
		t.Error("the lane still has the shard")
	}
}
