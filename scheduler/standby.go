package scheduler

import (
	"context"
	"slices"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"carillon/bus"
	"carillon/job"
	"carillon/scheduler/shard"
)

// readings is how many shards a node reads at once to stand by for them. It has time.
const readings = 2

// standby is what a node keeps of a shard that it would have to take over if its owner
// died: its jobs. To read a million of them takes longer than to notice the death.
//
// It is no more than a reader that is ahead of its time. Whoever takes over fences the
// former owner first, gives the machine what the standby has, and reads on from there.
type standby struct {
	s      *Scheduler
	shard  int
	cancel context.CancelFunc
	done   chan struct{}

	// Of its goroutine until done is closed, then of whoever takes over:
	changes  []shard.Prepared // in the order of their revisions
	revision uint64           // up to which they are all that the bucket has of the shard
	compact  int              // how many changes there were when some were dropped last
}

// newStandby returns a standby, which reads until ctx is done or it is stopped. Its
// caller must call run. slots bounds how many read what there is at the beginning.
func newStandby(s *Scheduler, number int, cancel context.CancelFunc) *standby {
	return &standby{s: s, shard: number, cancel: cancel, done: make(chan struct{})}
}

func (b *standby) run(ctx context.Context, slots chan struct{}) {
	defer close(b.done)
	defer b.cancel()
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	read := sync.OnceFunc(func() { <-slots })
	defer read()
	watch := b.s.watch(ctx, func(ctx context.Context) (jetstream.KeyWatcher, error) {
		return b.s.conn.WatchJobsAfter(ctx, b.shard, 0)
	})
	if watch == nil {
		return
	}
	defer func() { _ = watch.Stop() }()
	ready := 0.0
	defer func() { b.s.metrics.standbys.Sub(ready) }()
	for e := range watch.Updates() {
		if e != nil {
			b.note(e)
			continue
		}
		read()
		ready = 1
		b.s.metrics.standbys.Add(ready)
	}
}

// note keeps a change.
func (b *standby) note(e jetstream.KeyValueEntry) {
	b.revision = e.Revision()
	if p, ok := b.s.prepare(e); ok {
		b.changes = append(b.changes, p)
	}
	if len(b.changes) > 2*b.compact+1024 {
		b.drop()
	}
}

// drop forgets the changes that the bucket has forgotten too: there are edits for ever,
// and of each job so many versions are kept.
func (b *standby) drop() {
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

// take ends the standby, gives a machine what it has, and returns the revision from
// which there is to be read on. A nil standby has nothing.
func (b *standby) take(m *shard.Machine) (revision uint64) {
	if b == nil {
		return 0
	}
	b.stop()
	for i := range b.changes {
		m.Put(&b.changes[i])
	}
	b.changes = nil
	return b.revision
}

// stop ends the standby.
func (b *standby) stop() {
	b.cancel()
	<-b.done
}

// standBy begins or ends to stand by for a shard that is not the node's, as the other
// nodes and the shard's owner demand.
func (m *members) standBy(ctx context.Context, number int, nodes []string) {
	owner := m.owners[number].node
	if owner == "" {
		owner = preferred(number, nodes) // it is about to be
	}
	self := m.s.cfg.Node
	heir := owner != self && preferred(number, slices.DeleteFunc(slices.Clone(nodes), func(n string) bool { return n == owner })) == self
	switch b := m.standbys[number]; {
	case heir && b == nil:
		reading, cancel := context.WithCancel(ctx)
		b = newStandby(m.s, number, cancel)
		m.standbys[number] = b
		m.wg.Go(func() { b.run(reading, m.readings) })
	case !heir && owner != self && b != nil: // if it is to be the node's own, that will want it
		b.cancel()
		delete(m.standbys, number)
	}
}

// prepare makes an entry of the JOBS bucket ready for a machine: a version, or that a
// job's versions are gone. It returns false when it cannot be used.
func (s *Scheduler) prepare(e jetstream.KeyValueEntry) (shard.Prepared, bool) {
	if e.Operation() != jetstream.KeyValuePut {
		name, ok := bus.JobOfKey(e.Key())
		return shard.PrepareForget(name, e.Revision()), ok
	}
	var p shard.Prepared
	v, err := bus.DecodeJobEntry(e)
	if err == nil {
		p, err = shard.Prepare(s.planner, &v.Version, v.Revision)
	}
	if name, ok := bus.JobOfKey(e.Key()); ok && err != nil {
		if v, ok := bus.DecodeEnvelope(e); ok {
			s.log.Error("job held: this program cannot read its version; a newer server has saved it", "job", name, "version", v.Version, "error", err)
			s.metrics.unusable.Inc()
			return shard.PrepareUnreadable(s.planner, name, v, e.Revision()), true
		}
	}
	if err != nil {
		// Something wrote to the bucket that checked less than the API does. The other
		// jobs go on.
		s.log.Error("job version unusable", "key", e.Key(), "error", err)
		s.metrics.unusable.Inc()
	}
	return p, err == nil
}
