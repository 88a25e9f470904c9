package jet

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
)

const (
	// pullFor is how long a request waits for triggers, pullBeat how often the server
	// says that it still has the request, and pullSilence after which silence the
	// request counts as gone: its server died, or the link did.
	pullFor     = 30 * time.Second
	pullBeat    = 3 * time.Second
	pullSilence = 7 * time.Second

	// pullTurn is how long a request waits where there are several consumers. After that, the free
	// slots are shared among them again.
	pullTurn = time.Second

	// maxPulls bounds the requests to one consumer at the server. Each is for at least as many slots as
	// all others before it, so few are needed, and a freed slot never waits for one to
	// end.
	maxPulls = 4

	// Refused requests are repeated after a wait that doubles between these.
	pullWaitMin = 250 * time.Millisecond
	pullWaitMax = 2 * time.Second
)

// Puller asks durable consumers for triggers: as many as its user has room for. Its requests
// overlap. One goroutine uses it.
type Puller struct {
	nc    *nats.Conn
	log   *slog.Logger
	inbox chan *nats.Msg // of all requests; never full, as no more is asked for

	sources  []*source
	busiest  *source // brought the last trigger: it is asked for all that the others leave
	requests map[*nats.Subscription]*pullRequest
	ordered  int // triggers that requests may still bring

	reconnects uint64 // of the connection, when the requests were made
}

// source is a consumer that is asked.
type source struct {
	bus.Consumer
	ordered  int // of the puller's
	requests int
	asked    time.Time // when the last request was made

	notBefore time.Time     // no request until then
	wait      time.Duration // of the next refusal
	refused   bool          // the last request was, and it has been logged
}

// pullRequest is one pull request at the server. It has a subject of its own, so that
// what it may still bring is known.
type pullRequest struct {
	from  *source
	left  int
	heard time.Time
}

// NewPuller returns a puller for consumers. room is about how much [Puller.Ask] will be told is
// free; what goes far beyond it is asked for later.
func (c *Conn) NewPuller(room int, log *slog.Logger, from ...bus.Consumer) *Puller {
	p := &Puller{
		nc: c.NC, log: log,
		inbox:      make(chan *nats.Msg, 4*room+1024),
		requests:   map[*nats.Subscription]*pullRequest{},
		reconnects: c.NC.Stats().Reconnects,
	}
	p.From(from)
	return p
}

// From sets which consumers are asked from now on. Several servers may say the same.
func (p *Puller) From(consumers []bus.Consumer) {
	if slices.EqualFunc(p.sources, consumers, func(s *source, c bus.Consumer) bool { return s.Consumer == c }) {
		return
	}
	p.Release() // so that the slots are shared again
	p.sources = nil
	for _, c := range consumers {
		p.sources = append(p.sources, &source{Consumer: c, wait: pullWaitMin})
	}
	p.busiest = p.sources[0]
}

// Inbox returns the channel on which messages arrive, each to be given to
// [Puller.Receive].
func (p *Puller) Inbox() <-chan *nats.Msg { return p.inbox }

// Ask makes requests for the free slots that none has been made for: one slot of each consumer
// that has no request, and all that is left of the consumer that brought the last trigger,
// unless they are few and enough others are on order there.
func (p *Puller) Ask(free int) {
	n := min(free, cap(p.inbox)/2) - p.ordered
	if n <= 0 || !p.nc.IsConnected() {
		return
	}
	now := time.Now()
	for _, s := range p.idle(now) {
		if n > 0 {
			p.request(1, s, now, pullTurn)
			n--
		}
	}
	if s := p.busiest; n > 0 && n >= s.ordered && s.requests < maxPulls && !now.Before(s.notBefore) {
		turn := pullFor
		if len(p.sources) > 1 {
			turn = pullTurn
		}
		p.request(n, s, now, turn)
	}
}

// AskFrom makes a request to one consumer, by its place in the list, for the slots that are free for
// its triggers and that none has been made for.
func (p *Puller) AskFrom(consumer, free int) {
	s, now := p.sources[consumer], time.Now()
	n := min(free, cap(p.inbox)/(2*len(p.sources))) - s.ordered
	if n > 0 && n >= s.ordered && s.requests < maxPulls && !now.Before(s.notBefore) && p.nc.IsConnected() {
		p.request(n, s, now, pullFor)
	}
}

// idle returns the consumers without a request, the one that has waited longest first; none if
// there is only one consumer, which gets all slots anyway.
func (p *Puller) idle(now time.Time) (idle []*source) {
	if len(p.sources) == 1 {
		return nil
	}
	for _, s := range p.sources {
		if s.requests == 0 && !now.Before(s.notBefore) {
			idle = append(idle, s)
			for i := len(idle) - 1; i > 0 && s.asked.Before(idle[i-1].asked); i-- {
				idle[i], idle[i-1] = idle[i-1], idle[i]
			}
		}
	}
	return idle
}

// request asks a consumer for n triggers, for so long.
func (p *Puller) request(n int, from *source, now time.Time, expires time.Duration) {
	r := PullRequest{Batch: n, Expires: expires, Heartbeat: min(pullBeat, expires/2)}
	inbox := p.nc.NewInbox()
	sub, err := p.nc.ChanSubscribe(inbox, p.inbox)
	if err != nil {
		p.refuse(from, now, err.Error())
		return
	}
	if err := r.send(p.nc, from.Stream, from.Consumer.Consumer, inbox); err != nil {
		_ = sub.Unsubscribe() // the connection is gone, and the subscription with it
		p.refuse(from, now, err.Error())
		return
	}
	p.requests[sub] = &pullRequest{from: from, left: n, heard: now}
	p.ordered += n
	from.ordered += n
	from.requests++
	from.asked = now
}

// Receive accounts for a message, and reports whether it is a trigger.
func (p *Puller) Receive(m *nats.Msg) bool {
	req := p.requests[m.Sub]
	now := time.Now()
	status, why := pullStatusOf(m)
	if status == delivered {
		if req != nil {
			req.heard = now
			req.left--
			p.ordered--
			req.from.ordered--
			req.from.accepted(p.log)
			p.busiest = req.from
			if req.left == 0 {
				p.close(m.Sub)
			}
		}
		return true
	}
	if req == nil {
		return false // the last message of a request that was given up
	}
	switch status {
	case delivered:
	case waiting:
		req.heard = now
		req.from.accepted(p.log)
	case over:
		p.close(m.Sub)
		req.from.accepted(p.log)
	case refused:
		p.close(m.Sub)
		p.refuse(req.from, now, why.Error())
	}
	return false
}

// close ends a request that the server has ended.
func (p *Puller) close(sub *nats.Subscription) {
	p.strike(sub)
	_ = sub.Unsubscribe() // fails only when the connection is closed
}

// giveUp ends a request that the server may still have. What it has delivered by
// the time that it learns of it, arrives.
func (p *Puller) giveUp(sub *nats.Subscription) {
	p.strike(sub)
	_ = sub.Drain() // fails only when the connection is closed
}

// strike takes a request out of the accounts.
func (p *Puller) strike(sub *nats.Subscription) {
	req := p.requests[sub]
	p.ordered -= req.left
	req.from.ordered -= req.left
	req.from.requests--
	delete(p.requests, sub)
}

// refuse puts the next request to a consumer off. A group is often younger than its first
// executor, so the first refusal is told in a quiet voice, and only that.
func (p *Puller) refuse(from *source, now time.Time, why string) {
	from.notBefore = now.Add(from.wait)
	from.wait = min(2*from.wait, pullWaitMax)
	if !from.refused {
		from.refused = true
		p.log.Info("waiting for triggers to be available", "stream", from.Stream, "consumer", from.Consumer.Consumer, "reason", why)
	}
}

func (s *source) accepted(log *slog.Logger) {
	s.wait = pullWaitMin
	if s.refused {
		s.refused = false
		log.Info("triggers are available", "stream", s.Stream, "consumer", s.Consumer.Consumer)
	}
}

// Expire gives up requests that have died unseen.
func (p *Puller) Expire(now time.Time) {
	if n := p.nc.Stats().Reconnects; n != p.reconnects {
		p.reconnects = n
		p.Release()
		return
	}
	for sub, req := range p.requests {
		if now.Sub(req.heard) > pullSilence {
			p.giveUp(sub)
		}
	}
}

// Ordered returns how many triggers requests may still bring.
func (p *Puller) Ordered() int { return p.ordered }

// Release gives up all requests: there is no room any more for what they may bring.
func (p *Puller) Release() {
	for sub := range p.requests {
		p.giveUp(sub)
	}
}

// Drain ends all requests and returns what they still brought. It waits for NATS no
// longer than ctx.
func (p *Puller) Drain(ctx context.Context) []*nats.Msg {
	p.Release()
	// The answer follows everything that the server had sent.
	_ = p.nc.FlushWithContext(ctx) // without it, what comes later goes to others
	var last []*nats.Msg
	for {
		select {
		case m := <-p.inbox:
			last = append(last, m)
		default:
			return last
		}
	}
}
