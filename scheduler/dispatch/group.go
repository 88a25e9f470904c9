package dispatch

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

// group is an executor group and its routed triggers.
type group struct {
	roster
	naks   naks
	judges [bus.MaxPartitions]judge
	d      *Dispatcher
	name   string
	// Of the dispatcher's mutex: stop ends serve, nil while nobody serves; as is
	// what is known of the group, and as which it is served.
	stop   context.CancelFunc
	as     cluster.Group
	live   bool // it has an instance
	served cluster.Group
}

func newGroup(d *Dispatcher, name string) *group {
	return &group{d: d, name: name, roster: roster{members: map[string]*member{}}}
}

// direct tells an instance, once each time that it starts, from which consumers it is to pull:
// by itself it pulls from that of the first partition alone. Each node does, since any may be
// the last one left. What fails is tried again with the next heartbeat.
func (g *group) direct(ctx context.Context, instance string) {
	all := g.d.consumers(bus.ConsumerAny(g.name))
	if len(all) == 1 {
		return
	}
	one, is := g.toDirect(instance)
	if !is {
		return
	}
	body, _ := json.Marshal(bus.ConsumersRequest{Consumers: all}) // never fails: it is text
	g.d.serving.Go(func() {
		_, err := g.d.conn.AskInstance(ctx, one.to, bus.VerbConsumers, nil, body, askWait)
		if errors.Is(err, job.ErrInvalid) {
			g.d.log.WarnContext(ctx, "executor too old to pull from all partitions", "executor_group", g.name, "instance", instance, "error", err)
			err = nil
		}
		g.noteDirected(instance, one, err == nil)
	})
}

// answer tells JetStream about a trigger. An answer that is lost is made up for by its
// redelivery.
func (g *group) answer(m *nats.Msg, what string) {
	if err := g.d.conn.NC.Publish(m.Reply, []byte(what)); err != nil {
		g.d.log.Debug("trigger not answered", "answer", what, "error", err)
	}
}
