package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// introduction makes an executor known: it pulls nothing until a heartbeat of this
// connection is stored. Servers read the heartbeats to learn which instances may have a
// run, so each instance that pulls must have one; while it was cut off, its last
// heartbeat may have expired.
type introduction struct {
	done       bool
	result     chan error         // of the try that is under way; nil: none is
	end        context.CancelFunc // ends it
	reconnects uint64             // of the connection, when it began
}

// due reports whether a heartbeat must introduce the executor: because the executor or
// its connection is new, or because the last try failed.
func (i *introduction) due(nc *nats.Conn) bool {
	if n := nc.Stats().Reconnects; n != i.reconnects {
		i.stop()
		*i = introduction{reconnects: n}
	}
	return !i.done && i.result == nil && nc.IsConnected()
}

func (i *introduction) stop() {
	if i.end != nil {
		i.end()
	}
}

// introduce begins to store the first heartbeat of this connection, unless that is under
// way, or another instance has the name.
func (p *presence) introduce(m *nats.Msg) {
	in := &p.introduction
	if in.result != nil || p.conflict != nil {
		return
	}
	ctx, end := p.trial()
	result := make(chan error, 1)
	in.result, in.end = result, end
	patience := fleet.InstanceTTL
	if p.known { // the name is most likely its own, and servers wait for its heartbeat
		patience = 3 * nameEvery
	}
	p.tries.Go(func() {
		defer end()
		err := p.e.introduce(ctx, m, p.secret, patience)
		if err == nil {
			p.e.compareClocks(ctx, m)
		}
		result <- err
	})
}

// introduced takes the result of a try, and reports whether it succeeded.
func (p *presence) introduced(err error) bool {
	p.introduction.result = nil
	switch {
	case err == nil:
		if !p.known {
			p.e.log.Info("executor started", "slots", p.e.cfg.Slots, "kinds", p.e.registry.kinds(), "handlers", p.e.registry.names())
		}
		p.introduction.done, p.known = true, true
		return true
	case errors.Is(err, job.ErrConflict):
		p.conflict, p.known = err, false
	default:
		p.e.log.Debug("first heartbeat not stored", "error", err)
	}
	return false
}

// nameEvery is how often the heartbeat of another instance of this name is read.
const nameEvery = time.Second

// introduce stores the first heartbeat of a connection in the place of what is known to be
// over: nothing, one of this start, or one that an instance of this name has left, or has not
// renewed for [fleet.InstanceTTL]. The error is [job.ErrConflict] if such an instance lives. If
// nobody can say within patience whether one does, it counts as gone.
func (e *Executor) introduce(ctx context.Context, m *nats.Msg, secret string, patience time.Duration) error {
	var replaces, seen uint64 // sequences: of what the heartbeat may replace, and of another's heartbeat
	var since time.Time       // when that was seen first
	sightings := 0            // how often that was seen
	logged := false           // that it cannot be read
	for heard := time.Now(); ; {
		err := e.out.publish(ctx, bus.FirstHeartbeat(m, replaces))
		if !jet.LostRace(err) {
			return err
		}
		other, seq, err := jet.StandingHeartbeat(ctx, e.conn, e.cfg.Group, e.cfg.Instance)
		if err == nil {
			heard = time.Now()
		}
		unread := errors.Is(err, jet.ErrNoMessage) || errors.Is(err, nats.ErrNoResponders) // a replica lags behind, or none has come up yet
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case unread && time.Since(heard) < patience:
			replaces = 0 // what it was may have been removed meanwhile
			if !logged {
				logged = true
				e.log.InfoContext(ctx, "waiting to read the heartbeat of the instance that had this name", "error", err)
			}
		case err != nil: // it cannot be read for long, NATS has no such permission, or is away
			e.log.InfoContext(ctx, "not known whether another instance has this name", "error", err)
			return e.out.publish(ctx, m)
		case other == nil, other.ControlSecret == secret:
			if replaces != seq {
				replaces = seq
				continue
			}
		case sightings < 2: // a replica that lags behind may have shown an older one
			sightings, seen, since = sightings+1, seq, time.Now()
			e.log.InfoContext(ctx, "waiting to see whether the instance that had this name is gone", "host", other.Host, "pid", other.PID)
		case seq != seen:
			return fmt.Errorf("%w: instance %s of group %s runs already, on host %s (pid %d, since %s); give each its own name (--instance, CARILLON_INSTANCE or Options.Instance), or none",
				job.ErrConflict, e.cfg.Instance, e.cfg.Group, other.Host, other.PID, other.StartedAt.Format(time.RFC3339))
		case time.Since(since) >= fleet.InstanceTTL-nameEvery:
			replaces = seq
			continue
		}
		if err := pause(ctx, nameEvery); err != nil {
			return err
		}
	}
}
