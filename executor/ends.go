package executor

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

// ends stores the ends of attempts, and hands the attempts back to the loop.
type ends struct {
	e      *Executor
	packer *jet.Packer
	done   chan *report // attempts on their way back to the loop

	mu     sync.Mutex
	lastBy time.Time // when what is sent after the end of life is given up
}

func newEnds(e *Executor) *ends {
	n := &ends{e: e, done: make(chan *report, MaxSlots)}
	n.packer = jet.NewPacker(e.cfg.Instance, e.out.maxPayload, n.publish)
	return n
}

// store stores an end, as [jet.Packer.Store] does, and hands it back to the loop when that is done or
// given up.
func (n *ends) store(life context.Context, end *report) {
	n.packer.Store(life, end.run.trigger.Report, end.end, func(err error) { end.stored(life, n.e, err) })
}

// publish publishes a message with ends until it is stored, or life is over and with it the time for last
// words.
func (n *ends) publish(life context.Context, m *nats.Msg, all []*bus.End) error {
	first := all[0].Event()
	err := n.e.out.publishUntilStored(life, m, "run_id", first.RunID, "job", first.Job, "ends", len(all))
	if err != nil && life.Err() != nil { // the logs have taken the time that a stop leaves
		last, cancel := context.WithDeadline(context.WithoutCancel(life), n.lastWordsBy())
		defer cancel()
		err = n.e.out.publish(last, m)
	}
	return err
}

// lastWordsBy returns until when last words may take, for all ends together.
func (n *ends) lastWordsBy() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lastBy.IsZero() {
		n.lastBy = time.Now().Add(lastWords / 2)
	}
	return n.lastBy
}
