package scheduler

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// SkewClock has the node's wall clock be wrong by what skew returns. Call it before Run.
func (s *Scheduler) SkewClock(skew func() time.Duration) { s.clock.skew = skew }

// KeepEvents sets for how long events stay that every reader has read. Call it before Run.
func (s *Scheduler) KeepEvents(keep time.Duration) { s.house.keep = keep }

// Resolve looks up what has become of a batch of a machine, as after an answer that was lost: it is
// stored when it is neither to be sent again nor lost.
func (s *Scheduler) Resolve(ctx context.Context, m *shard.Machine, b *shard.Batch) (again, lost bool, err error) {
	toSend, gone, err := s.commits.resolve(ctx, []pending{{&ownership{s: s, shard: m.Shard()}, m, b}})
	return len(toSend) > 0, len(gone) > 0, err
}
