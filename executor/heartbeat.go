package executor

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// presence is what servers know of an instance by its heartbeats. The loop owns it.
type presence struct {
	e      *Executor
	secret string // of this start
	labels job.Labels
	began  time.Time
	trial  func() (context.Context, context.CancelFunc) // returns what tries live in

	last     time.Time // when the heartbeat was written last
	compared time.Time // when the machine's clock was compared with NATS'

	introduction introduction
	known        bool           // the heartbeat that is stored may be ours
	conflict     error          // another instance has the name
	tries        sync.WaitGroup // to introduce the executor, or to compare the clocks

	refused int            // messages of this instance, by servers
	refusal *fleet.Refusal // of the last of them
}

func newPresence(life context.Context, e *Executor, secret string, now time.Time) presence {
	return presence{
		e: e, secret: secret, began: now.UTC().Truncate(time.Millisecond), compared: now,
		trial: func() (context.Context, context.CancelFunc) { return context.WithCancel(life) },
	}
}

// status is what changes of an instance while it runs.
type status struct {
	state   fleet.InstanceState
	running int
	slots   int
	pack    int
	drainBy time.Time
}

// due reports whether it is time for a heartbeat.
func (p *presence) due(now time.Time) bool {
	return p.introduction.due(p.e.conn.NC) || now.Sub(p.last) >= fleet.HeartbeatEvery
}

// beat writes the instance's entry in INST. It is published by subject, as opening the
// bucket would need more permissions than an executor has, and nothing here waits: the
// next beat makes up for one that is lost.
func (p *presence) beat(now time.Time, s status) {
	p.last = now
	cfg := &p.e.cfg
	beat := bus.Heartbeat{ControlSecret: p.secret, Pack: s.pack, Instance: fleet.Instance{
		Group: cfg.Group, Instance: cfg.Instance, State: s.state,
		Kinds: p.e.registry.kinds(), Handlers: p.e.registry.names(),
		Slots: s.slots, Running: s.running, DrainBy: instant(p.e.clock.at(s.drainBy)), Labels: p.labels, Zone: p.labels["zone"], Load: hostLoad(),
		Protocol: fleet.Protocol, Version: cfg.Version, SDK: sdk,
		Host: hostname(), PID: os.Getpid(),
		StartedAt: p.began, At: instant(now), Refused: p.refused, Refusal: p.refusal,
	}}
	data, err := json.Marshal(beat)
	if err != nil {
		p.e.log.Error("heartbeat not encoded", "error", err)
		return
	}
	m := &nats.Msg{Subject: p.e.heartbeatSubject(), Data: data}
	switch {
	case !p.e.conn.NC.IsConnected(): // the next one says more
	case p.introduction.done && now.Sub(p.compared) >= compareEvery:
		p.compared = now
		ctx, end := p.trial()
		p.tries.Go(func() {
			defer end()
			p.e.compareClocks(ctx, m)
		})
	case p.introduction.done:
		if err := p.e.conn.NC.PublishMsg(m); err != nil {
			p.e.log.Debug("heartbeat not sent", "error", err)
		}
	default:
		p.introduce(m)
	}
}

// addRefusal counts a message that servers have refused.
func (p *presence) addRefusal(r fleet.Refusal) {
	p.refused++
	p.refusal = &r
}

// end removes the entry, so that nobody waits for it to expire.
func (p *presence) end() {
	p.introduction.stop()
	p.tries.Wait()
	if !p.known {
		return // what is there is another's
	}
	m := &nats.Msg{Subject: p.e.heartbeatSubject(), Header: nats.Header{"KV-Operation": {"DEL"}}}
	if err := p.e.conn.NC.PublishMsg(m); err != nil {
		p.e.log.Debug("heartbeat not removed", "error", err)
	}
}

func (e *Executor) heartbeatSubject() string {
	return bus.SubjectHeartbeat(e.cfg.Group, e.cfg.Instance)
}
