package dispatch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

const (
	// probeEvery is the interval of checks whether heartbeats are stored and heard of, and
	// probeWait how long JetStream has to say so.
	probeEvery = time.Second
	probeWait  = 2 * time.Second
)

// presence knows since when this node would have heard of every heartbeat: since then
// JetStream has answered, and the node's watch has been up to date. While NATS is away,
// and for fleet.InstanceTTL after that, the lack of a heartbeat says nothing of an instance:
// otherwise all would be gone as soon as NATS is back.
type presence struct {
	mu         sync.Mutex
	since      time.Time // zero: it would not
	heard      uint64    // the last revision that the watch has brought
	stored     uint64    // the last that there was at the last check
	reconnects uint64    // of the connection by then
	probing    bool
}

// noteRevision notes that the watch has brought a revision.
func (p *presence) noteRevision(revision uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = max(p.heard, revision)
}

// sinceWhen returns since when every heartbeat would have been heard of; false: it would
// not.
func (p *presence) sinceWhen() (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.since, !p.since.IsZero()
}

// settled reports whether every instance that is alive has been heard of by now.
func (p *presence) settled(now time.Time) bool {
	since, ok := p.sinceWhen()
	return ok && now.Sub(since) > fleet.InstanceTTL
}

// probe looks, in a goroutine of the dispatcher, whether heartbeats are stored and heard of.
func (d *Dispatcher) probe(ctx context.Context) {
	p := &d.presence
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.probing {
		return
	}
	p.probing = true
	d.serving.Go(func() {
		asking, cancel := context.WithTimeout(ctx, probeWait)
		defer cancel()
		conn := d.conn.Bulk() // which has the watch
		last, err := conn.Last(asking, "KV_"+bus.BucketInst, "$KV."+bus.BucketInst+".>")
		if errors.Is(err, jet.ErrNoMessage) {
			last, err = &jet.Stored{}, nil
		}
		p.noteProbe(last, err, conn.NC.Stats().Reconnects, time.Now())
	})
}

// noteProbe applies the result of a probe.
func (p *presence) noteProbe(last *jet.Stored, err error, reconnects uint64, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.probing = false
	// The watch has had the time since the last probe to bring what there was then.
	current := err == nil && reconnects == p.reconnects && p.heard >= p.stored
	p.reconnects = reconnects
	if err == nil {
		p.stored = last.Seq
	}
	switch {
	case !current:
		p.since = time.Time{}
	case p.since.IsZero():
		p.since = now
	}
}
