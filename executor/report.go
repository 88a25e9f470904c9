package executor

import (
	"context"
	"errors"
	"math/bits"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
)

const (
	// startedAfter is how long an attempt lives before it is worth a started event.
	startedAfter = time.Second
	// progressEvery is the least time between two progress events of an attempt.
	progressEvery = time.Second

	// publishTimeout is how long a publish waits for its answer before it is repeated.
	publishTimeout = 5 * time.Second
	publishWaitMin = 250 * time.Millisecond
	publishWaitMax = 5 * time.Second
)

// publishUntilStored publishes m, a finished event or log lines, until JetStream has stored it,
// or ctx is done. Repeats must be harmless. If NATS has come back with a smaller max_payload, m
// is made to fit; the error is [nats.ErrMaxPayload] if it cannot be. Its log lines have the
// attributes about.
func (e *Executor) publishUntilStored(ctx context.Context, m *nats.Msg, about ...any) error {
	wait := publishWaitMin
	for try := uint(1); ; try++ {
		err := e.publish(ctx, m)
		switch {
		case errors.Is(err, nats.ErrMaxPayload):
			return e.publishParts(ctx, m, about...)
		case err == nil, ctx.Err() != nil:
			return err
		}
		e.observers.count(CountEventRetries, 1)
		if bits.OnesCount(try) == 1 { // the first, and then each doubling
			e.log.With(about...).WarnContext(ctx, "not stored by NATS, tried again", "tries", try, "error", err)
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
		wait = min(2*wait, publishWaitMax)
	}
}

// publishParts publishes m, which NATS does not take, as smaller messages.
func (e *Executor) publishParts(ctx context.Context, m *nats.Msg, about ...any) error {
	parts, err := bus.MsgsWithin(m, e.maxPayload())
	if err != nil {
		return errors.Join(nats.ErrMaxPayload, err)
	}
	for _, part := range parts {
		if len(part.Data) >= len(m.Data) {
			return nats.ErrMaxPayload
		}
		if err := e.publishUntilStored(ctx, part, about...); err != nil {
			return err
		}
	}
	return nil
}

// publish publishes m once and waits until JetStream has answered.
func (e *Executor) publish(ctx context.Context, m *nats.Msg) error {
	if e.js == nil {
		return e.rehearsed(m)
	}
	f, err := e.js.PublishMsgAsync(m)
	if err != nil {
		return err
	}
	select {
	case <-f.Ok():
		return nil
	case err := <-f.Err():
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// maxPayload returns how large a message NATS takes; 0 in a rehearsal, which has none.
func (e *Executor) maxPayload() int64 {
	if e.conn == nil {
		return 0
	}
	return e.conn.NC.MaxPayload()
}

// pause waits for d, or until ctx is done.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// report publishes what is to be said of a live attempt before it ends. Nothing here
// waits: answers are looked at the next time.
func (l *loop) report(r *Run, now time.Time) {
	if r.startedAt.IsZero() || now.Sub(r.startedAt) < startedAfter {
		return
	}
	if r.atMostOnce() && !r.called.Load() { // another instance may have it
		return
	}
	r.mu.Lock() // so that nothing is said after the finished event
	defer r.mu.Unlock()
	if r.over {
		return
	}
	if l.reportStarted(r, now); r.started != nil {
		l.reportProgressLocked(r, now)
	}
}

// reportStarted publishes the started event until it is stored.
func (l *loop) reportStarted(r *Run, now time.Time) {
	if r.started != nil && !r.startedOK {
		select {
		case <-r.started.Ok():
			r.startedOK = true
		case err := <-r.started.Err():
			l.e.log.Debug("started event not stored", "run_id", r.ID(), "error", err)
			r.started = nil
		default:
		}
	}
	if r.started == nil {
		r.started = l.publishAsync(r, r.event(bus.EventStarted, now))
	}
}

// reportProgressLocked publishes what the handler last said, if it is new. One that
// is lost is made up for by the next.
func (l *loop) reportProgressLocked(r *Run, now time.Time) {
	if r.progress == nil || now.Sub(r.progressAt) < progressEvery {
		return
	}
	ev := r.event(bus.EventProgress, now)
	ev.Percent, ev.Text = r.progress.percent, r.progress.text
	if l.publishAsync(r, ev) != nil {
		r.progress, r.progressAt = nil, now
	}
}

// publishAsync returns nil if ev, of r, could not be sent.
func (l *loop) publishAsync(r *Run, ev *bus.Event) jetstream.PubAckFuture {
	m, err := ev.Msg(r.token)
	if err == nil {
		var f jetstream.PubAckFuture
		if f, err = l.e.js.PublishMsgAsync(m); err == nil {
			return f
		}
	}
	l.e.log.Debug("event not sent", "run_id", ev.RunID, "kind", ev.Kind, "error", err)
	return nil
}
