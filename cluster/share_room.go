package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// roomAnswerFor is for how long it counts that a group has room in its share of a bucket, or none.
const roomAnswerFor = 5 * time.Second

// shareRooms are which groups have room in their shares of the buckets that servers write.
type shareRooms struct {
	mu sync.Mutex
	of map[shareRoom]roomAnswer
}

type shareRoom struct{ bucket, group string }

type roomAnswer struct {
	at   time.Time
	kept fleet.Kept
}

// used returns what a group keeps of a share, and whether that is all of it. The answer may be 5 s old. A group whose
// keys cannot be counted has room: storing what it adds will fail with the same cause.
func (r *shareRooms) used(ctx context.Context, c *Conn, share bus.Share, group string) (kept fleet.Kept, full bool) {
	of := shareRoom{share.Bucket, group}
	r.mu.Lock()
	known, now := r.of[of], time.Now()
	r.mu.Unlock()
	if now.Sub(known.at) < roomAnswerFor {
		return known.kept, known.kept.Used() >= 1
	}
	last, err := c.LastSeq(ctx, bucketPrefix+share.Bucket)
	if err != nil {
		return kept, false
	}
	if kept, err = c.Shares().keptOf(ctx, share, group, last); err != nil {
		return kept, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.of) >= 1000 || r.of == nil { // groups come and go
		r.of = map[shareRoom]roomAnswer{}
	}
	r.of[of] = roomAnswer{at: now, kept: kept}
	return kept, kept.Used() >= 1
}
