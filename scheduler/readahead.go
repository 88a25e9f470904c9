package scheduler

import (
	"context"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
)

// onePass is the share of a cluster's shards, one in so many, from which on they are read in one
// pass. The NATS server looks at all of JOBS for each shard that is read by itself; with fewer
// shards that costs less than to send the jobs of all the others, too.
const onePass = 4

// readAhead reads the jobs of many shards in one pass over JOBS, before their owners and standbys
// read what it has left. Whoever cannot wait reads at the same time.
type readAhead struct {
	s      *Scheduler
	shards map[int]*shardJobs
	feed   *feed         // of all of them
	done   chan struct{} // closed when it is over, however far it came
}

func newReadAhead(s *Scheduler) *readAhead {
	return &readAhead{s: s, shards: map[int]*shardJobs{}, done: make(chan struct{})}
}

// join adds a shard to the pass. The jobs it returns should not be read before over is closed.
func (a *readAhead) join(shard int) (b *shardJobs, over <-chan struct{}) {
	b = a.s.subscribeJobs(shard)
	if len(a.shards) == 0 {
		a.feed = b.feed
	}
	if b.feed != a.feed {
		return b, closed
	}
	a.shards[shard] = b
	return b, a.done
}

// closed is for those who need not wait.
var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// run is the pass. What goes wrong on the way is left to those who wait: they read on.
func (a *readAhead) run(ctx context.Context) {
	defer close(a.done)
	if len(a.shards)*onePass < a.s.conn.Cluster().Shards {
		return
	}
	select {
	case <-a.feed.ready:
	case <-ctx.Done():
		return
	}
	// To decode an entry takes longer than to receive it.
	type read struct {
		jobs  *shardJobs
		entry jetstream.KeyValueEntry
	}
	decoders := make([]chan read, takeovers)
	var decoding sync.WaitGroup
	for i := range decoders {
		decoders[i] = make(chan read, 64)
		decoding.Go(func() {
			for r := range decoders[i] {
				r.jobs.keep(r.entry)
			}
		})
	}
	last := uint64(0)
	err := a.s.conn.Bulk().Jobs().ReadAll(ctx, 0, a.feed.current(), func(e jetstream.KeyValueEntry) {
		last = e.Revision()
		n, ok := bus.ShardOfKey(e.Key())
		if jobs := a.shards[n]; ok && jobs != nil {
			decoders[n%takeovers] <- read{jobs, e} // one shard's always to the same, so that they stay in order
		}
	})
	for _, d := range decoders {
		close(d)
	}
	decoding.Wait()
	for _, jobs := range a.shards {
		jobs.readTo(last, err == nil)
	}
}
