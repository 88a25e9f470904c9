package dispatch

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"carillon/bus"
)

const (
	// maxOffers is how many triggers of a group a dispatcher has in hand at once.
	maxOffers = 512
	// pullLook is how often pull requests are looked after.
	pullLook = 250 * time.Millisecond
	// lastWords is how long a dispatcher that ends waits for what was on its way to it.
	lastWords = 500 * time.Millisecond
)

// group is an executor group and its routed triggers.
type group struct {
	roster
	d    *Dispatcher
	name string
	// Of the dispatcher's mutex: stop ends serve or govern, nil while nobody serves; as is
	// what is known of the group, and as which it is served.
	stop   context.CancelFunc
	as     bus.Group
	served bus.Group
}

func newGroup(d *Dispatcher, name string) *group {
	return &group{d: d, name: name, roster: roster{members: map[string]*member{}}}
}

// serve pulls the group's routed triggers and offers them until ctx is done; then it
// hands back what it has.
func (g *group) serve(ctx context.Context) {
	puller := g.d.conn.NewPuller(bus.ConsumerRoute(g.name), maxOffers, g.d.log.With("executor_group", g.name))
	ended := make(chan struct{}, maxOffers)
	offers, workers := 0, 0
	triggers := make(chan *nats.Msg, maxOffers)
	// Workers stay, as their stacks have grown by then, and end when serve does.
	var working sync.WaitGroup
	defer working.Wait()
	defer close(triggers)
	begin := func(m *nats.Msg) {
		if !puller.Take(m) {
			return
		}
		if offers++; offers > workers {
			workers++
			working.Go(func() {
				for m := range triggers {
					g.offer(ctx, m)
					ended <- struct{}{}
				}
			})
		}
		triggers <- m // there is room: no more offers are under way
	}
	tick := time.NewTicker(pullLook)
	defer tick.Stop()
	for ctx.Err() == nil {
		puller.Ask(maxOffers - offers)
		select {
		case <-ctx.Done():
		case m := <-puller.Inbox():
			begin(m)
		case <-ended:
			offers--
		case now := <-tick.C:
			puller.Look(now)
		}
	}
	// The group's context is done, but what is on its way would be missing for AckWait.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	for _, m := range puller.Drain(last) {
		begin(m)
	}
	for ; offers > 0; offers-- {
		<-ended
	}
}

// answer tells JetStream about a trigger. An answer that is lost is made up for by its
// redelivery.
func (g *group) answer(m *nats.Msg, what string) {
	if err := g.d.conn.NC.Publish(m.Reply, []byte(what)); err != nil {
		g.d.log.Debug("trigger not answered", "answer", what, "error", err)
	}
}
