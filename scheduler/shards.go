package scheduler

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
)

// shards are the shards that the node owns or takes over, those that it has parked, and those that it
// has lost. Any goroutine may use them.
type shards struct {
	others atomic.Int32 // that other nodes hold

	mu     sync.Mutex
	owned  map[int]*ownership // by shard; being taken over, or in a lane
	parked map[int]string     // that do not fire until somebody or something is right, and why
	losses losses
}

func newShards() *shards {
	return &shards{owned: map[int]*ownership{}, parked: map[int]string{}}
}

// all returns the ownerships of the node's shards.
func (s *shards) all() []*ownership {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.owned))
}

// get returns the ownership of a shard, nil if it is not the node's.
func (s *shards) get(shard int) *ownership {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owned[shard]
}

func (s *shards) add(o *ownership) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owned[o.shard] = o
}

func (s *shards) remove(shard int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.owned, shard)
}

// firing returns the shards that the node fires for.
func (s *shards) firing() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	firing := make([]int, 0, len(s.owned))
	for shard, o := range s.owned {
		if o.ready.Load() {
			firing = append(firing, shard)
		}
	}
	return firing
}

// leaseRemaining returns for how long the node may believe in all of its leases.
func (s *shards) leaseRemaining(now time.Time) time.Duration {
	least := time.Duration(-1)
	for _, o := range s.all() {
		if h := o.held(); h != nil {
			if left := max(h.Until().Sub(now), 0); least < 0 || left < least {
				least = left
			}
		}
	}
	return max(least, 0)
}

// park notes that a shard does not fire, and why.
func (s *shards) park(shard int, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parked[shard] = why
}

// unpark notes that a shard that was parked fires again, or is another node's.
func (s *shards) unpark(shard int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.parked, shard)
}

// parkedShards returns the shards that are parked.
func (s *shards) parkedShards() (parked []cluster.ParkedShard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for shard, why := range s.parked {
		parked = append(parked, cluster.ParkedShard{Shard: shard, Reason: why})
	}
	return parked
}

// lose notes that a shard was lost.
func (s *shards) lose(shard int, reason string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.losses.add(shard, reason, err)
}

// takeLosses returns the losses once no more have been noted since the last call, or at once if now.
func (s *shards) takeLosses(now bool) losses {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.losses
	if len(l.shards) > l.noted && !now {
		s.losses.noted = len(l.shards)
		return losses{}
	}
	s.losses = losses{}
	return l
}
