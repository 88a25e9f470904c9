package jet

import (
	"context"
	"errors"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
)

// maxPacks is how many packs for one subject may be on their way at once.
const maxPacks = 4

// Packer stores the ends of attempts of an instance. An end for which nobody waits is stored at once while
// no other is on its way. Else it waits until that one is stored, and goes with what has come meanwhile: the
// more runs end, the fewer messages each takes. Methods may be called concurrently.
type Packer struct {
	instance   string
	maxPayload func() int64
	publish    PublishEnds

	mu     sync.Mutex
	queues map[string]*packQueue // by subject
}

// PublishEnds publishes a message with one end or more, and returns when it is stored or given up. The error is [nats.ErrMaxPayload] if NATS takes none as large.
type PublishEnds func(ctx context.Context, m *nats.Msg, ends []*bus.End) error

// NewPacker returns a packer for an instance. maxPayload returns that of NATS, which may change.
func NewPacker(instance string, maxPayload func() int64, publish PublishEnds) *Packer {
	return &Packer{instance: instance, maxPayload: maxPayload, publish: publish, queues: map[string]*packQueue{}}
}

// packQueue is the ends for one subject.
type packQueue struct {
	waiting []packed
	sending int // calls of Store that empty it
}

// packed is an end on its way.
type packed struct {
	*bus.End
	stored func(error)
}

// Store stores an end, alone or in a pack on subject to; it goes alone if that is empty. It calls stored once
// that is done or given up, with the error of publish. It returns at once if another call is just storing
// ends; else when it has stored this one and those that have come meanwhile. stored must not wait.
func (p *Packer) Store(ctx context.Context, to string, end *bus.End, stored func(error)) {
	if to == "" {
		p.send(ctx, "", []packed{{end, stored}})
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.queues[to]
	if q == nil {
		q = &packQueue{}
		p.queues[to] = q
	}
	q.waiting = append(q.waiting, packed{end, stored})
	if q.sending == maxPacks || q.sending > 0 && len(q.waiting) < bus.MaxEnds {
		return
	}
	q.sending++
	for len(q.waiting) > 0 {
		ends := q.waiting
		q.waiting = nil
		p.mu.Unlock()
		p.send(ctx, to, ends)
		p.mu.Lock()
	}
	q.sending--
}

// send stores ends in as few messages as there can be.
func (p *Packer) send(ctx context.Context, to string, ends []packed) {
	for most := bus.MaxEnds; len(ends) > 0; {
		some := make([]*bus.End, min(len(ends), most))
		for i := range some {
			some[i] = ends[i].End
		}
		m, n, err := bus.PackEnds(to, p.instance, some, p.maxPayload())
		if err == nil {
			err = p.publish(ctx, m, some[:n])
		}
		if errors.Is(err, nats.ErrMaxPayload) && most > 1 { // NATS has come back with a smaller one
			most = 1
			continue
		}
		for _, end := range ends[:n] {
			end.stored(err)
		}
		ends = ends[n:]
	}
}
