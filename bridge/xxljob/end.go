package xxljob

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// errNotStored tells an executor to repeat its callback.
var errNotStored = errors.New("the end of the run is not stored yet; report it again later")

// What could not be stored is tried again after a wait that doubles between these.
const (
	storeWaitMin = 250 * time.Millisecond
	storeWaitMax = 5 * time.Second
)

// end is how a run ended.
type end struct {
	status  job.Status
	message string
	result  json.RawMessage
	// unheard says that its executor has not reported this end. It may still do so.
	unheard bool
}

// endOf returns how a run ended, by what its executor reports at an instant. A run that we were ending,
// or whose time was over, has the status and the message of that, whatever code is reported: many executors
// say 200 of a run that was killed, or that they ended at its timeout themselves. Its result is kept.
func endOf(r *state.Run, c wire.Callback, at time.Time) end {
	text := strings.ToValidUTF8(c.Msg, "\uFFFD")
	e := r.Ending
	if limit, cause := limitOf(r); e == nil && !limit.IsZero() && !at.Before(limit) {
		e = &state.Ending{Status: job.StatusTimedOut, Message: cause}
	}
	if e != nil {
		ended := end{status: e.Status, message: e.Message}
		if c.Code == wire.CodeOK {
			ended.result = resultOf(text)
		}
		return ended
	}
	switch c.Code {
	case wire.CodeOK:
		return end{status: job.StatusSucceeded, result: resultOf(text)}
	case wire.CodeTimeout:
		message := "its executor says that it took too long"
		if r.Trigger.Timeout > 0 {
			message = reason.TimedOut.With(r.Trigger.Timeout)
		}
		if text != "" {
			message = reason.Join(message, text)
		}
		return end{status: job.StatusTimedOut, message: message}
	}
	return end{status: job.StatusFailed, message: text}
}

// resultOf returns what a run says of its success as its result: JSON if it is a list or an object, else
// a text.
func resultOf(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	if (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	data, err := json.Marshal(text)
	if err != nil {
		return nil // cannot happen: any string can be JSON
	}
	return data
}

// finished returns the event about an end.
func (e end) finished(r *state.Run, instance string, lines int) *bus.Event {
	ev := eventOf(r, instance, bus.EventFinished, time.Now())
	result, note := bus.CutResult(e.result)
	ev.FinishedAt, ev.Status, ev.Result, ev.LogLines = ev.At, e.status, result, lines
	ev.Message = clip.Text(strings.TrimSpace(e.message+" "+note), bus.MaxMessage-len("…"))
	ev.Retry = r.Trigger.Retry.Again(ev.Attempt, ev.Status, nil) || r.Trigger.Split && ev.Status == job.StatusSucceeded
	return ev
}

// reported ends a run as its executor has reported. It returns nil once that is stored.
func (i *instance) reported(ctx context.Context, r *run, c wire.Callback) error {
	if c.Old {
		i.mu.Lock()
		i.is.Old = true
		i.mu.Unlock()
	}
	i.conclude(ctx, r, endOf(&r.kept, c, time.Now()))
	if !r.stored {
		return errNotStored
	}
	return nil
}

// conclude stores how a run ended, and then acknowledges its trigger. It gives up only when ctx is done,
// or the instance is another bridge's: that one goes on with the run then.
func (i *instance) conclude(ctx context.Context, r *run, e end) {
	m, err := e.finished(&r.kept, i.name, r.log.lines()).MsgWithin(r.kept.Token, i.b.conn.NC.MaxPayload())
	if err != nil {
		i.log.ErrorContext(ctx, "end of run not reported", "run_id", r.kept.Trigger.RunID, "error", err)
		return
	}
	if i.untilStored(ctx, func() error { return i.publish(ctx, m) }) != nil {
		return
	}
	if r.kept.LogID != 0 {
		r.kept.Ended, r.kept.Unheard = true, e.unheard
		if i.untilStored(ctx, func() error { return i.store(ctx, r) }) != nil {
			return
		}
	}
	i.b.metrics.runs.WithLabelValues(string(e.status)).Inc()
	i.settleEnd(r)
}

// settleEnd acknowledges the trigger of a run whose end is stored.
func (i *instance) settleEnd(r *run) {
	r.stored = true
	if c := r.kept.Claim; c != nil {
		m, err := c.OverMsg(r.kept.Trigger)
		if err == nil {
			err = i.b.conn.NC.PublishMsg(m)
		}
		if err != nil {
			i.log.Debug("claim not let go", "run_id", r.kept.Trigger.RunID, "error", err)
		}
	}
	i.b.answer(i.ack(r), "+ACK")
}

// giveUp ends a run whose executor is gone, or has forgotten it, or has drained for long enough.
func (i *instance) giveUp(ctx context.Context, r *run, g giveUp) {
	i.lastLines(ctx, r)
	select {
	case said := <-r.callbacks: // it may have succeeded, and must not run again
		said.done <- i.reported(ctx, r, said.Callback)
		return
	default:
	}
	switch g.kind {
	case drained:
		i.cutOff(ctx, r, g.why)
	case gone, forgotten, unsure:
		i.endByPolicy(ctx, r, g)
	}
}

// endByPolicy ends a run whose executor says nothing, by the policy of its job. It returns false if another
// bridge has the run.
func (i *instance) endByPolicy(ctx context.Context, r *run, g giveUp) bool {
	switch e := r.kept.Ending; {
	case e != nil:
		i.conclude(ctx, r, end{status: e.Status, message: e.Message, unheard: true})
		return r.stored
	case r.kept.Trigger.Delivery == job.AtMostOnce && g.kind != unsure:
		i.conclude(ctx, r, end{status: job.StatusLost, message: reason.Join(reason.WentSilent.With(i.name), g.why), unheard: true})
		return r.stored
	case g.kind == unsure:
		i.conclude(ctx, r, end{status: job.StatusLost, message: g.why, unheard: true})
		return r.stored
	case g.kind == forgotten && r.kept.Forgotten >= maxForgotten:
		i.conclude(ctx, r, end{status: job.StatusLost, message: reason.Join(g.why, reason.ForgottenBefore.With(r.kept.Forgotten)), unheard: true})
		return r.stored
	}
	i.log.WarnContext(ctx, "run given back", "run_id", r.kept.Trigger.RunID, "reason", g.why)
	switch g.kind {
	case forgotten:
		f := state.Forgotten{Times: r.kept.Forgotten + 1, Why: g.why}
		if i.untilStored(ctx, func() error { return i.b.store.PutForgotten(ctx, r.kept.Trigger, f) }) != nil {
			return false
		}
	case gone:
		return i.leave(ctx, r)
	case drained, unsure:
	}
	return i.giveBack(ctx, r)
}

// maxForgotten bounds the new starts of an attempt that a live executor has lost, or whose end it
// cannot report.
const maxForgotten = 1

func (i *instance) publish(ctx context.Context, m *nats.Msg) error {
	_, err := i.b.js.PublishMsg(ctx, m)
	return err
}

// untilStored calls store until it has worked, or ctx is done, or the instance is another bridge's.
func (i *instance) untilStored(ctx context.Context, store func() error) error {
	again := pause.Backoff{Least: storeWaitMin, Most: storeWaitMax}
	for try := uint(1); ; try++ {
		err := store()
		if err == nil || ctx.Err() != nil || errors.Is(err, job.ErrConflict) {
			return err
		}
		i.log.WarnContext(ctx, "not stored by NATS, tried again", "tries", try, "error", err)
		if err := again.Wait(ctx); err != nil {
			return err
		}
	}
}

// answer tells JetStream about a trigger. A lost answer is made up for: the trigger comes again.
func (b *Bridge) answer(ack, what string) {
	if err := b.conn.NC.Publish(ack, []byte(what)); err != nil {
		b.log.Debug("trigger not answered", "answer", what, "error", err)
	}
}
