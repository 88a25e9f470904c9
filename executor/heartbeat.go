package executor

import (
	"encoding/json"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"carillon/bus"
	"carillon/job/fleet"
)

// beat writes the instance's entry in INST. It is published by subject, as opening the
// bucket would need more permissions than an executor has, and nothing here waits: the
// next beat makes up for one that is lost.
func (l *loop) beat(now time.Time) {
	l.lastBeat = now
	cfg := &l.e.cfg
	beat := bus.Heartbeat{ControlSecret: l.secret, Instance: fleet.Instance{
		Group: cfg.Group, Instance: cfg.Instance, State: l.state(),
		Kinds: l.e.kinds(), Handlers: l.e.handlerNames(),
		Slots: l.slots, Running: len(l.live), DrainBy: l.drainBy, Labels: l.labels, Zone: l.labels["zone"], Load: hostLoad(),
		Protocol: fleet.Protocol, Version: cfg.Version, SDK: sdk,
		Host: hostname(), PID: os.Getpid(),
		StartedAt: l.began, At: now.UTC().Truncate(time.Millisecond),
	}}
	data, err := json.Marshal(beat)
	if err != nil {
		l.e.log.Error("heartbeat not encoded", "error", err)
		return
	}
	if err := l.sendBeat(&nats.Msg{Subject: l.e.heartbeatSubject(), Data: data}); err != nil {
		l.e.log.Debug("heartbeat not sent", "error", err)
	}
	if !l.draining {
		l.announce(now)
	}
}

// sendBeat publishes a heartbeat. Until one is stored, it asks for an acknowledgement.
func (l *loop) sendBeat(m *nats.Msg) (err error) {
	switch in := &l.introduction; {
	case !l.e.conn.NC.IsConnected():
		return nats.ErrDisconnected // the next one says more
	case in.done:
		return l.e.conn.NC.PublishMsg(m)
	case in.sent == nil:
		in.sent, err = l.e.js.PublishMsgAsync(m)
	}
	return err
}

// introduction is how an executor gets known: nothing is pulled until a heartbeat of this
// connection is stored. Who has to ask all that may have a run reads the heartbeats, so
// whoever has pulled one must be among them; while it was cut off, its last heartbeat may
// have been forgotten.
type introduction struct {
	done       bool
	sent       jetstream.PubAckFuture // nil when it is to be sent
	reconnects uint64                 // of the connection, when it began
}

// due reports whether a heartbeat is to be sent that introduces the executor: it is new,
// its connection is, or the last attempt failed.
func (i *introduction) due(nc *nats.Conn) bool {
	if n := nc.Stats().Reconnects; n != i.reconnects {
		*i = introduction{reconnects: n}
	}
	if i.sent != nil {
		select {
		case err := <-i.sent.Err():
			if err != nil {
				i.sent = nil
			}
		default:
		}
	}
	return !i.done && i.sent == nil && nc.IsConnected()
}

// stored returns a channel that receives once the introduction is stored.
func (i *introduction) stored() <-chan *jetstream.PubAck {
	if i.done || i.sent == nil {
		return nil
	}
	return i.sent.Ok()
}

// beatGone removes the entry, so that nobody waits for it to expire.
func (l *loop) beatGone() {
	m := &nats.Msg{Subject: l.e.heartbeatSubject(), Header: nats.Header{"KV-Operation": {"DEL"}}}
	if err := l.e.conn.NC.PublishMsg(m); err != nil {
		l.e.log.Debug("heartbeat not removed", "error", err)
	}
}

func (e *Executor) heartbeatSubject() string {
	return bus.SubjectHeartbeat(e.cfg.Group, e.cfg.Instance)
}
