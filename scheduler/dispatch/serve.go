package dispatch

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

const (
	// maxOffers is how many triggers of a group a dispatcher has in hand at once.
	maxOffers = 512
	// pullLook is how often pull requests, and what waits here, are looked after.
	pullLook = 250 * time.Millisecond
	// lastWords is how long a dispatcher that ends waits for what was on its way to it.
	lastWords = 500 * time.Millisecond
)

// server hands out the triggers of a group that is not governed. Its goroutine owns all
// of it.
//
// Most triggers need one question, to the instance that their route puts first. The
// server asks it and goes on; whatever is not that simple is a worker's, who may wait.
type server struct {
	g      *group
	puller *jet.Puller
	asker  *jet.Asker           // nil: all is for workers
	asked  map[uint64]*question // by their number
	parked []*offer             // while all instances are busy, in the order of compareAge
	inHand int                  // asked for, with a worker, or parked

	triggers chan *offer // for workers
	ended    chan *offer // from them
	workers  int         // that there are
	working  int         // that have something
	resuming bool        // one of those had been parked
	wait     sync.WaitGroup
}

// question is a trigger that an instance has been asked to take.
type question struct {
	*offer
	m  *member
	at time.Time
}

// serve pulls the group's routed triggers and hands them out until ctx is done; then it hands back
// what it has.
func (g *group) serve(ctx context.Context) {
	s := &server{
		g: g, puller: g.d.conn.NewPuller(maxOffers, g.d.log.With("executor_group", g.name), g.d.consumers(bus.ConsumerRoute(g.name))...),
		asked: map[uint64]*question{}, triggers: make(chan *offer, 2*maxOffers), ended: make(chan *offer, 2*maxOffers),
	}
	defer s.wait.Wait()
	defer close(s.triggers)
	var answers <-chan *nats.Msg
	if asker, err := g.d.conn.NewAsker(2 * maxOffers); err != nil {
		g.d.log.DebugContext(ctx, "answers of instances not heard", "error", err)
	} else {
		defer asker.Close()
		s.asker, answers = asker, asker.Inbox()
	}
	tick := time.NewTicker(pullLook)
	defer tick.Stop()
	opens := time.NewTimer(0)
	defer opens.Stop()
	for ctx.Err() == nil {
		switch closed := time.Until(g.closedUntil()); {
		case closed > 0:
			opens.Reset(closed)
		case len(s.parked) > 0:
			s.resume(ctx)
		default:
			s.puller.Ask(maxOffers - s.inHand)
		}
		select {
		case <-ctx.Done():
		case m := <-s.puller.Inbox():
			s.begin(ctx, m)
		case m := <-answers:
			s.hear(ctx, m)
		case o := <-s.ended:
			s.end(o)
		case <-opens.C:
		case now := <-tick.C:
			s.tick(ctx, now)
		}
	}
	s.stop(ctx, answers)
}

// begin takes a trigger in.
func (s *server) begin(ctx context.Context, m *nats.Msg) {
	if !s.puller.Take(m) {
		return
	}
	o := s.g.newOffer(ctx, m)
	if o == nil {
		return
	}
	if s.inHand >= maxOffers { // here it would wait for what is in hand, and elsewhere go round
		o.handBack()
		return
	}
	s.inHand++
	if !s.ask(o) {
		s.work(ctx, o)
	}
}

// ask asks the instance that comes first to take the trigger. It returns false if more
// than that is needed.
func (s *server) ask(o *offer) bool {
	if s.asker == nil || !o.clear || o.probes() || late(o.t, o.began) {
		return false
	}
	m := s.g.first(o, o.began)
	if m == nil {
		return false
	}
	number, err := s.asker.Ask(s.g.address(m), bus.VerbRun, bus.RunRequest(o.m, "", false), o.m.Data)
	if err != nil {
		return false
	}
	s.asked[number] = &question{offer: o, m: m, at: o.began}
	return true
}

// hear takes in the answer to a question. If the instance has not taken the trigger, a
// worker looks for another.
func (s *server) hear(ctx context.Context, m *nats.Msg) {
	if q, taken := s.answered(m); q != nil && !taken {
		s.work(ctx, q.offer)
	}
}

// answered returns the question that m answers, nil when it was given up, and whether the
// instance has taken the trigger.
func (s *server) answered(m *nats.Msg) (q *question, taken bool) {
	number, reply, err := s.asker.Answer(m)
	if q = s.asked[number]; q == nil {
		return nil, false
	}
	delete(s.asked, number)
	q.learn(q.m, reply, err)
	if err != nil || reply.Answer != fleet.AnswerAccepted {
		return q, false
	}
	q.remember(q.m)
	s.g.d.metrics.outcome(outcomeTaken)
	s.inHand--
	return q, true
}

// work gives a trigger to a worker. Workers stay, as their stacks have grown by then, and
// end when serve does.
func (s *server) work(ctx context.Context, o *offer) {
	if s.working++; s.working > s.workers {
		s.workers++
		s.wait.Go(func() {
			for o := range s.triggers {
				s.g.offer(ctx, o)
				s.ended <- o
			}
		})
	}
	s.triggers <- o // there is room: no more are in hand
}

// end takes a trigger back from a worker.
func (s *server) end(o *offer) {
	s.working--
	if o.resumed {
		o.resumed, s.resuming = false, false
	}
	if o.result == parked {
		s.park(o)
	} else {
		s.inHand--
	}
}

// stop waits until it is known what becomes of questions that are open, and hands back
// what else there is.
func (s *server) stop(ctx context.Context, answers <-chan *nats.Msg) {
	// The group's context is done, but what is on its way would be missing for AckWait.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	for _, m := range s.puller.Drain(last) {
		if s.puller.Take(m) {
			s.g.answer(m, bus.NakAfter(holdMin))
		}
	}
	patience := time.NewTimer(runWait)
	defer patience.Stop()
	for s.working > 0 || len(s.asked) > 0 {
		select {
		case o := <-s.ended:
			s.end(o)
		case m := <-answers:
			if q, taken := s.answered(m); q != nil && !taken {
				s.inHand--
				q.handBackFor(holdMin)
			}
		case <-patience.C:
			clear(s.asked) // they come again, unless who has them says that they live
		}
	}
	for _, o := range s.parked {
		o.handBackFor(holdMin)
	}
}
