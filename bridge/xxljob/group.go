package xxljob

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/bus/recent"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

const (
	// killedFor is how long a run that somebody ended is remembered, should its trigger still come.
	killedFor = time.Minute
	maxKilled = 4096
	// A server has handOverWait to take a trigger; one that none takes comes again after handOverAgain.
	handOverWait  = 2 * time.Second
	handOverAgain = 5 * time.Second
	// countEvery is how often the room for more is counted, at most.
	countEvery = 10 * time.Millisecond
	// pullRoom is about how many triggers are on order.
	pullRoom = 4096
)

// group is the instances of an executor group that this bridge serves. They share one pull. The
// instance with the fewest runs, and with none of the job, gets the trigger.
type group struct {
	b      *Bridge
	name   string
	log    logger
	killed *recent.Set[bus.AttemptRef]
	done   *recent.Set[bus.AttemptRef] // attempts that have ended at one of the instances

	mu      sync.Mutex
	members []*instance
	holders map[bus.AttemptRef]*instance // of live attempts
	changed chan struct{}                // has a value when there may be more room
	from    chan []bus.Consumer          // to pull from, as servers say
}

// groupLocked returns the group of a name. The first time, it begins to pull for it.
func (b *Bridge) groupLocked(life context.Context, name string) *group {
	g := b.groups[name]
	if g == nil {
		g = &group{b: b, name: name, log: b.log.With("executor_group", name), changed: make(chan struct{}, 1), from: make(chan []bus.Consumer)}
		g.killed, g.done, g.holders = recent.New[bus.AttemptRef](killedFor, maxKilled), recent.New[bus.AttemptRef](doneFor, maxDone), map[bus.AttemptRef]*instance{}
		b.groups[name] = g
		b.work.Go(func() error { g.pull(life); return nil })
	}
	return g
}

func (g *group) join(i *instance) {
	g.mu.Lock()
	g.members = append(g.members, i)
	g.mu.Unlock()
	g.poke()
}

func (g *group) leave(i *instance) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = slices.DeleteFunc(g.members, func(other *instance) bool { return other == i })
	maps.DeleteFunc(g.holders, func(_ bus.AttemptRef, holder *instance) bool { return holder == i })
}

func (g *group) all() []*instance {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.members)
}

// hold records that an instance has an attempt.
func (g *group) hold(ref bus.AttemptRef, i *instance) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holders[ref] = i
}

// release records that it has it no more.
func (g *group) release(ref bus.AttemptRef, i *instance) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holders[ref] == i {
		delete(g.holders, ref)
	}
}

func (g *group) holder(ref bus.AttemptRef) *instance {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.holders[ref]
}

// choose returns the one of two instances, taken at random, that has more room: with many instances that
// spreads runs nearly as well as to look at all. Nil: there is none.
func (g *group) choose() *instance {
	g.mu.Lock()
	n := len(g.members)
	if n == 0 {
		g.mu.Unlock()
		return nil
	}
	a, b := g.members[rand.IntN(n)], g.members[rand.IntN(n)] //nolint:gosec // no secret
	g.mu.Unlock()
	if b.room() > a.room() {
		return b
	}
	return a
}

// poke asks the pull to count the room again.
func (g *group) poke() {
	select {
	case g.changed <- struct{}{}:
	default:
	}
}

// pull pulls triggers for as many runs as there is room for, until life is done.
func (g *group) pull(life context.Context) {
	p := g.b.conn.NewPuller(pullRoom, g.log, bus.ConsumersOf(g.name)...)
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	// To count the room is to look at each instance. In between, what comes is taken off.
	recount := time.NewTimer(0)
	defer recount.Stop()
	counted, free, waiting := time.Time{}, 0, true
	for {
		if p.Ordered() > free {
			p.Release()
		}
		p.Ask(free)
		select {
		case <-life.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(life), lastWords)
			defer cancel()
			for _, m := range p.Drain(last) {
				g.b.answer(m.Reply, bus.NakAfter(bus.GiveBackAfter(1)))
			}
			return
		case m := <-p.Inbox():
			if p.Receive(m) {
				free = max(free-1, 0)
				g.receive(life, m)
			}
		case consumers := <-g.from:
			g.log.InfoContext(life, "pulling from other consumers", "consumers", consumers)
			p.From(consumers)
		case <-recount.C:
			counted, free, waiting = time.Now(), 0, false
			for _, i := range g.all() {
				free += i.room()
			}
		case <-g.changed:
			if !waiting {
				waiting = true
				recount.Reset(countEvery - time.Since(counted)) // at once, if that is over
			}
		case now := <-tick.C:
			p.Expire(now)
			g.poke() // an instance may take work again, or no more
		}
	}
}

// receive gives a trigger to an instance, or back.
func (g *group) receive(life context.Context, m *nats.Msg) {
	if bus.ForServers(m.Header) { // a newer instance may know this version
		g.handOver(life, m, g.choose())
		return
	}
	o, err := readOffer(g.name, m.Reply, m)
	if err != nil {
		g.b.metrics.refused.Inc()
		g.log.WarnContext(life, "trigger rejected", "subject", m.Subject, "error", err)
		g.b.answer(m.Reply, "+TERM")
		return
	}
	if holder := g.holder(o.trigger.Ref()); holder != nil && holder.has(o) {
		return
	}
	if g.done.Has(o.trigger.Ref()) {
		g.b.answer(o.ack, "+ACK")
		return
	}
	first := g.choose()
	if o.delivery > 1 { // somebody may have it, or have ended it: a server finds that out
		g.handOver(life, m, first)
		return
	}
	if first != nil {
		if answer, _ := first.accept(o); answer == fleet.AnswerAccepted {
			return
		}
		for _, i := range g.all() {
			if answer, _ := i.accept(o); answer == fleet.AnswerAccepted {
				return
			}
		}
	}
	if first != nil && !can(&o.trigger.Task) { // another executor of the group may
		g.handOver(life, m, first)
		return
	}
	g.b.answer(m.Reply, bus.NakAfter(bus.GiveBackAfter(o.delivery)))
}

// handOver begins to hand a trigger to a server for an instance, and gives it back when there
// is none.
func (g *group) handOver(life context.Context, m *nats.Msg, of *instance) {
	if of == nil {
		g.b.answer(m.Reply, bus.NakAfter(handOverAgain))
		return
	}
	g.b.work.Go(func() error { g.transfer(life, m, of); return nil })
}

// transfer transfers a trigger to a server; the server owns it after its reply.
func (g *group) transfer(life context.Context, m *nats.Msg, of *instance) {
	ctx, cancel := context.WithTimeout(life, handOverWait)
	defer cancel()
	answer, err := g.b.conn.NC.RequestMsgWithContext(ctx, bus.HandOverRequest(g.name, of.name, m, ""))
	if err == nil {
		err = bus.Answered(answer)
	}
	if err != nil {
		g.log.DebugContext(life, "trigger not handed over", "error", jet.Unavailable(err))
		g.b.answer(m.Reply, bus.NakAfter(handOverAgain))
	}
}
