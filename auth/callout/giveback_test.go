package callout_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// After a plain -NAK, JetStream redelivers a trigger at once, thousands of times a second.
func TestAGroupThatGivesTriggersBackAtOnceIsRefusedAndOthersGoOn(t *testing.T) {
	w := newWorld(t)
	w.serve()
	victim := w.victim()
	_, seed, err := w.users.Credentials().Create(t.Context(), "alpha", "stolen", "ann", 0)
	w.check(err)
	w.check(w.conn.Groups().Setup(t.Context(), cluster.Group{Group: "alpha", HasRouted: true}))
	cut, heard := cuts()
	alpha := w.connect(seed, "alpha", heard, nats.NoReconnect()).NC
	inbox := alpha.NewInbox()
	pull := func() {
		_ = alpha.PublishRequest("$JS.API.CONSUMER.MSG.NEXT.TRIG."+bus.ConsumerAny("alpha"), inbox, []byte(`{"batch":1,"expires":60000000000}`))
	}
	_, err = alpha.Subscribe(inbox, func(m *nats.Msg) {
		if m.Reply != "" {
			_ = alpha.Publish(m.Reply, []byte("-NAK"))
		}
		pull()
	})
	w.check(err)
	pull()
	w.trigger(job.NewRunID(time.Now()), "alpha/wait")
	select {
	case <-cut:
	case <-time.After(patience):
		t.Fatal("the group that gives triggers back at once is not cut off")
	}
	w.refused(seed, "alpha")
	told, err := w.conn.Refusals().All(t.Context())
	w.check(err)
	if len(told) != 1 || told[0].Group != "alpha" || told[0].GaveBack == 0 || !told[0].Until.After(time.Now()) {
		t.Errorf("the refusals for alerters are %+v", told)
	}
	reply, err := w.conn.AskInstance(t.Context(), victim.address, bus.VerbBeat, nil, nil, patience)
	w.check(err)
	if reply.State != fleet.InstanceOnline || reply.Running != 1 {
		t.Errorf("the other group's executor is %s with %d runs", reply.State, reply.Running)
	}
}
