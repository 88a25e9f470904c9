package xxljob

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

const (
	// killedFor is how long a run that somebody ended is remembered, should its trigger still come.
	killedFor = time.Minute
	maxKilled = 4096
	// A server has handOverWait to take a trigger; one that none takes comes again after handOverAgain.
	handOverWait  = 2 * time.Second
	handOverAgain = 5 * time.Second
	// pullRoom is about how many triggers are on order.
	pullRoom = 4096
)

// group is the instances of an executor group that this bridge serves. They share one pull: whoever
// has the fewest runs, and none of the job, gets the trigger.
type group struct {
	b      *Bridge
	name   string
	log    logger
	killed *recent

	mu      sync.Mutex
	members map[*instance]bool
	changed chan struct{}       // has a value when there may be more room
	from    chan []bus.Consumer // to pull from, as servers say
}

// groupLocked returns the group of a name. The first time, it begins to pull for it.
func (b *Bridge) groupLocked(life context.Context, name string) *group {
	g := b.groups[name]
	if g == nil {
		g = &group{b: b, name: name, log: b.log.With("executor_group", name), killed: newRecent(killedFor, maxKilled), members: map[*instance]bool{}, changed: make(chan struct{}, 1), from: make(chan []bus.Consumer)}
		b.groups[name] = g
		b.work.Go(func() error { g.pull(life); return nil })
	}
	return g
}

func (g *group) join(i *instance) {
	g.mu.Lock()
	g.members[i] = true
	g.mu.Unlock()
	g.poke()
}

func (g *group) leave(i *instance) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.members, i)
}

func (g *group) all() []*instance {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Collect(maps.Keys(g.members))
}

// poke has the pull look for room.
func (g *group) poke() {
	select {
	case g.changed <- struct{}{}:
	default:
	}
}

// pull pulls triggers for as many runs as there is room for, until life is done.
func (g *group) pull(life context.Context) {
	p := g.b.conn.NewPuller(pullRoom, g.log, bus.ConsumersOf(g.name)...)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		free := 0
		for _, i := range g.all() {
			free += i.free()
		}
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
			if p.Take(m) {
				g.receive(life, m)
			}
		case consumers := <-g.from:
			g.log.InfoContext(life, "pulling from other consumers", "consumers", consumers)
			p.From(consumers)
		case <-g.changed:
		case now := <-tick.C:
			p.Look(now)
		}
	}
}

// receive gives a trigger to an instance, or back.
func (g *group) receive(life context.Context, m *nats.Msg) {
	o, err := readOffer(g.name, m.Reply, m)
	if err != nil {
		g.b.metrics.refused.Inc()
		g.log.WarnContext(life, "trigger rejected", "subject", m.Subject, "error", err)
		g.b.answer(m.Reply, "+TERM")
		return
	}
	members := g.all()
	for _, i := range members {
		if i.has(o) {
			return
		}
	}
	slices.SortFunc(members, func(a, b *instance) int { return b.free() - a.free() })
	if o.delivery > 1 { // somebody may have it, or have ended it: a server finds that out
		if len(members) > 0 {
			g.b.work.Go(func() error { g.handOver(life, m, members[0]); return nil })
			return
		}
		g.b.answer(m.Reply, bus.NakAfter(handOverAgain))
		return
	}
	for _, i := range members {
		if answer, _ := i.accept(o); answer == fleet.AnswerAccepted {
			return
		}
	}
	if len(members) > 0 && !can(&o.trigger.Task) { // another executor of the group may
		g.b.work.Go(func() error { g.handOver(life, m, members[0]); return nil })
		return
	}
	g.b.answer(m.Reply, bus.NakAfter(bus.GiveBackAfter(o.delivery)))
}

// handOver hands a trigger to a server, whose it is once that has answered.
func (g *group) handOver(life context.Context, m *nats.Msg, to *instance) {
	ctx, cancel := context.WithTimeout(life, handOverWait)
	defer cancel()
	answer, err := g.b.conn.NC.RequestMsgWithContext(ctx, bus.HandOverRequest(g.name, to.name, m, ""))
	if err == nil {
		err = bus.Answered(answer)
	}
	if err != nil {
		g.log.DebugContext(life, "trigger not handed over", "error", jet.Unavailable(err))
		g.b.answer(m.Reply, bus.NakAfter(handOverAgain))
	}
}
