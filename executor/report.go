package executor

import (
	"context"
	"math/bits"
	"time"

	"github.com/nats-io/nats.go"

	"carillon/bus"
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

// publishFinished publishes ev until JetStream has stored it, or ctx is done. The
// message id makes repeats harmless.
func (e *Executor) publishFinished(ctx context.Context, ev *bus.Event) error {
	m, err := ev.Msg()
	if err != nil {
		return err
	}
	wait := publishWaitMin
	for try := uint(1); ; try++ {
		if err = e.publish(ctx, m); err == nil || ctx.Err() != nil {
			return err
		}
		e.metrics.eventRetries.Inc()
		if bits.OnesCount(try) == 1 { // the first, and then each doubling
			e.log.WarnContext(ctx, "finished event not stored, run held back", "run_id", ev.RunID, "job", ev.Job, "tries", try, "error", err)
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
		wait = min(2*wait, publishWaitMax)
	}
}

// publish publishes m once and waits until JetStream has answered.
func (e *Executor) publish(ctx context.Context, m *nats.Msg) error {
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
	if r.startedAt.IsZero() || r.claimed.Load() || now.Sub(r.startedAt) < startedAfter {
		return
	}
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
		m, err := r.event(bus.EventStarted, now).Msg()
		if err == nil {
			r.started, err = l.e.js.PublishMsgAsync(m)
		}
		if err != nil {
			r.started = nil
			l.e.log.Debug("started event not published", "run_id", r.ID(), "error", err)
			return
		}
	}
	if now.Sub(r.progressAt) < progressEvery {
		return
	}
	p := r.takeProgress()
	if p == nil {
		return
	}
	r.progressAt = now
	ev := r.event(bus.EventProgress, now)
	ev.Percent, ev.Text = p.percent, p.text
	m, err := ev.Msg()
	if err == nil {
		_, err = l.e.js.PublishMsgAsync(m)
	}
	if err != nil {
		l.e.log.Debug("progress not published", "run_id", r.ID(), "error", err)
	}
}
