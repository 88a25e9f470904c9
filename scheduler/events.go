package scheduler

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/internal/pause"
)

// gather is how long shards that begin to need events wait for others to do so: they come
// in crowds, and each change of the crowd is a new consumer.
const gather = 50 * time.Millisecond

// events tells the node's machines of the events of their runs. One consumer of a partition's
// EVT serves all its shards that need them, for the reason that feed has one.
type events struct {
	s       *Scheduler
	stream  string
	changed chan struct{} // has something when other shards are to be told

	mu      sync.Mutex
	hearers map[int]*hearer // by shard
}

// hearer is a shard that needs events.
type hearer struct {
	shard    int
	hear     func(*jet.Stored)
	next     uint64 // sequence from which on it has not been told
	followed bool   // the present consumer brings its events
}

func newEvents(s *Scheduler, stream string) *events {
	return &events{s: s, stream: stream, changed: make(chan struct{}, 1), hearers: map[int]*hearer{}}
}

// tell tells a shard of all its events from a sequence on, until ctx is done.
func (v *events) tell(ctx context.Context, o *ownership, from uint64) {
	h := &hearer{shard: o.shard, hear: func(m *jet.Stored) { o.hearEvent(ctx, m) }, next: from}
	v.mu.Lock()
	v.hearers[o.shard] = h
	v.mu.Unlock()
	v.change()
	<-ctx.Done()
	v.mu.Lock()
	if v.hearers[o.shard] == h {
		delete(v.hearers, o.shard)
	}
	v.mu.Unlock()
	v.change()
}

func (v *events) change() {
	select {
	case v.changed <- struct{}{}:
	default: // somebody is about to look
	}
}

// run follows the stream until ctx is done.
func (v *events) run(ctx context.Context) {
	for ctx.Err() == nil {
		filters, from := v.begin()
		following, stop := context.WithCancel(ctx)
		var follower sync.WaitGroup
		last := uint64(0)
		if len(filters) > 0 {
			follower.Go(func() {
				_ = v.s.conn.Bulk().Follow(following, v.stream, filters, from, func(m *jet.Stored) {
					v.pass(m)
					last = m.Seq
				})
			})
		}
		select {
		case <-ctx.Done():
		case <-v.changed:
			_ = (&pause.Backoff{Least: gather, Most: gather, Jitter: true}).Wait(ctx) // the loop looks at ctx
		}
		stop()
		follower.Wait()
		v.end(last)
	}
}

// begin returns the subjects of the shards that need events, and from where on a consumer is
// to follow them. Barriers are so few that it gets all.
func (v *events) begin() (filters []string, from uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	from = math.MaxUint64
	for _, h := range v.hearers {
		h.followed = true
		filters = append(filters, bus.SubjectEventsOf(h.shard))
		from = min(from, h.next)
	}
	if len(filters) > 0 {
		filters = append(filters, bus.SubjectBarriers)
	}
	return filters, from
}

// pass tells a shard of its message, unless it has been told before.
func (v *events) pass(m *jet.Stored) {
	n, ok := bus.ShardOfEvent(m.Subject)
	v.mu.Lock()
	h := v.hearers[n]
	if !ok || h == nil || !h.followed || m.Seq < h.next {
		v.mu.Unlock()
		return
	}
	h.next = m.Seq + 1
	v.mu.Unlock()
	h.hear(m)
}

// end notes that the consumer, which is no more, has brought all events up to a sequence.
func (v *events) end(last uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, h := range v.hearers {
		if h.followed {
			h.next = max(h.next, last+1)
		}
	}
}
