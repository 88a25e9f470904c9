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

// deposedFor is after how long a NATS server that was cut off has surely heard that another one leads.
const deposedFor = 30 * time.Second

// shardJobs is what a node knows of one shard's jobs: it reads what there is, and hears of
// each change after that once and in order, until it is closed. It keeps all of it until a
// machine takes it.
type shardJobs struct {
	s     *Scheduler
	feed  *feed
	shard int

	mu       sync.Mutex
	revision uint64 // up to which it has had every change of the shard
	reading  bool   // those after revision are being read, or have to be
	missed   uint64 // revision of the last change that was heard of while reading
	changes  []shard.Prepared
	compact  int                  // how many changes there were when some were dropped last
	begun    bool                 // a machine has the first changes
	put      func(shard.Prepared) // takes the changes from now on; nil: they are kept
}

// hearJobs returns what knows nothing of a shard's jobs yet.
func (s *Scheduler) hearJobs(number int) *shardJobs {
	b := &shardJobs{s: s, feed: s.feed.Load(), shard: number, reading: true}
	b.feed.tell(b)
	return b
}

// close ends it.
func (b *shardJobs) close() { b.feed.leave(b) }

// void reports whether it is about a bucket that is no more.
func (b *shardJobs) void() bool {
	select {
	case <-b.feed.void:
		return true
	default:
		return false
	}
}

// hear takes a change that has just been made.
func (b *shardJobs) hear(e jetstream.KeyValueEntry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reading {
		b.missed = e.Revision() // it is read, in its turn
		return
	}
	b.keepLocked(e)
}

// read reads what it lacks of what the bucket's leader has, which must know of revision known. It tries
// for as long as it takes, but lets go of known after a while: NATS may have lost the bucket's end. The
// error is that ctx is done, or job.ErrStale when the bucket is no more.
func (b *shardJobs) read(ctx context.Context, known uint64) error {
	if err := b.await(ctx); err != nil {
		return err
	}
	wait := pause.Backoff{Least: tryAgain, Most: longestPause, Jitter: true}
	for attempt := 1; ; attempt++ {
		complete, err := b.readOn(ctx, known)
		if b.void() {
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

// await waits until it is known which bucket there is. The error is that ctx is done.
func (b *shardJobs) await(ctx context.Context) error {
	select {
	case <-b.feed.begun:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// readOn reads once. It reports whether nothing is lacking now: what it has not read, the
// feed will bring.
func (b *shardJobs) readOn(ctx context.Context, known uint64) (complete bool, err error) {
	b.mu.Lock()
	b.reading = true
	after := b.revision
	b.mu.Unlock()
	err = b.s.conn.Bulk().Jobs().Read(ctx, b.shard, after, max(known, b.feed.known()), b.keep)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reading = err != nil || b.missed > b.revision
	return !b.reading, err
}

// keep keeps a change that was read.
func (b *shardJobs) keep(e jetstream.KeyValueEntry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keepLocked(e)
}

// passed notes that all changes up to a revision have been given to keep, and whether these were all
// that the bucket's leader had.
func (b *shardJobs) passed(revision uint64, all bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.revision = max(b.revision, revision)
	if all { // else whoever needs the shard reads on, or has done so meanwhile
		b.reading = b.missed > b.revision
	}
}

// keepLocked keeps a change, unless it is known, or gives it to whoever takes them.
func (b *shardJobs) keepLocked(e jetstream.KeyValueEntry) {
	if e.Revision() <= b.revision {
		return
	}
	b.revision = e.Revision()
	p, ok := b.s.prepare(e)
	switch {
	case !ok:
	case b.put != nil:
		b.put(p)
	default:
		b.changes = append(b.changes, p)
		if !b.begun && len(b.changes) > 2*b.compact+1024 {
			b.dropLocked()
		}
	}
}

// dropLocked forgets the changes that the bucket has forgotten too: there are edits for
// ever, and of each job so many versions are kept.
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

// give tells a machine of all changes that are kept, and put of those that come later. While
// put is nil they are kept on.
func (b *shardJobs) give(m *shard.Machine, put func(shard.Prepared)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.changes {
		m.Put(&b.changes[i])
	}
	b.changes, b.begun, b.put = nil, true, put
}
