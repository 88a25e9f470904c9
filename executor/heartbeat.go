package executor

import (
	"encoding/json"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// beat writes the instance's entry in INST. It is published by subject, as opening the
// bucket would need more permissions than an executor has, and nothing here waits: the
// next beat makes up for one that is lost.
func (l *loop) beat(now time.Time) {
	l.lastBeat = now
	cfg := &l.e.cfg
	beat := bus.Heartbeat{ControlSecret: l.secret, Instance: fleet.Instance{
		Group: cfg.Group, Instance: cfg.Instance, State: l.state(),
		Kinds: l.e.registry.kinds(), Handlers: l.e.registry.names(),
		Slots: l.slots, Running: len(l.live), DrainBy: instant(l.e.clock.at(l.drainBy)), Labels: l.labels, Zone: l.labels["zone"], Load: l.e.hostLoad(),
		Protocol: fleet.Protocol, Version: cfg.Version, SDK: sdk,
		Host: hostname(), PID: os.Getpid(),
		StartedAt: l.began, At: instant(now), Refused: l.refused, Refusal: l.refusal,
	}}
	data, err := json.Marshal(beat)
	if err != nil {
		l.e.log.Error("heartbeat not encoded", "error", err)
		return
	}
	m := &nats.Msg{Subject: l.e.heartbeatSubject(), Data: data}
	switch {
	case !l.e.conn.NC.IsConnected(): // the next one says more
	case l.introduction.done && now.Sub(l.compared) >= compareEvery:
		l.compared = now
		ctx, end := l.trial()
		l.introducing.Go(func() {
			defer end()
			l.e.compareClocks(ctx, m)
		})
	case l.introduction.done:
		if err := l.e.conn.NC.PublishMsg(m); err != nil {
			l.e.log.Debug("heartbeat not sent", "error", err)
		}
	default:
		l.introduce(m)
	}
	if !l.draining {
		l.announce(now)
	}
}

// beatGone removes the entry, so that nobody waits for it to expire.
func (l *loop) beatGone() {
	if !l.introduced {
		return // what is there is another's
	}
	m := &nats.Msg{Subject: l.e.heartbeatSubject(), Header: nats.Header{"KV-Operation": {"DEL"}}}
	if err := l.e.conn.NC.PublishMsg(m); err != nil {
		l.e.log.Debug("heartbeat not removed", "error", err)
	}
}

func (e *Executor) heartbeatSubject() string {
	return bus.SubjectHeartbeat(e.cfg.Group, e.cfg.Instance)
}

// hostLoad returns how busy the machine is; nil if nobody says.
func (e *Executor) hostLoad() *fleet.HostLoad {
	if e.cfg.HostLoad == nil {
		return nil
	}
	return e.cfg.HostLoad()
}
