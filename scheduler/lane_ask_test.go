package scheduler

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// A request whose time is over may still get into a lane's inbox. The race detector sees
// whether the lane then writes what it shares with another lane, or with who asked.
func TestALaneSharesNothingWithWhoHasStoppedWaiting(t *testing.T) {
	s := &housekeeper{Scheduler: &Scheduler{lanes: []*lane{newLane(nil), newLane(nil)}}}
	for i, l := range s.lanes {
		o := newOwnership(s.Scheduler, i, nil)
		m := shard.New(shard.Config{Tokens: bus.NewTokens(), Shard: i, Shards: 2, Planner: &job.Planner{}}, &journal.Cursor{Done: time.Unix(0, 0)}, 1)
		l.add(newLaneShard(o, m, nil))
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for range 100 {
		if err := s.checkEvents(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("checkEvents of lanes that do not answer: %v", err)
		}
	}
	if len(s.lanes[0].inbox) == 0 {
		t.Fatal("no request got into the inbox")
	}
	var lanes sync.WaitGroup
	for _, l := range s.lanes {
		lanes.Go(l.drain)
	}
	lanes.Wait()
}
