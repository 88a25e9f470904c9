package dispatch

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus/cluster"
)

// group is an executor group and its routed triggers.
type group struct {
	roster
	backs backs
	naks  naks
	court court
	d     *Dispatcher
	name  string
	// Of the dispatcher's mutex: stop ends serve or govern, nil while nobody serves; as is
	// what is known of the group, and as which it is served.
	stop context.CancelFunc
	as   cluster.Group
	// pulled wakes serve when it is to pull what executors pull.
	pulled chan struct{}
	// How many instances were suspended when it was looked last.
	barring int
	served  cluster.Group
}

func newGroup(d *Dispatcher, name string) *group {
	g := &group{d: d, name: name, pulled: make(chan struct{}, 1), roster: roster{members: map[string]*member{}}}
	g.barred = func(instance string) bool { return g.naks.suspended(instance, time.Now()) }
	return g
}

// answer tells JetStream about a trigger. An answer that is lost is made up for by its
// redelivery.
func (g *group) answer(m *nats.Msg, what string) {
	if err := g.d.conn.NC.Publish(m.Reply, []byte(what)); err != nil {
		g.d.log.Debug("trigger not answered", "answer", what, "error", err)
	}
}
