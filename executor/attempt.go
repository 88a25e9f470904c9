package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
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

// do runs r's handler in ctx, then reports in life, which is longer.
func (e *Executor) do(ctx, life context.Context, r *Run) {
	var result any
	err := errGoexit
	mine := true
	defer func() { // runtime.Goexit comes here too
		var o outcome
		if mine {
			o = e.safeOutcomeOf(r, context.Cause(ctx), result, err)
		}
		switch end := r.ending.take(r); {
		case end == nil: // the handler was abandoned, and its end reported without it
		case mine:
			e.finish(life, end, o)
		default:
			e.withdraw(end)
		}
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
		if retry, ok := errors.AsType[*retryError](err); ok {
			o.final, o.after = retry.final, retry.after
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
