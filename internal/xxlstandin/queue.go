package xxlstandin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// queue is what an executor has of a job: a run, and those that wait for it. The executor's mutex
// guards it.
type queue struct {
	handler string // and kind of script, of its runs
	waiting []Run
	stop    context.CancelCauseFunc // of the run
}

// cause is why a run was stopped, in XXL-JOB's own words.
type cause string

func (c cause) Error() string { return string(c) }

const (
	forgotten cause = "forgotten"
	killed    cause = "scheduling center kill job."
	covered   cause = "block strategy effect：Cover Early"
	replaced  cause = "change jobhandler or glue type, and terminate the old job thread."
	timeout   cause = "job execute timeout "
)

// accept takes a run, or says why not.
func (e *Executor) accept(t Run) (code int, msg string) {
	do, err := e.handlerOf(t)
	if err != nil {
		return codeFailure, err.Error()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	q := e.jobs[t.JobID]
	switch {
	case q == nil:
	case q.handler != t.Handler:
		e.stopLocked(t.JobID, replaced)
		q = nil
	case t.Block == "DISCARD_LATER":
		return codeFailure, "block strategy effect：Discard Later"
	case t.Block == "COVER_EARLY":
		e.stopLocked(t.JobID, covered)
		q = nil
	case slices.ContainsFunc(q.waiting, func(w Run) bool { return w.LogID == t.LogID }):
		return codeFailure, fmt.Sprintf("repeate trigger job, logId:%d", t.LogID)
	}
	if q != nil {
		q.waiting, e.taken = append(q.waiting, t), append(e.taken, t)
		return codeSuccess, "Success"
	}
	q = &queue{handler: t.Handler}
	e.jobs[t.JobID] = q
	e.taken = append(e.taken, t)
	e.startLocked(q, t, do)
	return codeSuccess, "Success"
}

func (e *Executor) startLocked(q *queue, t Run, do Handler) {
	ctx, stop := context.WithCancelCause(e.alive)
	q.stop = stop
	e.begun[t.LogID]++
	e.logs.add(t.LogID, "----------- job execute start -----------")
	e.tasks.Go(func() {
		e.do(ctx, t, do)
		stop(nil)
		e.next(q, t.JobID)
	})
}

// next starts what waits for a run of q that has ended.
func (e *Executor) next(q *queue, job int32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.jobs[job] != q {
		return // killed, covered or forgotten
	}
	if len(q.waiting) == 0 {
		delete(e.jobs, job)
		return
	}
	t := q.waiting[0]
	q.waiting = q.waiting[1:]
	do, err := e.handlerOf(t)
	if err != nil {
		panic("BUG: " + err.Error()) // it was accepted
	}
	e.startLocked(q, t, do)
}

// do does a run and reports its end. One that takes too long is reported while it goes on.
func (e *Executor) do(ctx context.Context, t Run, handler Handler) {
	type result struct {
		message string
		err     error
	}
	var late <-chan time.Time
	own, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if t.Timeout > 0 && !e.cfg.Lenient {
		timer := time.NewTimer(time.Duration(t.Timeout) * time.Second)
		defer timer.Stop()
		late = timer.C
	}
	ended := make(chan result, 1)
	e.tasks.Go(func() {
		var out result
		defer func() {
			if p := recover(); p != nil {
				out.err = fmt.Errorf("panic: %v", p)
			}
			ended <- out
		}()
		out.message, out.err = handler(own, t, e.logTo(t.LogID))
	})
	c := end{logID: t.LogID, logDateTime: t.LogTime, code: codeSuccess}
	select {
	case <-late:
		stop(timeout)
		c.code, c.message = codeTimeout, timeout.Error()
	case out := <-ended:
		switch why := context.Cause(ctx); {
		case errors.Is(why, forgotten):
			return
		case why != nil && !e.cfg.Lenient:
			c.code, c.message = codeFailure, why.Error()+" [job running, killed]"
		case out.err != nil:
			c.code, c.message = codeFailure, out.err.Error()
		default:
			c.message = out.message
		}
	}
	e.ends <- c
}

// stopLocked stops the run of a job and fails those that wait for it. The run goes on until it
// listens, and what comes next does not wait for that.
func (e *Executor) stopLocked(job int32, why cause) {
	q := e.jobs[job]
	delete(e.jobs, job)
	q.stop(why)
	for _, t := range q.waiting {
		e.ends <- end{logID: t.LogID, logDateTime: t.LogTime, code: codeFailure, message: why.Error() + " [job not executed, in the job queue, killed.]"}
	}
}

func (e *Executor) kill(job int32) (code int, msg string, content any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.jobs[job] == nil {
		return codeSuccess, "Success", "job thread already killed."
	}
	e.stopLocked(job, killed)
	return codeSuccess, "Success", nil
}

func (e *Executor) idle(job int32) (code int, msg string, content any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.jobs[job] != nil {
		return codeFailure, "job thread is running or has trigger queue.", nil
	}
	return codeSuccess, "Success", nil
}

// handlerOf returns what does a run.
func (e *Executor) handlerOf(t Run) (Handler, error) {
	do, known := e.handlers[t.Handler]
	if whichever, ok := e.handlers["*"]; ok && (!known || t.Glue != "BEAN") {
		return whichever, nil
	}
	switch {
	case t.Glue != "BEAN":
		return script(t)
	case !known:
		return nil, fmt.Errorf("job handler [%s] not found.", t.Handler) //nolint:revive,staticcheck // the other's words
	}
	return do, nil
}
