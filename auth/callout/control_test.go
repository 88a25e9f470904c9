package callout_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/executor/metrics"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// JetStream answers on any subject that whoever asks names. So a group can cause messages
// on the subjects of another group's executor, with content of its choice.
func TestNothingThatAGroupCausesControlsTheExecutorOfAnother(t *testing.T) {
	w := newWorld(t)
	w.serve()
	w.check(w.conn.Groups().Setup(t.Context(), cluster.Group{Group: "alpha", HasRouted: true}))
	victim := w.victim()
	alpha := w.attacker("alpha")

	// Whoever belongs to beta hears what arrives there.
	_, seed, err := w.users.Credentials().Create(t.Context(), "beta", "witness", "ann", 0)
	w.check(err)
	beta := w.connect(seed, "beta").NC
	heard, err := beta.SubscribeSync("exec.beta.>")
	w.check(err)
	w.check(beta.Flush())

	attack := func(subjectOf func(verb string) string) (came int) {
		for _, verb := range bus.InstanceVerbs {
			for what, cause := range alpha.causes(verb) {
				w.check(cause(subjectOf(verb)))
				m, err := heard.NextMsg(patience)
				if err != nil {
					t.Fatalf("%s caused no message for %s: the attack is none", what, verb)
				}
				came++
				if bus.CheckRequest(m) == nil {
					t.Errorf("%s passes for a request: %v %q", what, m.Header, m.Data)
				}
			}
		}
		return came
	}
	unharmed := func(refused int) {
		t.Helper()
		reply, err := w.conn.AskInstance(t.Context(), victim.address, bus.VerbBeat, nil, nil, patience)
		w.check(err)
		_, err = heard.NextMsg(patience)
		w.check(err)
		if reply.State != fleet.InstanceOnline || reply.Running != 1 || reply.Slots != 4 {
			t.Errorf("the executor is %s, with %d/%d runs", reply.State, reply.Running, reply.Slots)
		}
		if got := victim.refused(); got != refused {
			t.Errorf("%d messages came to the executor, and were refused; want %d", got, refused)
		}
		select {
		case err := <-victim.ended:
			t.Errorf("its run has ended: %v", err)
		default:
		}
	}
	attack(func(verb string) string { return "exec.beta.b1." + verb })
	attack(func(verb string) string { return "exec.beta.all." + verb })
	unharmed(0)
	unharmed(attack(victim.address.Subject)) // which nobody can guess, were it known all the same
}

// victim is an executor of a group with a run that does not end by itself.
type victim struct {
	*world
	run     job.RunID
	address bus.Address
	ended   chan error // receives why the run has ended
	metrics *prometheus.Registry
}

func (w *world) victim() *victim {
	w.Helper()
	const group = "beta"
	v := &victim{world: w, run: job.NewRunID(time.Now()), ended: make(chan error, 1), metrics: prometheus.NewRegistry()}
	_, seed, err := w.users.Credentials().Create(w.Context(), group, "victim", "ann", 0)
	w.check(err)
	w.check(w.conn.Groups().Setup(w.Context(), cluster.Group{Group: group, HasRouted: true}))
	e, err := executor.New(w.connect(seed, group).Conn, executor.Config{Group: group, Instance: "b1", Slots: 4, Grace: -1, Observers: []executor.NewObserver{metrics.Prometheus(v.metrics)}, Logger: slog.New(slog.NewTextHandler(w.Output(), nil))})
	w.check(err)
	begun := make(chan struct{})
	e.Handle("wait", executor.HandlerFunc(func(ctx context.Context, _ *executor.Run) (any, error) {
		close(begun)
		<-ctx.Done()
		v.ended <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	}))
	w.run(e.Run)
	w.trigger(v.run, job.Name(group+"/wait"))
	w.until("the run", begun)
	beat, err := w.conn.Instances().Heartbeat(w.Context(), group, "b1")
	w.check(err)
	v.address = beat.Address()
	return v
}

// refused returns how many messages the executor took for garbage.
func (v *victim) refused() int {
	v.Helper()
	all, err := v.metrics.Gather()
	v.check(err)
	for _, family := range all {
		if family.GetName() == "carillon_executor_triggers_rejected_total" {
			return int(family.Metric[0].GetCounter().GetValue())
		}
	}
	v.Fatal("the executor does not count what it refuses")
	return 0
}

// trigger publishes a trigger of a job's run, as its shard's owner would.
func (w *world) trigger(run job.RunID, name job.Name) {
	w.Helper()
	at := time.Now().UTC().Truncate(time.Millisecond)
	tr := &bus.Trigger{
		RunID: run, Job: name, Version: 1, Attempt: 1, Cause: job.CauseAPI, FireTime: at, CommittedAt: at,
		TriggerBody: bus.TriggerBody{Task: job.Task{Handler: "wait"}},
	}
	body, err := tr.Encode()
	w.check(err)
	_, err = w.conn.JS.PublishMsg(w.Context(), bus.NewMessage(bus.SubjectTrigger(0, name.Group()), bus.MessageTrigger, bus.AppendTrigger(nil, tr, body)))
	w.check(err)
}

// attacker is whoever has the credential of a group, and may edit its jobs.
type attacker struct {
	*world
	group string
	nc    *nats.Conn
}

func (w *world) attacker(group string) *attacker {
	w.Helper()
	_, seed, err := w.users.Credentials().Create(w.Context(), group, "stolen", "ann", 0)
	w.check(err)
	return &attacker{w, group, w.connect(seed, group).NC}
}

// causes returns ways to have a message sent to a subject, by what it is. The content is
// a request with the verb, where it can be chosen.
func (a *attacker) causes(verb string) map[string]func(subject string) error {
	content := fmt.Appendf(nil, `{"run_id":"%s","slots":1,"labels":{"pwn":"1"}}`, job.NewRunID(time.Now()))
	digest := job.DigestOf(string(content))
	script := &job.Script{Language: "shell", Source: string(content)}
	j := job.Job{Job: job.Name(a.group + "/script-" + verb), Task: job.Task{Script: script}}.WithDefaults()
	_, _, err := a.conn.Jobs().Put(a.Context(), j, cluster.Edit{At: time.Now()})
	a.check(err)
	headers := nats.Header{bus.HeaderMessage: {bus.MessageRequest}, bus.HeaderAck: {"$JS.ACK.TRIG.any-beta.1.1.1.1.0"}}
	publish := func(to string, body []byte) func(string) error {
		return func(reply string) error {
			return a.nc.PublishMsg(&nats.Msg{Subject: to, Reply: reply, Header: headers, Data: body})
		}
	}
	next := "$JS.API.CONSUMER.MSG.NEXT." + bus.StreamTrig + "." + bus.ConsumerAny(a.group)
	return map[string]func(string) error{
		"the acknowledgement of a log line":       publish("log."+a.group+".x", content),
		"the acknowledgement of an event":         publish("evt.0."+a.group, content),
		"the acknowledgement of a heartbeat":      publish("$KV.INST."+a.group+"."+verb, content),
		"the acknowledgement of a handler":        publish("$KV.HANDLER."+a.group+"."+verb, content),
		"the acknowledgement of a claim":          publish("$KV.CLAIM."+a.group+"."+verb, content),
		"a direct get":                            publish("$JS.API.DIRECT.GET.KV_SCRIPT.$KV.SCRIPT."+a.group+"."+digest, nil),
		"a direct get of a claim":                 a.direct(bus.BucketClaim, headers, content),
		"a direct get of a heartbeat":             a.direct(bus.BucketInst, headers, content),
		"a direct get of nothing":                 publish("$JS.API.DIRECT.GET.KV_SCRIPT.$KV.SCRIPT."+a.group+".x", nil),
		"that no trigger is there":                publish(next, []byte(`{"batch":1,"no_wait":true}`)),
		"that a pull request has ended":           publish(next, []byte(`{"batch":1,"expires":1000000}`)),
		"that a pull request makes no sense":      publish(next, []byte(`{"batch":1,"expires":1000000000,"idle_heartbeat":1000000000}`)),
		"the delivery of a trigger":               a.delivered(next, headers, []byte(`{"batch":1,"no_wait":true}`)),
		"the delivery that an acknowledgement is": a.deliveredNext(next, headers),
	}
}

// direct asks for a message of a bucket. The attacker chose its headers, too.
func (a *attacker) direct(bucket string, headers nats.Header, content []byte) func(string) error {
	return func(reply string) error {
		key := "$KV." + bucket + "." + a.group + ".chosen"
		if _, err := a.nc.RequestMsg(&nats.Msg{Subject: key, Header: headers, Data: content}, patience); err != nil {
			return err
		}
		return a.nc.PublishRequest("$JS.API.DIRECT.GET.KV_"+bucket+"."+key, reply, nil)
	}
}

// delivered asks for a trigger of the group, which is delivered to a subject.
func (a *attacker) delivered(next string, headers nats.Header, body []byte) func(string) error {
	return func(reply string) error {
		a.waiting()
		return a.nc.PublishMsg(&nats.Msg{Subject: next, Reply: reply, Header: headers, Data: body})
	}
}

// deliveredNext asks for the next trigger by acknowledging one.
func (a *attacker) deliveredNext(next string, headers nats.Header) func(string) error {
	return func(reply string) error {
		a.waiting()
		m, err := a.nc.Request(next, []byte(`{"batch":1,"expires":60000000000}`), time.Minute)
		if err != nil {
			return err
		}
		a.waiting()
		return a.nc.PublishMsg(&nats.Msg{Subject: m.Reply, Reply: reply, Header: headers, Data: []byte("+NXT")})
	}
}

// waiting makes one trigger of the group wait, and removes those before it.
func (a *attacker) waiting() {
	stream, err := a.conn.JS.Stream(a.Context(), bus.StreamTrig)
	a.check(err)
	a.check(stream.Purge(a.Context(), jetstream.WithPurgeSubject(bus.SubjectTrigger(0, a.group))))
	a.trigger(job.NewRunID(time.Now()), job.Name(a.group+"/wait"))
}
