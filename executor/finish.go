package executor

import (
	"context"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

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

// ending decides who says how an attempt ended: the goroutine of its handler, or the loop that
// abandons it. Methods may be called concurrently.
type ending struct {
	taken  atomic.Bool
	killed atomic.Pointer[killedError]
}

// take returns the only report of r's end; nil if somebody has it.
func (n *ending) take(r *Run) *report {
	if !n.taken.CompareAndSwap(false, true) {
		return nil
	}
	return &report{run: r}
}

// isTaken reports whether somebody is saying how the attempt ended.
func (n *ending) isTaken() bool { return n.taken.Load() }

// kill records who cancelled the run, and why. That wins over a stop that came first: a user was told
// that the run ends, so it must not begin elsewhere.
func (n *ending) kill(by *killedError) { n.killed.Store(by) }

// isKilled reports whether the run was cancelled.
func (n *ending) isKilled() bool { return n.killed.Load() != nil }

// overrule returns o, or that the run was cancelled if it would go on elsewhere.
func (n *ending) overrule(o outcome) outcome {
	if by := n.killed.Load(); by != nil && (o.giveBack || o.status == job.StatusLost) {
		return outcome{status: job.StatusCancelled, message: by.Error()}
	}
	return o
}

// report is the end of one attempt. Who has it says how the attempt ended, by one of its methods, which
// hands it to the loop with the verdict.
type report struct {
	run     *Run
	verdict verdict

	// Of what is to be stored:
	status job.Status
	end    *bus.End
	kept   *keeper
}

// withdraw hands back an attempt that another instance has begun. It reports nothing:
// while that instance lives, it keeps the trigger from coming again, and if it dies,
// the next instance that gets the trigger reports the run as lost.
func (e *Executor) withdraw(end *report) {
	r := end.run
	r.log.close()
	r.log.abandon()
	r.log.backlog.drop()
	r.observeEnd(outcome{giveBack: true}, time.Now())
	end.verdict = leave
	e.ends.done <- end
}

// finish reports how an attempt ended. What is given back goes to the loop, and what has ended when that
// is stored.
func (e *Executor) finish(life context.Context, end *report, o outcome) {
	at := time.Now()
	r := end.run
	o = r.masked(r.ending.overrule(o)).kept()
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
			end.verdict = giveBack
		}
		kept := e.keep(r, nil)
		r.log.settle()
		if !kept.done(r.log.abandon()) {
			r.log.backlog.drop()
		}
		e.ends.done <- end
		return
	}
	r.hush()
	o.message = reason.Join(o.message, r.log.note(lines))
	var err error
	end.status = o.status
	if end.end, err = bus.NewEnd(e.endOf(r, o, at, lines), r.token); err != nil {
		end.stored(life, e, err)
		return
	}
	end.kept = e.keep(r, end.end)
	r.log.settle()
	e.ends.store(life, end)
}

// stored takes note of whether the end is stored, and hands it back to the loop. It returns at once.
func (end *report) stored(life context.Context, e *Executor, err error) {
	r := end.run
	if err == nil {
		end.verdict = reported
		if claim := r.held.Load(); claim != nil {
			e.releaseClaim(r, claim)
		}
	} else {
		e.log.ErrorContext(life, "end of run not reported", "run_id", r.ID(), "job", r.Job(), "status", end.status, "error", err)
	}
	last := func() {
		r.log.abandon() // as long as its end cannot be stored, nor can its lines
		if !end.kept.done(err == nil) {
			r.log.backlog.drop()
		}
		e.ends.done <- end
	}
	if err == nil && r.log.backlog.drained() == nil {
		last()
	} else {
		go last() // which waits for the log, or writes to disk
	}
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
