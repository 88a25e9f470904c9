package scheduler

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// A request may be about a version that its asker has just saved, and come before the
// version does: by another way, which may be the shorter one.

const (
	// unheardFor is how long a request waits for its version.
	unheardFor = 4 * time.Second
	// maxUnheard is how many requests of a shard wait for theirs.
	maxUnheard = 1024
)

// unheardVersions is requests that wait for a version of which the machine has not heard yet.
type unheardVersions struct {
	o       *ownership
	waiting []unheardRequest
}

type unheardRequest struct {
	m     *nats.Msg
	since time.Time
}

// keep takes a request that came too early, and returns false for others.
func (e *unheardVersions) keep(m *nats.Msg) bool {
	seq := bus.JobsSeq(m)
	if seq <= e.o.heard.Load() {
		return false
	}
	if len(e.waiting) == maxUnheard {
		e.o.refuse(m, e.o.unheard(seq))
		return true
	}
	e.waiting = append(e.waiting, unheardRequest{m, time.Now()})
	return true
}

// release returns, in their order, the requests that need wait no longer, and refuses
// those that have waited for too long.
func (e *unheardVersions) release(now time.Time) (ready []*nats.Msg) {
	waiting := e.waiting[:0]
	for _, r := range e.waiting {
		switch seq := bus.JobsSeq(r.m); {
		case seq <= e.o.heard.Load():
			ready = append(ready, r.m)
		case now.Sub(r.since) > unheardFor:
			e.o.refuse(r.m, e.o.unheard(seq))
		default:
			waiting = append(waiting, r)
		}
	}
	clear(e.waiting[len(waiting):])
	e.waiting = waiting
	return ready
}

func (o *ownership) unheard(seq uint64) error {
	return fmt.Errorf("%w: the owner of shard %d has not read revision %d of JOBS yet; retry", job.ErrUnavailable, o.shard, seq)
}
