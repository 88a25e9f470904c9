package scheduler

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
)

// feed delivers changes of the JOBS bucket to the shards of a node. One watch serves all shards that
// the node owns or stands by for: the NATS servers of a cluster must agree on each consumer, and a node
// that loses its connection creates all of its consumers again at once.
//
// The watch delivers changes only. Older versions are read without a consumer.
type feed struct {
	s        *Scheduler
	ready    chan struct{} // closed when revision and created are known
	replaced chan struct{} // closed when the bucket was created again

	created time.Time // when the bucket was created; written before ready is closed

	mu          sync.Mutex
	revision    uint64             // up to which every change has been delivered
	subscribers map[int]*shardJobs // by shard
	// When takeovers began to fail to read what the owners before had known, and when the last did.
	failed, failedLast time.Time
}

func newFeed(s *Scheduler) *feed {
	return &feed{s: s, ready: make(chan struct{}), replaced: make(chan struct{}), subscribers: map[int]*shardJobs{}}
}

// followJobs delivers changes of jobs until ctx is done.
func (s *Scheduler) followJobs(ctx context.Context) {
	for ctx.Err() == nil {
		s.feed.Load().run(ctx)
	}
}

// run delivers changes until ctx is done or the bucket is replaced.
func (f *feed) run(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	watch := f.s.watch(ctx, func(ctx context.Context) (jetstream.KeyWatcher, error) {
		w, bucket, err := f.s.conn.Bulk().Jobs().WatchChanges(ctx)
		if err == nil {
			f.created, f.revision = bucket.Created, bucket.State.LastSeq
		}
		return w, err
	})
	if watch == nil {
		return
	}
	defer func() { _ = watch.Stop() }()
	close(f.ready)
	for {
		select {
		case <-f.replaced:
			return
		case e, open := <-watch.Updates():
			if !open {
				return // ctx is done
			}
			if e != nil {
				f.deliver(e)
			}
		}
	}
}

// deliver passes a change to the subscriber of its shard.
func (f *feed) deliver(e jetstream.KeyValueEntry) {
	n, ok := bus.ShardOfKey(e.Key())
	f.mu.Lock()
	f.revision = e.Revision()
	jobs := f.subscribers[n]
	f.mu.Unlock()
	if ok && jobs != nil {
		jobs.apply(e)
	}
}

// current returns the revision up to which changes have been delivered.
func (f *feed) current() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.revision
}

// failing records that a takeover cannot read a revision that the previous owner knew, and returns for
// how long takeovers have failed. All shards share the time: only a few are taken over at once, so each
// would otherwise wait in turn.
func (f *feed) failing(now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.failedLast) > deposedFor {
		f.failed = now
	}
	f.failedLast = now
	return now.Sub(f.failed)
}

// subscribe delivers a shard's changes to jobs from now on, and to no other subscriber.
func (f *feed) subscribe(jobs *shardJobs) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subscribers[jobs.shard] = jobs
}

// unsubscribe ends a subscription.
func (f *feed) unsubscribe(jobs *shardJobs) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.subscribers[jobs.shard] == jobs {
		delete(f.subscribers, jobs.shard)
	}
}
