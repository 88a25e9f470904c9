package dispatch

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
)

// maxBacks bounds how many triggers are remembered that were handed back.
const maxBacks = 16384

// backs remembers the triggers that dispatchers have handed back and nobody had begun: when
// the next delivery comes here, there is nothing to judge.
type backs struct {
	mu        sync.Mutex
	delivered map[bus.Position]int // the delivery that was handed back
}

// back is what dispatchers tell each other of a trigger that one hands back unbegun.
type back struct {
	bus.Position
	Delivery int `json:"delivery"`
}

// tellBack lets all dispatchers know that the offer is handed back. One that does not hear
// it judges the attempt.
func (o *offer) tellBack() {
	told := back{Position: o.at, Delivery: o.delivery}
	o.g.backs.note(told)
	data, err := json.Marshal(told)
	if err == nil {
		err = o.g.d.conn.NC.Publish(bus.SubjectBack(o.g.name), data)
	}
	if err != nil {
		o.g.d.log.Debug("hand-back not told", "error", err)
	}
}

// hearBack takes in what a dispatcher has handed back.
func (d *Dispatcher) hearBack(m *nats.Msg) {
	var told back
	if json.Unmarshal(m.Data, &told) != nil {
		return
	}
	d.mu.Lock()
	g := d.groups[strings.TrimPrefix(m.Subject, bus.SubjectBack(""))]
	d.mu.Unlock()
	if g != nil {
		g.backs.note(told)
	}
}

// note remembers what was handed back.
func (b *backs) note(told back) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.delivered == nil || len(b.delivered) >= maxBacks {
		b.delivered = map[bus.Position]int{}
	}
	b.delivered[told.Position] = told.Delivery
}

// gaveBack reports whether the delivery before this one was handed back unbegun.
func (b *backs) gaveBack(o *offer) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	last, known := b.delivered[o.at]
	delete(b.delivered, o.at)
	return known && last == o.delivery-1
}
