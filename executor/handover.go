package executor

import (
	"context"
	"fmt"
	"log/slog"
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
	about About
	nc    *nats.Conn
	out   *publisher
	log   *slog.Logger

	sub     *nats.Subscription
	answers chan *nats.Msg
	prefix  string // of the subjects of answers
	last    uint64
	open    map[uint64]handOver // by their number
}

// handOver is one of them.
type handOver struct {
	reply string // where its trigger is answered
	at    time.Time
	taken bool // by a server, which may offer it back: its slot stays free for a while
}

func newHandOvers(e *Executor) (handOvers, error) {
	h := handOvers{
		about: About{Group: e.cfg.Group, Instance: e.cfg.Instance}, nc: e.conn.NC, out: &e.out, log: e.log,
		answers: make(chan *nats.Msg, 2*MaxSlots), prefix: e.conn.NC.NewInbox() + ".", open: map[uint64]handOver{},
	}
	var err error
	if h.sub, err = h.nc.ChanSubscribe(h.prefix+"*", h.answers); err != nil {
		return h, fmt.Errorf("subscribe to answers of servers: %w", err)
	}
	return h, nil
}

// request asks servers to take a trigger. It is theirs once one has answered.
func (h *handOvers) request(life context.Context, m *nats.Msg) {
	h.last++
	request := bus.HandOverRequest(h.about.Group, h.about.Instance, m, h.prefix+strconv.FormatUint(h.last, 36))
	if err := h.nc.PublishMsg(request); err != nil {
		h.log.DebugContext(life, "trigger not handed over", "error", err) // it comes again
		return
	}
	h.open[h.last] = handOver{reply: m.Reply, at: time.Now()}
}

// answered records a server's answer.
func (h *handOvers) answered(life context.Context, m *nats.Msg) {
	number, err := strconv.ParseUint(strings.TrimPrefix(m.Subject, h.prefix), 36, 64)
	o, known := h.open[number]
	if err != nil || !known {
		return
	}
	if err := bus.Answered(m); err != nil {
		delete(h.open, number)
		h.log.DebugContext(life, "trigger not handed over", "error", err)
		h.out.giveBack(o.reply, handOverAgain)
		return
	}
	h.out.observers.count(CountHandedOver, 1)
	h.open[number] = handOver{reply: o.reply, at: time.Now(), taken: true}
}

// release frees the slot of a trigger that has been offered back.
func (h *handOvers) release(reply string) {
	for number, o := range h.open {
		if o.reply == reply {
			delete(h.open, number)
		}
	}
}

// expire gives back the triggers that no server took in time, and frees the slots of those that went
// elsewhere.
func (h *handOvers) expire(now time.Time) {
	for number, o := range h.open {
		if now.Sub(o.at) > handOverWait {
			delete(h.open, number)
			if !o.taken {
				h.out.giveBack(o.reply, handOverAgain)
			}
		}
	}
}

// close ends the subscription.
func (h *handOvers) close(life context.Context) {
	if err := h.sub.Unsubscribe(); err != nil {
		h.log.DebugContext(life, "answers of servers not unsubscribed", "error", err)
	}
}
