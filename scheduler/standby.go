package scheduler

import (
	"context"
	"errors"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// readings is how many shards a node reads at once to stand by for them. It has time.
const readings = 2

// standby reads the jobs of a shard that the node would have to take over if its owner
// died. To read a million of them takes longer than to notice the death.
//
// It is no more than a reader that is ahead of its time. Whoever takes over fences the
// former owner first, and then reads what it lacks.
type standby struct {
	jobs   *shardJobs
	ahead  <-chan struct{} // closed when there is no pass to wait for
	cancel context.CancelFunc
	done   chan struct{}
}

// run reads, and then waits until ctx is done. slots bounds how many read at once.
func (b *standby) run(ctx context.Context, slots chan struct{}) {
	defer close(b.done)
	defer b.cancel()
	select {
	case <-b.ahead:
	case <-ctx.Done():
		return
	}
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	err := b.jobs.read(ctx, 0)
	<-slots
	if err != nil {
		return
	}
	ready := b.jobs.s.metrics.standbys
	ready.Inc()
	defer ready.Dec()
	<-ctx.Done()
}

// stop ends the standby. Its jobs stay subscribed.
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
	m.dropReplaced(number)
	heir := owner != self && preferred(number, slices.DeleteFunc(slices.Clone(nodes), func(n string) bool { return n == owner })) == self
	switch b := m.standbys[number]; {
	case heir && b == nil:
		reading, cancel := context.WithCancel(ctx)
		b = &standby{cancel: cancel, done: make(chan struct{})}
		b.jobs, b.ahead = m.later.join(number)
		m.standbys[number] = b
		m.wg.Go(func() { b.run(reading, m.readings) })
	case !heir && owner != self && b != nil: // if it is to be the node's own, that will want it
		b.cancel()
		b.jobs.close()
		delete(m.standbys, number)
	}
}

// dropReplaced ends a standby that has read a bucket that was created again since.
func (m *members) dropReplaced(number int) {
	if b := m.standbys[number]; b != nil && b.jobs.replaced() {
		b.cancel()
		delete(m.standbys, number)
	}
}

// prepare makes an entry of the JOBS bucket ready for a machine: a version, or that a
// job's versions are gone. ok is false when it cannot be used. The error is a *[cluster.FormatError].
func (n *node) prepare(e jetstream.KeyValueEntry) (_ shard.Prepared, ok bool, _ error) {
	if e.Operation() != jetstream.KeyValuePut {
		name, ok := bus.JobOfKey(e.Key())
		return shard.PrepareForget(name, e.Revision()), ok, nil
	}
	var p shard.Prepared
	v, err := cluster.DecodeJobEntry(e)
	if err == nil {
		p, err = shard.Prepare(n.planner, &v.Version, v.Revision)
	}
	if _, newer := errors.AsType[*cluster.FormatError](err); newer {
		return p, false, err
	}
	if err != nil {
		// Something wrote to the bucket that checked less than the API does. The other
		// jobs go on.
		n.log.Error("job version unusable", "key", e.Key(), "error", err)
		n.metrics.unusable.Inc()
	}
	return p, err == nil, nil
}
