package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// Fleet is the instances of all groups.
type Fleet struct {
	// Instances are at most [fleet.MaxInstances] of a group: those heard of last.
	Instances []fleet.Instance
	// More is how many instances groups have beyond that, Unreadable how many keys that no instance
	// would write.
	More, Unreadable map[string]int
	// At is when the bus was asked.
	At time.Time
}

const (
	// fleetFor is for how long an answer of Fleet counts. An instance is silent for many times as long
	// before it is taken for gone.
	fleetFor = time.Second
	// fleetWithin bounds one read of the bucket.
	fleetWithin = 10 * time.Second
)

// fleetReader reads the bucket of heartbeats, which groups may make large, for all in the process
// who ask.
type fleetReader struct {
	begun atomic.Uint64 // reads
	slot  chan struct{} // has a value while somebody reads

	// Guarded by the slot.
	latest Fleet
	number uint64 // of the read that latest is from

	mu    sync.Mutex
	known Fleet // what Fleet has returned last
}

// fresh returns what Fleet has returned last, and false if that is too old.
func (r *fleetReader) fresh() (Fleet, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known, time.Since(r.known.At) < fleetFor
}

// acquire takes the slot, unless ctx is done before.
func (r *fleetReader) acquire(ctx context.Context) (free func(), err error) {
	select {
	case r.slot <- struct{}{}:
		return func() { <-r.slot }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: list instances: %w", job.ErrUnavailable, ctx.Err())
	}
}

// read reads the bucket. The caller has the slot.
func (r *fleetReader) read(ctx context.Context, c *Conn) (Fleet, error) {
	ctx, cancel := context.WithTimeout(ctx, fleetWithin)
	defer cancel()
	number := r.begun.Add(1)
	f, err := c.Bulk().Instances().read(ctx)
	if err == nil {
		r.latest, r.number = f, number
	}
	return f, err
}

// Instances are the instances of executors: what they announce, and what they answer.
type Instances struct{ conn *Conn }

// Instances returns the instances of executors.
func (c *Conn) Instances() Instances { return Instances{c} }

// List returns the instances of [Instances.Fleet]. Nobody changes the list.
func (is Instances) List(ctx context.Context) ([]fleet.Instance, error) {
	f, err := is.Fleet(ctx)
	return f.Instances, err
}

// heard is a heartbeat, and when it was written.
type heard struct {
	fleet.Instance
	at time.Time
}

// Fleet returns the instances of all groups, those lost lately included, as of a second ago at most;
// see [fleet.Instance.Judge] for their states. All who ask share the answer: nobody changes it. It is
// read on the bulk connection. The error is job.ErrUnavailable.
func (is Instances) Fleet(ctx context.Context) (Fleet, error) {
	r := is.conn.fleet
	if known, ok := r.fresh(); ok {
		return known, nil
	}
	free, err := r.acquire(ctx)
	if err != nil {
		return Fleet{}, err
	}
	defer free()
	if known, ok := r.fresh(); ok { // somebody has read meanwhile
		return known, nil
	}
	f, err := r.read(ctx, is.conn)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.known = f
	}
	return f, err
}

// FleetNow is Fleet without its cache: the read begins after the call, so that it shows an executor
// that was just started. Concurrent callers share a read.
func (is Instances) FleetNow(ctx context.Context) (Fleet, error) {
	r := is.conn.fleet
	asked := r.begun.Load()
	free, err := r.acquire(ctx)
	if err != nil {
		return Fleet{}, err
	}
	defer free()
	if r.number > asked {
		return r.latest, nil
	}
	return r.read(ctx, is.conn)
}

func (is Instances) read(ctx context.Context) (Fleet, error) {
	f := Fleet{More: map[string]int{}, Unreadable: map[string]int{}, At: time.Now()}
	groups := map[string][]heard{} // each in the order in which they were written
	// Heartbeats carry the server's time. One that is ahead of this clock tells more
	// about what time it is.
	now := time.Now()
	err := is.conn.Entries(ctx, bus.BucketInst, ">", false, func(e jetstream.KeyValueEntry) error {
		if e.Operation() != jetstream.KeyValuePut {
			return nil
		}
		group, _, _ := strings.Cut(e.Key(), ".")
		h, err := bus.ParseHeartbeat(e.Key(), e.Value())
		if err != nil {
			f.Unreadable[group]++
			return nil //nolint:nilerr // not one of ours: nothing to show, and nothing to fail for
		}
		if groups[group] = append(groups[group], heard{h.Instance, e.Created()}); len(groups[group]) > fleet.MaxInstances {
			groups[group] = groups[group][1:]
			f.More[group]++
		}
		if e.Created().After(now) {
			now = e.Created()
		}
		return nil
	})
	if err != nil {
		return Fleet{}, fmt.Errorf("list instances: %w", err)
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		for _, h := range groups[group] {
			h.Judge(now.Sub(h.at))
			h.JudgeClock(h.at)
			if h.Refusal != nil {
				h.RefusedFor = h.Refusal.Explain()
			}
			f.Instances = append(f.Instances, h.Instance)
		}
	}
	return f, nil
}
