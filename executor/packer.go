package executor

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
)

// maxPacks is how many packs for one subject may be on their way at once.
const maxPacks = 4

// packer stores the ends of attempts. An end for which nobody waits is stored at once while no other is on
// its way. Else it waits until that one is stored, and goes with what has come meanwhile: the more runs
// end, the fewer messages each takes. Methods may be called concurrently.
type packer struct {
	e    *Executor
	done chan *report // attempts on their way back to the loop

	mu     sync.Mutex
	queues map[string]*packQueue // by subject
	lastBy time.Time             // when what is sent after the end of life is given up
}

// packQueue is the ends for one subject.
type packQueue struct {
	waiting []*report
	sending int // goroutines that empty it
}

// store stores an end, or has a goroutine store it that is just storing others, and hands it back to the
// loop when that is done or given up.
func (p *packer) store(life context.Context, end *report) {
	to := end.run.trigger.Report
	if to == "" {
		p.send(life, "", []*report{end})
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.queues[to]
	if q == nil {
		q = &packQueue{}
		p.queues[to] = q
	}
	q.waiting = append(q.waiting, end)
	if q.sending == maxPacks || q.sending > 0 && len(q.waiting) < bus.MaxEnds {
		return
	}
	q.sending++
	for len(q.waiting) > 0 {
		ends := q.waiting
		q.waiting = nil
		p.mu.Unlock()
		p.send(life, to, ends)
		p.mu.Lock()
	}
	q.sending--
}

// send stores ends in as few messages as there can be.
func (p *packer) send(life context.Context, to string, ends []*report) {
	for most := bus.MaxEnds; len(ends) > 0; {
		some := make([]*bus.End, min(len(ends), most))
		for i := range some {
			some[i] = ends[i].end
		}
		m, n, err := bus.PackEnds(to, p.e.cfg.Instance, some, p.e.out.maxPayload())
		if err == nil {
			err = p.publish(life, m, ends[:n])
		}
		if errors.Is(err, nats.ErrMaxPayload) && n > 1 { // NATS has come back with a smaller one
			most = 1
			continue
		}
		for _, end := range ends[:n] {
			end.stored(life, p.e, err)
		}
		ends = ends[n:]
	}
}

// publish publishes a message with ends until it is stored, or life is over and with it the time for last
// words.
func (p *packer) publish(life context.Context, m *nats.Msg, ends []*report) error {
	about := []any{"run_id", ends[0].run.ID(), "job", ends[0].run.Job(), "ends", len(ends)}
	err := p.e.out.publishUntilStored(life, m, about...)
	if err != nil && life.Err() != nil { // the logs have taken the time that a stop leaves
		last, cancel := context.WithDeadline(context.WithoutCancel(life), p.lastWordsBy())
		defer cancel()
		err = p.e.out.publish(last, m)
	}
	return err
}

// lastWordsBy returns until when last words may take, for all ends together.
func (p *packer) lastWordsBy() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lastBy.IsZero() {
		p.lastBy = time.Now().Add(lastWords / 2)
	}
	return p.lastBy
}
