package scheduler

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
)

// feed is what a node hears of JOBS. It has one watch, whichever shards the node owns or
// stands by for: each consumer more is one that the NATS servers of a cluster have to agree
// on, and all that a node has are made anew at once when it loses its connection.
//
// The watch brings changes only. Older versions are read without a consumer.
type feed struct {
	s     *Scheduler
	begun chan struct{} // closed when heard is known
	void  chan struct{} // closed when the bucket is another one now

	made time.Time // when the bucket was; written before begun is closed

	mu     sync.Mutex
	heard  uint64             // revision up to which every change has been passed on
	shards map[int]*shardJobs // who wants to hear of them
	// When takeovers began to fail to read what the owners before had known, and when the last did.
	failed, failedLast time.Time
}

func newFeed(s *Scheduler) *feed {
	return &feed{s: s, begun: make(chan struct{}), void: make(chan struct{}), shards: map[int]*shardJobs{}}
}

// hearOfJobs feeds the shards until ctx is done.
func (s *Scheduler) hearOfJobs(ctx context.Context) {
	for ctx.Err() == nil {
		s.feed.Load().run(ctx)
	}
}

// run passes changes on until ctx is done or the feed is void.
func (f *feed) run(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	watch := f.s.watch(ctx, func(ctx context.Context) (jetstream.KeyWatcher, error) {
		w, bucket, err := f.s.conn.Bulk().Jobs().WatchChanges(ctx)
		if err == nil {
			f.made, f.heard = bucket.Created, bucket.State.LastSeq
		}
		return w, err
	})
	if watch == nil {
		return
	}
	defer func() { _ = watch.Stop() }()
	close(f.begun)
	for {
		select {
		case <-f.void:
			return
		case e, open := <-watch.Updates():
			if !open {
				return // ctx is done
			}
			if e != nil {
				f.pass(e)
			}
		}
	}
}

// pass tells whoever wants to hear of a change's shard.
func (f *feed) pass(e jetstream.KeyValueEntry) {
	n, ok := bus.ShardOfKey(e.Key())
	f.mu.Lock()
	f.heard = e.Revision()
	jobs := f.shards[n]
	f.mu.Unlock()
	if ok && jobs != nil {
		jobs.hear(e)
	}
}

// known returns the revision up to which changes have been passed on.
func (f *feed) known() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.heard
}

// failing notes that a takeover does not find what the owner before knew, and returns for how long that
// has been so. The shards share it, because only a few are taken over at once: each would wait in its turn.
func (f *feed) failing(now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.failedLast) > deposedFor {
		f.failed = now
	}
	f.failedLast = now
	return now.Sub(f.failed)
}

// tell has a shard's changes told to jobs from now on, and to nobody else.
func (f *feed) tell(jobs *shardJobs) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shards[jobs.shard] = jobs
}

// leave ends what tell began.
func (f *feed) leave(jobs *shardJobs) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shards[jobs.shard] == jobs {
		delete(f.shards, jobs.shard)
	}
}
