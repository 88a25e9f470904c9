package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"carillon/bus"
	"carillon/job"
)

// killWait is how long the instances of a group have to say that they run something.
const killWait = time.Second

// cancelRun ends a run. First all instances of the group hear of it: the one that
// runs it ends it and reports so, and any that gets its trigger later reports it as
// cancelled without running it. If none runs it, its end is recorded here, and its
// trigger deleted. In this order a crash at any point leaves a run that still ends.
func (o *ownership) cancelRun(ctx context.Context, r bus.CancelRequest) (*bus.CancelReply, error) {
	if r.Job.Shard(o.s.conn.Cluster().Shards) != o.shard {
		return nil, &job.InvalidError{Field: "job", Reason: fmt.Sprintf("%q is not of shard %d", r.Job, o.shard)}
	}
	trigger, seq, err := o.findTrigger(ctx, r)
	if err != nil {
		return nil, err
	}
	running, err := o.kill(ctx, r)
	if err != nil {
		return nil, err
	}
	if running {
		return &bus.CancelReply{RunID: r.RunID, Found: job.StatusRunning}, nil
	}
	event := bus.EventOf(trigger, bus.EventFinished, time.Now())
	event.Status, event.FinishedAt, event.Message = job.StatusCancelled, event.At, cancelText(r)
	msg, err := event.Msg()
	if err != nil {
		return nil, err
	}
	if _, err := o.s.conn.JS.PublishMsg(ctx, msg); err != nil {
		return nil, fmt.Errorf("record the end of run %s: %w", r.RunID, bus.Unavailable(err))
	}
	if err := o.s.conn.Remove(ctx, bus.StreamTrig, seq); err != nil {
		return nil, err
	}
	return &bus.CancelReply{RunID: r.RunID, Found: job.StatusPending}, nil
}

// cancelWaiting ends a run that is queued or waits for its next attempt, and answers m
// once that is committed. It returns false when the run does not wait.
func (o *ownership) cancelWaiting(ctx context.Context, m *nats.Msg, r bus.CancelRequest) (found bool) {
	o.lane.call(ctx, func() {
		if found = o.ready.Load() && o.machine.Cancel(r.RunID, cancelText(r)); found {
			o.cancelling[r.RunID] = append(o.cancelling[r.RunID], m)
		}
	})
	return found
}

func cancelText(r bus.CancelRequest) string {
	text := "cancelled"
	if r.By != "" {
		text += " by " + r.By
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// findTrigger returns a live run's trigger and its sequence on TRIG.
func (o *ownership) findTrigger(ctx context.Context, r bus.CancelRequest) (found *bus.Trigger, seq uint64, err error) {
	var bad error
	err = o.s.conn.Scan(ctx, bus.StreamTrig, bus.SubjectTriggers(o.shard, r.Job.Group()), func(m *bus.Stored) bool {
		t, err := bus.DecodeTrigger(m.Header, m.Data)
		if err != nil {
			bad = err
			return true
		}
		if t.RunID == r.RunID {
			found, seq = t, m.Seq
		}
		return found == nil
	})
	switch {
	case err != nil:
		return nil, 0, err
	case found == nil && bad != nil:
		return nil, 0, bad
	case found == nil:
		return nil, 0, fmt.Errorf("%w: run %s of job %s is not alive", job.ErrNotFound, r.RunID, r.Job)
	}
	return found, seq, nil
}

// kill tells the group's instances that the run is to end, and reports whether one
// of them runs it.
func (o *ownership) kill(ctx context.Context, r bus.CancelRequest) (running bool, err error) {
	var reply bus.KillReply
	err = o.s.conn.Ask(ctx, bus.SubjectKill(r.Job.Group()), bus.KillRequest{RunID: r.RunID, By: r.By, Reason: r.Reason}, &reply, killWait)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, job.ErrUnavailable) && ctx.Err() == nil:
		return false, nil // nobody runs it, or nobody is there
	default:
		return false, err
	}
}
