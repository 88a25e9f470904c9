package scheduler

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// A request may name a version that its asker has just saved, and arrive before that version does.

const (
	// earlyWait is how long a request waits for its version.
	earlyWait = 4 * time.Second
	// maxEarly is how many requests of a shard wait for their version.
	maxEarly = 1024
)

// earlyRequests are requests that wait for a version that the machine does not have yet.
type earlyRequests struct {
	o       *ownership
	waiting []earlyRequest
}

type earlyRequest struct {
	m     *nats.Msg
	since time.Time
}

// keep takes an early request. It returns false for others.
func (e *earlyRequests) keep(m *nats.Msg) bool {
	seq := bus.JobsSeq(m)
	if seq <= e.o.revision.Load() {
		return false
	}
	if len(e.waiting) == maxEarly {
		e.o.refuse(m, e.o.versionNotRead(seq))
		return true
	}
	e.waiting = append(e.waiting, earlyRequest{m, time.Now()})
	return true
}

// release returns the requests whose version has arrived, in their order, and refuses those that have
// waited too long.
func (e *earlyRequests) release(now time.Time) (ready []*nats.Msg) {
	waiting := e.waiting[:0]
	for _, r := range e.waiting {
		switch seq := bus.JobsSeq(r.m); {
		case seq <= e.o.revision.Load():
			ready = append(ready, r.m)
		case now.Sub(r.since) > earlyWait:
			e.o.refuse(r.m, e.o.versionNotRead(seq))
		default:
			waiting = append(waiting, r)
		}
	}
	clear(e.waiting[len(waiting):])
	e.waiting = waiting
	return ready
}

func (o *ownership) versionNotRead(seq uint64) error {
	return fmt.Errorf("%w: the owner of shard %d has not read revision %d of JOBS yet; retry", job.ErrUnavailable, o.shard, seq)
}
