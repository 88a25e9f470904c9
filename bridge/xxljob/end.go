package xxljob

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// errNotStored tells an executor to repeat its callback.
var errNotStored = errors.New("the end of the run is not stored yet; report it again later")

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
func (a *attempt) reported(ctx context.Context, c wire.Callback) error {
	if c.Old {
		a.i.held.learn(func(is *state.Instance) { is.Old = true })
	}
	a.conclude(ctx, endOf(&a.kept, c, time.Now()))
	if !a.stored {
		return errNotStored
	}
	return nil
}

// conclude stores how a run ended, and then acknowledges its trigger. It gives up only when ctx is done,
// or the instance is another bridge's: that one goes on with the run then.
func (a *attempt) conclude(ctx context.Context, e end) {
	finished := e.finished(&a.kept, a.i.name, a.log.lines())
	finished.LogOpen = a.log.isOpen()
	ended, err := bus.NewEnd(finished, a.kept.Token)
	if err == nil {
		err = a.i.out.storeEnd(ctx, a.kept.Trigger.Report, ended)
	}
	if err != nil {
		if ctx.Err() == nil {
			a.i.log.ErrorContext(ctx, "end of run not reported", "run_id", a.kept.Trigger.RunID, "error", err)
		}
		return
	}
	if a.kept.LogID != 0 {
		a.kept.Ended, a.kept.Unheard = true, e.unheard
		if a.i.out.untilStored(ctx, func() error { return a.store(ctx) }) != nil {
			return
		}
	}
	a.i.b.metrics.runs.WithLabelValues(string(e.status)).Inc()
	a.settleEnd()
}

// settleEnd acknowledges the trigger of a run whose end is stored.
func (a *attempt) settleEnd() {
	a.stored = true
	if c := a.kept.Claim; c != nil {
		m, err := c.OverMsg(a.kept.Trigger)
		if err == nil {
			err = a.i.b.conn.NC.PublishMsg(m)
		}
		if err != nil {
			a.i.log.Debug("claim not released", "run_id", a.kept.Trigger.RunID, "error", err)
		}
	}
	a.i.b.answer(a.i.ack(a.run), "+ACK")
}

// giveUp ends a run whose executor is gone, or has forgotten it, or has drained for long enough.
func (a *attempt) giveUp(ctx context.Context, g giveUp) {
	a.lastLines(ctx)
	select {
	case said := <-a.callbacks: // it may have succeeded, and must not run again
		said.done <- a.reported(ctx, said.Callback)
		return
	default:
	}
	switch g.kind {
	case drained:
		a.cutOff(ctx, g.why)
	case gone, forgotten, unsure:
		a.endByPolicy(ctx, g)
	}
}

// cutOff ends a run by the policy of its job, and then at its executor. In that order, and Unheard:
// else the run would fail because we killed it, and would not run again elsewhere. A drain keeps its
// limit also while NATS stores nothing.
func (a *attempt) cutOff(ctx context.Context, why string) {
	a.kept.Unheard = true
	over := make(chan bool, 1)
	t, jobID := a.kept.Trigger, a.kept.JobID
	a.i.b.work.Go(func() error {
		late := time.NewTimer(killAnyway)
		defer late.Stop()
		select {
		case ours := <-over:
			if !ours {
				return nil
			}
		case <-late.C:
		}
		// The instance may go with its last run. The call has a limit of its own.
		if err := a.i.b.peers.Kill(context.WithoutCancel(ctx), a.i.target(), jobID); err != nil {
			a.i.log.WarnContext(ctx, "run not ended at its executor", "run_id", t.RunID, "error", err)
		}
		return nil
	})
	a.stray = a.endByPolicy(ctx, giveUp{why: why, kind: drained}) // no other run of the job may be killed in its place
	over <- a.stray
}

// endByPolicy ends a run whose executor says nothing, by the policy of its job. It returns false if another
// bridge has the run.
func (a *attempt) endByPolicy(ctx context.Context, g giveUp) bool {
	switch e := a.kept.Ending; {
	case e != nil:
		a.conclude(ctx, end{status: e.Status, message: e.Message, unheard: true})
		return a.stored
	case a.kept.Trigger.Delivery == job.AtMostOnce && g.kind != unsure:
		a.conclude(ctx, end{status: job.StatusLost, message: reason.Join(reason.WentSilent.With(a.i.name), g.why), unheard: true})
		return a.stored
	case g.kind == unsure:
		a.conclude(ctx, end{status: job.StatusLost, message: g.why, unheard: true})
		return a.stored
	case g.kind == forgotten && a.kept.Forgotten >= maxForgotten:
		a.conclude(ctx, end{status: job.StatusLost, message: reason.Join(g.why, reason.ForgottenBefore.With(a.kept.Forgotten)), unheard: true})
		return a.stored
	}
	a.i.log.WarnContext(ctx, "run given back", "run_id", a.kept.Trigger.RunID, "reason", g.why)
	switch g.kind {
	case forgotten:
		f := state.Forgotten{Times: a.kept.Forgotten + 1, Why: g.why}
		if a.i.out.untilStored(ctx, func() error { return a.i.b.store.PutForgotten(ctx, a.kept.Trigger, f) }) != nil {
			return false
		}
	case gone:
		return a.leave(ctx)
	case drained, unsure:
	}
	return a.giveBack(ctx)
}

// maxForgotten bounds the new starts of an attempt that a live executor has lost, or whose end it
// cannot report.
const maxForgotten = 1

// answer tells JetStream about a trigger. A lost answer is made up for: the trigger comes again.
func (b *Bridge) answer(ack, what string) {
	if err := b.conn.NC.Publish(ack, []byte(what)); err != nil {
		b.log.Debug("trigger not answered", "answer", what, "error", err)
	}
}
