package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAProcessThatEndsFailsItsRunsAndIsStartedAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	first := w.do(puppet{Lines: []string{done("PID")}})
	r := w.do(puppet{Stderr: "PHP Fatal error: no memory\n", Exit: 3})
	want(t, r, job.StatusFailed, "the worker process ended: exit status 3\nIts last lines on standard error:\nPHP Fatal error: no memory")
	want(t, w.do(puppet{Exit: 4}), job.StatusFailed, "exit status 4")
	next := w.do(puppet{Lines: []string{done("PID")}})
	want(t, next, job.StatusSucceeded, "")
	if string(first.Result) == string(next.Result) || len(next.Result) == 0 {
		t.Errorf("process %s, and then %s", first.Result, next.Result)
	}
	w.log.waitFor(t, "worker process ended; restarting it")
}

// The last lines in a run's message are none of an earlier run.
func TestTheLastLinesAreThoseOfTheRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	w.do(puppet{Stderr: "a line of the first run\n", Lines: []string{done("1")}})
	if r := w.do(puppet{Exit: 3}); strings.Contains(r.Message, "first run") {
		t.Errorf("message %q", r.Message)
	}
	r := w.rehearse(t.Context(), "puppet", puppet{Stderr: "hunter22 is wrong\n", Exit: 3}, map[string]string{"TOKEN": "hunter22"})
	want(t, r, job.StatusFailed, "*** is wrong")
}

func TestACancelledRunIsAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	m := newMeeting(t)
	run := w.begin(puppet{Meet: m.address(), Cancel: []string{`{"type":"error","id":"ID","message":"stopped: REASON"}`}}, nil)
	m.next()
	run.cancel(fmt.Errorf("%w by ann", executor.ErrCancelled))
	want(t, <-run.end, job.StatusCancelled, "stopped: the run was cancelled by ann")
	want(t, w.do(puppet{Lines: []string{done("1")}}), job.StatusSucceeded, "")

	run = w.begin(puppet{Meet: m.address(), Cancel: []string{done("1")}}, nil)
	m.next()
	run.cancel(executor.ErrStopping)
	want(t, <-run.end, job.StatusSucceeded, "")
}

func TestARunThatIgnoresItsCancellationIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	w.workers.cfg.KillAfter = 50 * time.Millisecond
	first := w.do(puppet{Lines: []string{done("PID")}})
	m := newMeeting(t)
	run := w.begin(puppet{Child: m.address()}, nil)
	child := m.next()
	run.cancel(executor.ErrCancelled)
	want(t, <-run.end, job.StatusCancelled, "the worker process was killed: it did not end the run within 50ms")
	child.gone()
	next := w.do(puppet{Lines: []string{done("PID")}})
	if want(t, next, job.StatusSucceeded, ""); string(first.Result) == string(next.Result) {
		t.Error("the process still lives")
	}
}

func TestAJobSaysHowLongItsCancellationMayTake(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.KillAfter = time.Hour }, "normal")
	m := newMeeting(t)
	run := w.begin(puppet{Child: m.address()}, nil, func(t *bus.Trigger) { t.KillGrace = job.Duration(50 * time.Millisecond) })
	child := m.next()
	run.cancel(executor.ErrCancelled)
	want(t, <-run.end, job.StatusCancelled, "within 50ms")
	child.gone()
	w.log.waitFor(t, "worker process restarted")
}

func TestOtherRunsOfAKilledProcessFail(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "slots", "2")
	w.workers.cfg.KillAfter = 50 * time.Millisecond
	m := newMeeting(t)
	one := w.begin(puppet{Meet: m.address()}, nil)
	m.next()
	two := w.begin(puppet{Meet: m.address()}, nil)
	m.next()
	one.cancel(executor.ErrCancelled)
	want(t, <-one.end, job.StatusCancelled, "the worker process was killed")
	want(t, <-two.end, job.StatusFailed, "the worker process ended: it was killed: it did not end run")
}

func TestARunThatWaitsForAPlaceCanBeCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	m := newMeeting(t)
	one := w.begin(puppet{Meet: m.address(), Lines: []string{done("1")}}, nil)
	g := m.next()
	two := w.begin(puppet{Lines: []string{done("2")}}, nil)
	two.cancel(fmt.Errorf("%w by ann", executor.ErrCancelled))
	want(t, <-two.end, job.StatusCancelled, "by ann")
	g.goOn()
	want(t, <-one.end, job.StatusSucceeded, "")
}

func TestARunThatHasEndedIsNotBegunInAPlaceThatIsFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(executor.ErrCancelled)
	if _, err := w.workers.acquire(ctx); !errors.Is(err, executor.ErrCancelled) {
		t.Errorf("it has a place: %v", err)
	}
}

func TestWorkersThatDoNotRegisterDoNotStart(t *testing.T) {
	f := func(text string, change func(*Config), mode ...string) {
		t.Helper()
		cfg := config(newOperatorLog(), mode...)
		if change != nil {
			change(&cfg)
		}
		w, err := Start(t.Context(), cfg)
		if err == nil {
			w.Close()
		}
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v: %v, want %q", mode, err, text)
		}
	}
	f("worker process 1: it ended before it had registered: exit status 7\nIts last lines on standard error:\nno such class: Report", nil, "ends")
	f(`its first message is of type "result"; it must be "register"`, nil, "wrong")
	f("slots -1 must be between 1 and", nil, "slots", "-1")
	f("worker process 2", func(c *Config) { c.Processes = 2 }, "differs", t.TempDir()+"/first")
	f("registers something else than process 1: the handlers", func(c *Config) { c.Processes = 2 }, "differs", t.TempDir()+"/first")
	f("worker must not be empty", func(c *Config) { c.Command = nil })
	f("worker_processes -1 must be between", func(c *Config) { c.Processes = -1 })

	// On a busy machine it is killed before it is there, so this waits for no guest.
	f("it has not registered within 100ms", func(c *Config) { c.StartWithin = 100 * time.Millisecond }, "silent", newMeeting(t).address())

	m := newMeeting(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Start(ctx, config(newOperatorLog(), "silent", m.address()))
		ended <- err
	}()
	g := m.next()
	cancel(errors.New("ctrl-c"))
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "ctrl-c") {
		t.Errorf("%v", err)
	}
	g.gone()
}

func TestLinesBeforeTheRegistrationAreTheOperators(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "banner")
	w.log.waitFor(t, "text=Welcome!")
	want(t, w.do(puppet{Lines: []string{done("1")}}), job.StatusSucceeded, "")
}

// newDiffering starts a worker whose first process alone registers what it has to, and returns how long
// each has for that. On a busy machine the first takes longer than within: then they have twice as long.
func newDiffering(t *testing.T, within time.Duration) (*world, time.Duration) {
	t.Helper()
	for ; ; within *= 2 {
		log := newOperatorLog()
		cfg := config(log, "differs", t.TempDir()+"/first")
		cfg.StartWithin = within
		w, err := Start(t.Context(), cfg)
		if err == nil {
			t.Cleanup(w.Close)
			return &world{t, w, log}, within
		}
		if !strings.Contains(err.Error(), "it has not registered within") || within > time.Minute {
			t.Fatal(err)
		}
	}
}

func TestAProcessThatRegistersSomethingElseIsNotUsed(t *testing.T) {
	t.Parallel()
	w, within := newDiffering(t, 3*time.Second)
	want(t, w.do(puppet{Exit: 3}), job.StatusFailed, "exit status 3")
	w.log.waitFor(t, "registers something else than before: the handlers other, not echo, puppet; restart the executor")
	w.log.waitFor(t, "next_try_in=800ms") // each pause is twice as long
	if err := w.workers.Watch(t.Context()); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("no worker process has been up for %s: worker process 1 registers something else", within)) {
		t.Error(err)
	}
}

func TestARunWaitsForAProcessAsLongAsItMay(t *testing.T) {
	t.Parallel()
	w, _ := newDiffering(t, 200*time.Millisecond)
	want(t, w.do(puppet{Exit: 3}), job.StatusFailed, "exit status 3")
	if err := w.workers.Watch(t.Context()); err == nil {
		t.Error("nobody was told that no process is up")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	waiting := make(chan executor.Rehearsed, 1)
	go func() { waiting <- w.rehearse(ctx, "puppet", puppet{}, nil) }()
	w.log.waitFor(t, "next_try_in=1.6s")
	select {
	case r := <-waiting:
		t.Errorf("ended as %q with message %q", r.Status, r.Message)
	default:
	}
	cancel(errors.New("the executor stops"))
	<-waiting
}

func TestWatchingWorkersEndsWithItsContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.workers.Watch(ctx); err != nil {
		t.Error(err)
	}
	var none *Workers
	if err := none.Watch(ctx); err != nil {
		t.Error(err)
	}
}

func TestProcessesAreShutDown(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	w := newWorld(t, nil, "polite", m.address())
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		w.workers.Close()
	}()
	g := m.next()
	if g.name != "shutdown" {
		t.Errorf("guest %s", g.name)
	}
	g.goOn()
	<-closed
	g.gone()
}

// On a busy machine it is killed before it is there, so this waits for no guest. Close returns when it is
// gone.
func TestAProcessThatDoesNotEndIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.KillAfter = 100 * time.Millisecond }, "stubborn", newMeeting(t).address())
	w.workers.Close()
	w.log.waitFor(t, "worker process does not end, and is killed")
}
