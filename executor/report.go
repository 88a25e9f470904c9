package executor

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
)

const (
	// startedAfter is how long an attempt lives before it is worth a started event.
	startedAfter = time.Second
	// progressEvery is the least time between two progress events of an attempt.
	progressEvery = time.Second
)

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
		if f, err = l.e.out.js.PublishMsgAsync(m); err == nil {
			return f
		}
	}
	l.e.log.Debug("event not sent", "run_id", ev.RunID, "kind", ev.Kind, "error", err)
	return nil
}
