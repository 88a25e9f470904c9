package executor

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"

	"carillon/bus"
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

// puller asks the group's consumer for triggers: as many as there are free slots.
//
// It speaks the pull protocol itself. The client library's Consume can stall, and
// both it and Fetch look the consumer up first, which executors are not permitted.
type puller struct {
	e       *Executor
	subject string
	inbox   chan *nats.Msg // of all requests; never full, as no more is asked for

	requests map[*nats.Subscription]*request
	ordered  int // triggers that requests may still bring

	notBefore  time.Time     // no request until then
	wait       time.Duration // of the next refusal
	refused    bool          // the last request was, and it has been logged
	reconnects uint64        // of the connection, when the requests were made
}

// request is one pull request at the server. It has a subject of its own, so that
// what it may still bring is known.
type request struct {
	left  int
	heard time.Time
}

func newPuller(e *Executor) *puller {
	return &puller{
		e:          e,
		subject:    "$JS.API.CONSUMER.MSG.NEXT." + bus.StreamTrig + "." + bus.ConsumerAny(e.cfg.Group),
		inbox:      make(chan *nats.Msg, 4*e.cfg.Slots+1024),
		requests:   map[*nats.Subscription]*request{},
		wait:       pullWaitMin,
		reconnects: e.conn.NC.Stats().Reconnects,
	}
}

// ask makes a request for the free slots that none has been made for, unless they
// are few and enough others are on order.
func (p *puller) ask(free int) {
	n := free - p.ordered
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

func (p *puller) request(n int, now time.Time) error {
	nc := p.e.conn.NC
	if !nc.IsConnected() {
		p.notBefore = now.Add(pullWaitMin)
		return nil
	}
	body, err := json.Marshal(struct {
		Batch     int           `json:"batch"`
		Expires   time.Duration `json:"expires"`
		Heartbeat time.Duration `json:"idle_heartbeat"`
	}{n, pullFor, pullBeat})
	if err != nil {
		return err
	}
	// Not NewRespInbox: its prefix has a subscription for all requests of the connection,
	// so the server would go on delivering to a request that was given up.
	inbox := nc.NewInbox()
	sub, err := nc.ChanSubscribe(inbox, p.inbox)
	if err != nil {
		return err
	}
	if err := nc.PublishRequest(p.subject, inbox, body); err != nil {
		_ = sub.Unsubscribe() // the connection is gone, and the subscription with it
		return err
	}
	p.requests[sub] = &request{left: n, heard: now}
	p.ordered += n
	return nil
}

// take accounts for a message, and reports whether it is a trigger.
func (p *puller) take(m *nats.Msg) bool {
	req := p.requests[m.Sub]
	now := time.Now()
	status := ""
	if len(m.Data) == 0 {
		status = m.Header.Get("Status")
	}
	if status == "" {
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
	switch status {
	case "100": // it waits
		req.heard = now
		p.accepted()
	case "404", "408": // it has waited long enough
		p.close(m.Sub)
		p.accepted()
	case "503":
		p.close(m.Sub)
		p.refuse(now, "the group has no consumer, or JetStream is away")
	default: // the consumer was deleted, moved, or has too many requests
		p.close(m.Sub)
		p.refuse(now, m.Header.Get("Description"))
	}
	return false
}

// close ends a request that the server has ended.
func (p *puller) close(sub *nats.Subscription) {
	p.ordered -= p.requests[sub].left
	delete(p.requests, sub)
	_ = sub.Unsubscribe() // fails only when the connection is closed
}

// giveUp ends a request that the server may still have. What it has delivered by
// the time that it learns of it, arrives.
func (p *puller) giveUp(sub *nats.Subscription) {
	p.ordered -= p.requests[sub].left
	delete(p.requests, sub)
	_ = sub.Drain() // fails only when the connection is closed
}

// refuse puts the next request off. A group is often younger than its first
// executor, so the first refusal is told in a quiet voice, and only that.
func (p *puller) refuse(now time.Time, why string) {
	p.notBefore = now.Add(p.wait)
	p.wait = min(2*p.wait, pullWaitMax)
	if !p.refused {
		p.refused = true
		p.e.log.Info("waiting for triggers to be available", "reason", why)
	}
}

func (p *puller) accepted() {
	p.wait = pullWaitMin
	if p.refused {
		p.refused = false
		p.e.log.Info("triggers are available")
	}
}

// look gives up requests that have died unseen.
func (p *puller) look(now time.Time) {
	if n := p.e.conn.NC.Stats().Reconnects; n != p.reconnects {
		p.reconnects = n
		for sub := range p.requests {
			p.giveUp(sub)
		}
		return
	}
	for sub, req := range p.requests {
		if now.Sub(req.heard) > pullSilence {
			p.giveUp(sub)
		}
	}
}

// drain ends all requests and returns what they still brought. It waits for NATS no
// longer than ctx.
func (p *puller) drain(ctx context.Context) []*nats.Msg {
	for sub := range p.requests {
		p.giveUp(sub)
	}
	// The answer follows everything that the server had sent.
	_ = p.e.conn.NC.FlushWithContext(ctx) // without it, what comes later goes to others
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
