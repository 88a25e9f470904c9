package jet

import (
	"context"
	"log/slog"
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

	// maxPulls bounds the requests at the server. Each is for at least as many slots as
	// all others before it, so few are needed, and a freed slot never waits for one to
	// end.
	maxPulls = 4

	// Refused requests are repeated after a wait that doubles between these.
	pullWaitMin = 250 * time.Millisecond
	pullWaitMax = 2 * time.Second
)

// Puller asks a durable consumer on TRIG for triggers: as many as its user has room
// for. Its requests overlap. One goroutine uses it.
type Puller struct {
	nc       *nats.Conn
	log      *slog.Logger
	consumer string
	inbox    chan *nats.Msg // of all requests; never full, as no more is asked for

	requests map[*nats.Subscription]*pullRequest
	ordered  int // triggers that requests may still bring

	notBefore  time.Time     // no request until then
	wait       time.Duration // of the next refusal
	refused    bool          // the last request was, and it has been logged
	reconnects uint64        // of the connection, when the requests were made
}

// pullRequest is one pull request at the server. It has a subject of its own, so that
// what it may still bring is known.
type pullRequest struct {
	left  int
	heard time.Time
}

// NewPuller returns a puller for the consumer of that name. room is about how much
// [Puller.Ask] will be told is free; what goes far beyond it is asked for later.
func (c *Conn) NewPuller(consumer string, room int, log *slog.Logger) *Puller {
	return &Puller{
		nc: c.NC, log: log, consumer: consumer,
		inbox:      make(chan *nats.Msg, 4*room+1024),
		requests:   map[*nats.Subscription]*pullRequest{},
		wait:       pullWaitMin,
		reconnects: c.NC.Stats().Reconnects,
	}
}

// Inbox returns the channel on which messages arrive, each to be given to
// [Puller.Take].
func (p *Puller) Inbox() <-chan *nats.Msg { return p.inbox }

// Ask makes a request for the free slots that none has been made for, unless they
// are few and enough others are on order.
func (p *Puller) Ask(free int) {
	n := min(free, cap(p.inbox)/2) - p.ordered
	if n <= 0 || n < p.ordered || len(p.requests) >= maxPulls {
		return
	}
	now := time.Now()
	if now.Before(p.notBefore) {
		return
	}
	if err := p.request(n, now); err != nil {
		p.refuse(now, err.Error())
	}
}

func (p *Puller) request(n int, now time.Time) error {
	nc := p.nc
	if !nc.IsConnected() {
		p.notBefore = now.Add(pullWaitMin)
		return nil
	}
	inbox := nc.NewInbox()
	sub, err := nc.ChanSubscribe(inbox, p.inbox)
	if err != nil {
		return err
	}
	if err := (PullRequest{Batch: n, Expires: pullFor, Heartbeat: pullBeat}).send(nc, bus.StreamTrig, p.consumer, inbox); err != nil {
		_ = sub.Unsubscribe() // the connection is gone, and the subscription with it
		return err
	}
	p.requests[sub] = &pullRequest{left: n, heard: now}
	p.ordered += n
	return nil
}

// Take accounts for a message, and reports whether it is a trigger.
func (p *Puller) Take(m *nats.Msg) bool {
	req := p.requests[m.Sub]
	now := time.Now()
	word, why := wordOf(m)
	if word == delivered {
		if req != nil {
			req.heard = now
			req.left--
			p.ordered--
			if req.left == 0 {
				p.close(m.Sub)
			}
		}
		p.accepted()
		return true
	}
	if req == nil {
		return false // the last word of a request that was given up
	}
	switch word {
	case delivered:
	case waiting:
		req.heard = now
		p.accepted()
	case over:
		p.close(m.Sub)
		p.accepted()
	case refused:
		p.close(m.Sub)
		p.refuse(now, why.Error())
	}
	return false
}

// close ends a request that the server has ended.
func (p *Puller) close(sub *nats.Subscription) {
	p.ordered -= p.requests[sub].left
	delete(p.requests, sub)
	_ = sub.Unsubscribe() // fails only when the connection is closed
}

// giveUp ends a request that the server may still have. What it has delivered by
// the time that it learns of it, arrives.
func (p *Puller) giveUp(sub *nats.Subscription) {
	p.ordered -= p.requests[sub].left
	delete(p.requests, sub)
	_ = sub.Drain() // fails only when the connection is closed
}

// refuse puts the next request off. A group is often younger than its first
// executor, so the first refusal is told in a quiet voice, and only that.
func (p *Puller) refuse(now time.Time, why string) {
	p.notBefore = now.Add(p.wait)
	p.wait = min(2*p.wait, pullWaitMax)
	if !p.refused {
		p.refused = true
		p.log.Info("waiting for triggers to be available", "reason", why)
	}
}

func (p *Puller) accepted() {
	p.wait = pullWaitMin
	if p.refused {
		p.refused = false
		p.log.Info("triggers are available")
	}
}

// Look gives up requests that have died unseen.
func (p *Puller) Look(now time.Time) {
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
