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
func (l *loop) report(a *attempt, now time.Time) {
	if a.startedAt.IsZero() || now.Sub(a.startedAt) < startedAfter {
		return
	}
	if a.atMostOnce() && !a.called.Load() { // another instance may have it
		return
	}
	a.mu.Lock() // so that nothing is said after the finished event
	defer a.mu.Unlock()
	if a.over {
		return
	}
	if l.reportStarted(a, now); a.started != nil {
		l.reportProgressLocked(a, now)
	}
}

// reportStarted publishes the started event until it is stored.
func (l *loop) reportStarted(a *attempt, now time.Time) {
	if a.started != nil && !a.startedOK {
		select {
		case <-a.started.Ok():
			a.startedOK = true
		case err := <-a.started.Err():
			l.e.log.Debug("started event not stored", "run_id", a.ID(), "error", err)
			a.started = nil
		default:
		}
	}
	if a.started == nil {
		a.started = l.publishAsync(a, a.event(bus.EventStarted, now))
	}
}

// reportProgressLocked publishes what the handler last said, if it is new. One that
// is lost is made up for by the next.
func (l *loop) reportProgressLocked(a *attempt, now time.Time) {
	if a.progress == nil || now.Sub(a.progressAt) < progressEvery {
		return
	}
	ev := a.event(bus.EventProgress, now)
	ev.Percent, ev.Text = a.progress.percent, a.progress.text
	if l.publishAsync(a, ev) != nil {
		a.progress, a.progressAt = nil, now
	}
}

// publishAsync returns nil if ev, of a, could not be sent.
func (l *loop) publishAsync(a *attempt, ev *bus.Event) jetstream.PubAckFuture {
	m, err := ev.Msg(a.token)
	if err == nil {
		var f jetstream.PubAckFuture
		if f, err = l.e.out.js.PublishMsgAsync(m); err == nil {
			return f
		}
	}
	l.e.log.Debug("event not sent", "run_id", ev.RunID, "kind", ev.Kind, "error", err)
	return nil
}
