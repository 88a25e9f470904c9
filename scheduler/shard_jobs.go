package scheduler

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// deposedFor is the time after which a NATS server that was cut off knows that another one leads.
const deposedFor = 30 * time.Second

// shardJobs holds the job versions of one shard until a machine takes them: those that are stored, and
// each later change once and in order, until it is closed.
type shardJobs struct {
	s     *Scheduler
	feed  *feed
	shard int

	mu       sync.Mutex
	revision uint64 // up to which it has every change of the shard
	reading  bool   // versions after revision are being read, or must be
	skipped  uint64 // revision of the last change that was delivered while reading
	changes  []shard.Prepared
	compact  int                  // how many changes were left when some were last dropped
	taken    bool                 // a machine has taken the first changes
	put      func(shard.Prepared) // receives later changes; nil: they are kept
	newer    error                // a version that only a newer server can read; no change counts after it
	refuse   func(error)          // receives newer; nil: it is kept
}

// subscribeJobs returns the jobs of a shard, none of which are read yet.
func (s *Scheduler) subscribeJobs(number int) *shardJobs {
	b := &shardJobs{s: s, feed: s.feed.Load(), shard: number, reading: true}
	b.feed.subscribe(b)
	return b
}

// close ends the subscription.
func (b *shardJobs) close() { b.feed.unsubscribe(b) }

// replaced reports whether the bucket was created again since.
func (b *shardJobs) replaced() bool {
	select {
	case <-b.feed.replaced:
		return true
	default:
		return false
	}
}

// apply adds a change that the feed has delivered.
func (b *shardJobs) apply(e jetstream.KeyValueEntry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reading {
		b.skipped = e.Revision() // it is read in turn
		return
	}
	b.keepLocked(e)
}

// read reads the missing versions from the bucket's leader, which must have revision known. It retries
// until ctx is done, but ignores known after a while: NATS may have lost the bucket's last messages. The
// error is that ctx is done, or job.ErrStale if the bucket was created again.
func (b *shardJobs) read(ctx context.Context, known uint64) error {
	if err := b.await(ctx); err != nil {
		return err
	}
	wait := pause.Backoff{Least: tryAgain, Most: longestPause, Jitter: true}
	for attempt := 1; ; attempt++ {
		complete, err := b.readOn(ctx, known)
		if b.replaced() {
			return fmt.Errorf("%w: JOBS was made anew", job.ErrStale)
		}
		if complete {
			return nil
		}
		if err == nil {
			continue // a change came in between
		}
		if known > 0 && b.feed.failing(time.Now()) > deposedFor {
			known = 0
		}
		if ctx.Err() == nil && attempt&(attempt-1) == 0 {
			b.s.log.WarnContext(ctx, "jobs not read yet", "shard", b.shard, "attempt", attempt, "error", err)
		}
		if wait.Wait(ctx) != nil {
			return context.Cause(ctx)
		}
	}
}

// await waits until the feed is ready. The error is that ctx is done.
func (b *shardJobs) await(ctx context.Context) error {
	select {
	case <-b.feed.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// readOn reads once. It reports whether no version is missing: the feed delivers later ones.
func (b *shardJobs) readOn(ctx context.Context, known uint64) (complete bool, err error) {
	b.mu.Lock()
	b.reading = true
	after := b.revision
	b.mu.Unlock()
	err = b.s.conn.Bulk().Jobs().Read(ctx, b.shard, after, max(known, b.feed.current()), b.keep)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reading = err != nil || b.skipped > b.revision
	return !b.reading, err
}

// keep adds a version that was read.
func (b *shardJobs) keep(e jetstream.KeyValueEntry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keepLocked(e)
}

// readTo records that keep has had all versions up to a revision, and whether the bucket's leader had
// no others.
func (b *shardJobs) readTo(revision uint64, all bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.revision = max(b.revision, revision)
	if all { // else whoever needs the shard reads on, or has done so meanwhile
		b.reading = b.skipped > b.revision
	}
}

// keepLocked keeps a new change, or passes it to the machine.
func (b *shardJobs) keepLocked(e jetstream.KeyValueEntry) {
	if e.Revision() <= b.revision {
		return
	}
	b.revision = e.Revision()
	p, ok, newer := b.s.prepare(e)
	switch {
	case b.newer != nil:
	case newer != nil:
		if b.newer = newer; b.refuse != nil {
			b.refuse(newer)
		}
	case !ok:
	case b.put != nil:
		b.put(p)
	default:
		b.changes = append(b.changes, p)
		if !b.taken && len(b.changes) > 2*b.compact+1024 {
			b.dropLocked()
		}
	}
}

// dropLocked drops the changes that the bucket no longer has: it keeps a bounded number of versions of
// each job.
func (b *shardJobs) dropLocked() {
	kept := b.changes[:0]
	versions := make(map[job.Name]int, len(b.changes))
	slices.Reverse(b.changes)
	for _, p := range b.changes {
		switch n := versions[p.Name()]; {
		case p.Forgets():
			versions[p.Name()] = bus.JobHistory
		case n < bus.JobHistory:
			versions[p.Name()]++
			kept = append(kept, p)
		}
	}
	slices.Reverse(kept)
	clear(b.changes[len(kept):])
	b.changes, b.compact = kept, len(kept)
}

// passTo passes all kept changes to a machine, and later ones to put. If put is nil, later ones are
// kept. The error is a version that only a newer server can read, which goes to refuse if it comes later.
func (b *shardJobs) passTo(m *shard.Machine, put func(shard.Prepared), refuse func(error)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.changes {
		m.Put(&b.changes[i])
	}
	b.changes, b.taken, b.put, b.refuse = nil, true, put, refuse
	return b.newer
}
