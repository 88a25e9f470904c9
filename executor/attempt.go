package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// verdict is what to do with an attempt's trigger.
type verdict int

const (
	leave    verdict = iota // say nothing: when it comes again, servers find out who has it, or its end
	giveBack                // another instance gets it; servers take this as "not begun"
	reported                // its end is stored: acknowledge
)

// outcome is how an attempt ended.
type outcome struct {
	giveBack bool // it did not: it is given back
	silent   bool // and that is not said: its handler may go on until the process ends
	status   job.Status
	message  string
	stack    string // of a panic, for the log
	result   json.RawMessage
	final    bool          // no attempt may follow
	after    time.Duration // when the next one is due; 0 leaves that to the job's rule
}

// errGoexit stands until the handler has returned or panicked.
var errGoexit = errors.New("the handler ended its goroutine without returning")

// attempt runs r's handler in ctx, then reports in life, which is longer.
func (e *Executor) attempt(ctx, life context.Context, r *Run) {
	var result any
	err := errGoexit
	mine := true
	defer func() { // runtime.Goexit comes here too
		if !mine {
			e.leave(r)
			return
		}
		if o := e.safeOutcomeOf(r, context.Cause(ctx), result, err); r.claimed.CompareAndSwap(false, true) {
			e.finish(life, r, o)
		} // else the handler was abandoned, and its end reported without it
	}()
	h, missing := e.registry.handlerFor(&r.trigger.Task)
	if missing != nil {
		err = missing
		return
	}
	if denied := e.unseal(ctx, r); denied != nil {
		err = denied
		return
	}
	if r.atMostOnce() {
		ours, refused := e.claim(ctx, r)
		if mine = ours; refused != nil || !mine {
			err = refused
			return
		}
	}
	result, err = call(ctx, h, r)
}

// call calls the handler, unless its time is over, and turns a panic into an error.
func call(ctx context.Context, h Handler, r *Run) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r.called.Store(true)
	return h.Handle(ctx, r)
}

// panicError is what a handler panicked with, and where.
type panicError struct {
	text  string
	stack string
}

// Error returns the text without the stack, which the log of the run has.
func (e *panicError) Error() string { return e.text }

func panicked(p any) error {
	return &panicError{text: fmt.Sprintf("panic: %v", p), stack: string(debug.Stack())}
}

// safeOutcomeOf is outcomeOf of a handler's own error and result, whose methods may panic, too.
func (e *Executor) safeOutcomeOf(r *Run, cause error, result any, err error) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
			o = e.outcomeOf(r, cause, nil, err)
		}
		if p, ok := errors.AsType[*panicError](err); ok {
			o.stack = p.stack
		}
	}()
	return e.outcomeOf(r, cause, result, err)
}

// outcomeOf decides how an attempt ended whose context has the given cause (nil: it
// is not done) and whose handler returned result and err.
func (e *Executor) outcomeOf(r *Run, cause error, result any, err error) outcome {
	switch {
	case errors.Is(cause, errEndBy):
		return outcome{status: job.StatusTimedOut, message: explain(reason.EndBy.With(r.trigger.EndBy), err, cause)}
	case errors.Is(cause, ErrTimeout):
		return outcome{status: job.StatusTimedOut, message: explain(reason.TimedOut.With(r.trigger.Timeout), err, cause)}
	case errors.Is(cause, ErrCancelled):
		return outcome{status: job.StatusCancelled, message: explain(cause.Error(), err, cause)}
	case errors.Is(cause, ErrStopping) && err != nil && r.atMostOnce() && r.called.Load():
		return outcome{status: job.StatusLost, message: explain(reason.ExecutorStopped.String(), err, cause)}
	case errors.Is(cause, ErrStopping) && err != nil:
		return outcome{giveBack: true}
	case err != nil:
		o := outcome{status: job.StatusFailed, message: err.Error()}
		if wish, ok := errors.AsType[*wish](err); ok {
			o.final, o.after = wish.final, wish.after
		}
		return o
	}
	value, note, unfinished := encodeResult(result)
	if unfinished != nil {
		return outcome{status: job.StatusFailed, message: unfinished.Error()}
	}
	return outcome{status: job.StatusSucceeded, result: value, message: note}
}

// explain returns text, and what the handler had to say if that is more than that
// it was told to end.
func explain(text string, err, cause error) string {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, cause) {
		return text
	}
	return reason.Join(text, err.Error())
}

// kept returns o with as much of its result as events carry. Call it after the secrets
// are masked: in a cut secret, masking would not find the part that is left.
func (o outcome) kept() outcome {
	result, note := bus.CutResult(o.result)
	o.result, o.message = result, strings.TrimSpace(o.message+" "+note)
	return o
}

// finish reports how an attempt ended, and hands it back to the loop. The caller
// has claimed the attempt.
func (e *Executor) finish(life context.Context, r *Run, o outcome) {
	defer func() { e.ended <- r }()
	at := time.Now()
	if k := r.killed.Load(); k != nil && (o.giveBack || o.status == job.StatusLost) {
		o = outcome{status: job.StatusCancelled, message: k.Error()}
	}
	o = r.masked(o).kept()
	r.observeEnd(o, at)
	r.log.endLines()
	switch {
	case o.giveBack:
		r.log.system(bus.LevelWarn, "the executor is stopping; the run is given back, to be done again elsewhere")
	case o.status != job.StatusSucceeded:
		if o.stack != "" {
			r.log.system(bus.LevelError, o.stack)
		}
		o.logEnd(&r.log)
	case o.message != "":
		r.log.system(bus.LevelWarn, o.message)
	}
	lines := r.log.close()
	if o.giveBack {
		if !o.silent {
			r.verdict = giveBack
		}
		kept := e.keep(r, nil)
		r.log.settle()
		if !kept.done(r.log.abandon()) {
			r.log.backlog.drop()
		}
		return
	}
	r.hush()
	o.message = reason.Join(o.message, r.log.note(lines))
	m, err := e.endMsg(r, o, at, lines)
	if err != nil {
		e.log.ErrorContext(life, "end of run not reported", "run_id", r.ID(), "job", r.Job(), "status", o.status, "error", err)
		r.log.abandon()
		r.log.backlog.drop()
		return
	}
	kept := e.keep(r, m)
	r.log.settle()
	err = e.out.publishUntilStored(life, m, "run_id", r.ID(), "job", r.Job(), "status", o.status)
	if err != nil && life.Err() != nil { // its log has taken the time that a stop leaves
		last, cancel := context.WithTimeout(context.WithoutCancel(life), lastWords/2)
		err = e.out.publish(last, m)
		cancel()
	}
	if err == nil {
		r.verdict = reported
		if r.held != nil {
			e.letGo(r)
		}
	} else {
		e.log.ErrorContext(life, "end of run not reported", "run_id", r.ID(), "job", r.Job(), "status", o.status, "error", err)
	}
	r.log.abandon() // as long as its end cannot be stored, nor can its lines
	if !kept.done(err == nil) {
		r.log.backlog.drop()
	}
}

// endMsg returns the message that says how r ended.
func (e *Executor) endMsg(r *Run, o outcome, at time.Time, lines int) (*nats.Msg, error) {
	return e.endOf(r, o, at, lines).MsgWithin(r.token, e.out.maxPayload())
}

// endOf returns the event that says how r ended, at that instant, after so many lines.
func (e *Executor) endOf(r *Run, o outcome, at time.Time, lines int) *bus.Event {
	ev := r.event(bus.EventFinished, at)
	ev.FinishedAt = ev.At
	ev.Status, ev.Message, ev.Result = o.status, cut(o.message), o.result
	ev.ExitCode, ev.LogLines = r.exit(), lines
	// After a list of pieces the attempt follows that does them.
	ev.Final, ev.RetryAfter = o.final, job.Duration(o.after)
	ev.Retry = !o.final && r.trigger.Retry.Again(ev.Attempt, ev.Status, ev.ExitCode) || r.trigger.Split && ev.Status == job.StatusSucceeded
	return ev
}

// cut returns text with at most bus.MaxMessage bytes, valid UTF-8 throughout.
func cut(text string) string {
	const mark = "…"
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= bus.MaxMessage {
		return text
	}
	end := bus.MaxMessage - len(mark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}
