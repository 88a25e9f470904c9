package executor

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
)

const (
	// handOverWait is how long a server has to say that it takes a trigger, and then how
	// long it has to offer it back, if this instance may begin it.
	handOverWait = 2 * time.Second
	// handOverAgain is after how long one comes again that no server took.
	handOverAgain = 5 * time.Second
)

// handOvers is the triggers that are on their way to a server: those that were delivered
// before, as another instance may have their attempts, and those that this one cannot do.
type handOvers struct {
	sub    *nats.Subscription
	inbox  chan *nats.Msg
	prefix string // of the subjects of answers
	asked  uint64
	open   map[uint64]handOver // by their number
}

// handOver is one of them.
type handOver struct {
	reply string // where its trigger is answered
	at    time.Time
	taken bool // by a server, which may offer it back: its slot stays free for a while
}

func newHandOvers(nc *nats.Conn) (handOvers, error) {
	h := handOvers{inbox: make(chan *nats.Msg, 2*MaxSlots), prefix: nc.NewInbox() + ".", open: map[uint64]handOver{}}
	var err error
	if h.sub, err = nc.ChanSubscribe(h.prefix+"*", h.inbox); err != nil {
		return h, fmt.Errorf("subscribe to answers of servers: %w", err)
	}
	return h, nil
}

// handOver hands a trigger to a server, whose it is once that has answered.
func (l *loop) handOver(life context.Context, m *nats.Msg) {
	h := &l.handing
	h.asked++
	request := bus.HandOverRequest(l.e.cfg.Group, l.e.cfg.Instance, m, h.prefix+strconv.FormatUint(h.asked, 36))
	if err := l.e.conn.NC.PublishMsg(request); err != nil {
		l.e.log.DebugContext(life, "trigger not handed over", "error", err) // it comes again
		return
	}
	h.open[h.asked] = handOver{reply: m.Reply, at: time.Now()}
}

// handedOver takes in what a server has said to a trigger.
func (l *loop) handedOver(life context.Context, m *nats.Msg) {
	number, err := strconv.ParseUint(strings.TrimPrefix(m.Subject, l.handing.prefix), 36, 64)
	o, known := l.handing.open[number]
	if err != nil || !known {
		return
	}
	if err := bus.Answered(m); err != nil {
		delete(l.handing.open, number)
		l.e.log.DebugContext(life, "trigger not handed over", "error", err)
		l.giveBack(o.reply, handOverAgain)
		return
	}
	l.e.observers.count(CountHandedOver, 1)
	l.handing.open[number] = handOver{reply: o.reply, at: time.Now(), taken: true}
}

// comeBack ends the reservation of a slot for a trigger that has been offered back.
func (h *handOvers) comeBack(reply string) {
	for number, o := range h.open {
		if o.reply == reply {
			delete(h.open, number)
		}
	}
}

// lookAfterHandOvers gives back the triggers that no server takes, and the slots of those
// that went elsewhere.
func (l *loop) lookAfterHandOvers(now time.Time) {
	for number, o := range l.handing.open {
		if now.Sub(o.at) > handOverWait {
			delete(l.handing.open, number)
			if !o.taken {
				l.giveBack(o.reply, handOverAgain)
			}
		}
	}
}

// giveBack has JetStream deliver a trigger again, not before some time has passed.
func (l *loop) giveBack(reply string, after time.Duration) {
	l.e.observers.count(CountGivenBack, 1)
	l.answer(reply, bus.NakAfter(after))
}
