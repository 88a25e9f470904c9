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

// events delivers the events of runs to the node's machines. One consumer of a partition's EVT serves
// all shards that need them, as one watch serves all shards in feed. Packs of ends are for several shards:
// nobody waits for most of these ends, but a run may be cancelled while an executor has it, and then its
// owner does.
type events struct {
	s         *Scheduler
	partition int
	stream    string
	changed   chan struct{} // has something when the subscribers have changed

	mu          sync.Mutex
	subscribers map[int]*subscriber // by shard
}

// subscriber is a shard that needs events.
type subscriber struct {
	shard    int
	deliver  func(*jet.Stored)               // a message for the shard alone
	ends     func([]*bus.Event, *jet.Stored) // those of the shard in a pack
	next     uint64                          // sequence of the first event that was not delivered
	consumed bool                            // the present consumer includes its events
}

func newEvents(s *Scheduler, partition int, stream string) *events {
	return &events{s: s, partition: partition, stream: stream, changed: make(chan struct{}, 1), subscribers: map[int]*subscriber{}}
}

// subscribe delivers all events of a shard from a sequence on, until ctx is done.
func (v *events) subscribe(ctx context.Context, o *ownership, from uint64) {
	h := &subscriber{
		shard: o.shard, next: from,
		deliver: func(m *jet.Stored) { o.applyEvent(ctx, m) },
		ends:    func(all []*bus.Event, m *jet.Stored) { o.applyEnds(ctx, all, m) },
	}
	v.mu.Lock()
	v.subscribers[o.shard] = h
	v.mu.Unlock()
	v.wake()
	<-ctx.Done()
	v.mu.Lock()
	if v.subscribers[o.shard] == h {
		delete(v.subscribers, o.shard)
	}
	v.mu.Unlock()
	v.wake()
}

func (v *events) wake() {
	select {
	case v.changed <- struct{}{}:
	default: // somebody is about to look
	}
}

// run follows the stream until ctx is done.
func (v *events) run(ctx context.Context) {
	for ctx.Err() == nil {
		filters, from := v.filters()
		following, stop := context.WithCancel(ctx)
		var follower sync.WaitGroup
		last := uint64(0)
		if len(filters) > 0 {
			follower.Go(func() {
				_ = v.s.conn.Bulk().Follow(following, v.stream, filters, from, func(m *jet.Stored) {
					v.deliver(m)
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
		v.consumedTo(last)
	}
}

// filters returns the subjects of the shards that need events, and the sequence at which a consumer of
// them starts. It includes all barriers, which are few, and all packs of the partition.
func (v *events) filters() (filters []string, from uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	from = math.MaxUint64
	for _, h := range v.subscribers {
		h.consumed = true
		filters = append(filters, bus.SubjectEventsOf(h.shard))
		from = min(from, h.next)
	}
	if len(filters) > 0 {
		filters = append(filters, bus.SubjectBarriers, bus.SubjectEnds(v.partition, "*"))
	}
	return filters, from
}

// deliver delivers a message to its shard, or the ends of a pack to theirs, once.
func (v *events) deliver(m *jet.Stored) {
	if _, _, packed := bus.ParseSubjectEnds(m.Subject); packed {
		v.deliverEnds(m)
		return
	}
	n, ok := bus.ShardOfEvent(m.Subject)
	if h := v.take(n, m.Seq); ok && h != nil {
		h.deliver(m)
	}
}

func (v *events) deliverEnds(m *jet.Stored) {
	byShard := map[int][]*bus.Event{}
	for e, err := range v.s.conn.Events().Decode(m.Subject, m.Header, m.Data, m.At) {
		if err == nil { // else ingest counts and logs it, once for the cluster
			byShard[e.Shard] = append(byShard[e.Shard], e)
		}
	}
	for n, all := range byShard {
		if h := v.take(n, m.Seq); h != nil {
			h.ends(all, m)
		}
	}
}

// take returns the subscriber for a shard if it is to get what is stored at a sequence, and notes that it
// has.
func (v *events) take(shard int, seq uint64) *subscriber {
	v.mu.Lock()
	defer v.mu.Unlock()
	h := v.subscribers[shard]
	if h == nil || !h.consumed || seq < h.next {
		return nil
	}
	h.next = seq + 1
	return h
}

// consumedTo records that a consumer that has ended delivered all events up to a sequence.
func (v *events) consumedTo(last uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, h := range v.subscribers {
		if h.consumed {
			h.next = max(h.next, last+1)
		}
	}
}
