package xxljob

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

const (
	// startedAfter is how long an attempt lives before it is worth a started event.
	startedAfter = time.Second
	// patience is how long an executor may take to end a run that it is told to end, unless the job's
	// kill_grace is longer; extraPatience is how much longer than that. It is told again every killEvery.
	patience      = 10 * time.Second
	extraPatience = 5 * time.Second
	killEvery     = 3 * time.Second
	// ownEnd is how long an executor has to report by itself that the time of a run is over.
	ownEnd = time.Second
	// idleEvery is how often the executor of a run is asked whether it still has it, and checkEndEvery
	// how often its stored state is read, as another bridge may have taken its callback.
	idleEvery     = 10 * time.Second
	checkEndEvery = 5 * time.Second
)

// run is a live attempt of an instance. What has no other owner belongs to the goroutine in carry.
type run struct {
	kept    state.Run // Ack is the instance's, by its lock
	resumed bool      // taken over, with the instance
	routed  bool

	callbacks chan reported
	kills     chan state.Ending
	givenUp   chan giveUp
	over      chan struct{} // closed when this bridge is done with it
	// Written before over is closed: its end is stored; its executor may still do it.
	stored, stray bool

	signed time.Time // when its trigger was last said to be in good hands; by the instance's lock

	unconfirmed bool // not known whether its executor has it
	unseen      int  // how often that has said that it has not
	unsure      bool // nor is it ever going to be
	busy        bool // its executor has said that it has it
	// idle is since when it says that it has not.
	idle time.Time

	results   chan func() (ended bool) // of a question that is under way
	asking    bool
	askedAt   time.Time
	killedAt  time.Time
	checkedAt time.Time
	loggedAt  time.Time
	grew      time.Time // when its log last had a new line
	grewTo    int
	started   jetstream.PubAckFuture
	log       runLog
}

// runLog is how far the log of a run has been moved. Several goroutines may want to read it on, and
// waiting for an executor must keep nobody from asking how far it is.
type runLog struct {
	reading chan struct{} // has a value while somebody reads

	mu     sync.Mutex
	line   int   // the first one that is not moved
	count  int   // of lines in the run's log
	bytes  int   // that are moved
	over   bool  // it has as much as it may have
	open   bool  // lines come after the end of the run
	failed error // of the last call
}

// reported is how an executor says that a run ended.
type reported struct {
	wire.Callback
	done chan error // has room for it
}

func newRun(kept state.Run) *run {
	return &run{
		kept: kept, log: runLog{reading: make(chan struct{}, 1), line: max(kept.LogLine, 1), count: kept.LogLines}, callbacks: make(chan reported, 1), kills: make(chan state.Ending, 1), givenUp: make(chan giveUp, 1),
		over: make(chan struct{}), results: make(chan func() bool, 1),
	}
}

// giveUp says why a run is given up, in words and in kind.
type giveUp struct {
	why  string
	kind givenUp
}

type givenUp int

const (
	gone      givenUp = iota // its executor is: the run ends by the policy of its job. why may be empty.
	drained                  // its executor, which is there, is told to end it
	forgotten                // its executor, which is there, has no such run any more
	unsure                   // nobody knows whether it goes on
)

func (r *run) giveUp(g giveUp) {
	select {
	case r.givenUp <- g:
	default: // it does already
	}
}

// report tells the run how it ended, and waits until that is stored.
func (r *run) report(ctx context.Context, c wire.Callback) error {
	said := reported{c, make(chan error, 1)}
	select {
	case r.callbacks <- said:
	case <-r.over:
	case <-ctx.Done():
		return errNotStored
	}
	select {
	case err := <-said.done:
		return err
	case <-r.over:
		if r.stored {
			return nil
		}
	case <-ctx.Done():
	}
	return errNotStored
}

// attempt is a run in the hands of the goroutine that carries it at its instance.
type attempt struct {
	i *instance
	*run
}

func (i *instance) attempt(r *run) *attempt { return &attempt{i, r} }

// carry goes on with a run until it has ended, or ctx is done. Then the next bridge goes on.
func (a *attempt) carry(ctx context.Context) {
	defer func() {
		close(a.over)
		a.i.forget(a.run)
	}()
	if a.resumed || a.begin(ctx) {
		a.attend(ctx)
	}
}

// attend looks after a run that its executor has, or may have.
func (a *attempt) attend(ctx context.Context) {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	if !a.i.evidence().saidBusy { // at once: a run may be forgotten within a second
		a.ask(func() func() bool {
			_, _, _ = a.i.idleAt(ctx, a.kept.JobID) // if it fails, that says nothing
			return carryOn
		})
	}
	limit, cause := limitOf(&a.kept)
	deadline := time.NewTimer(time.Until(killFrom(limit, a.kept.Started)))
	defer deadline.Stop()
	if limit.IsZero() {
		deadline.Stop()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case said := <-a.callbacks:
			a.lastLines(ctx)
			said.done <- a.reported(ctx, said.Callback)
			return
		case e := <-a.kills:
			a.startEnding(ctx, e)
		case <-deadline.C:
			a.startEnding(ctx, state.Ending{Status: job.StatusTimedOut, Message: cause})
		case g := <-a.givenUp:
			a.giveUp(ctx, g)
			return
		case result := <-a.results:
			a.asking = false
			if result() {
				return
			}
		case now := <-tick.C:
			if a.tick(ctx, now) {
				return
			}
		}
	}
}

// limitOf returns when a run has to be over, zero for never, and what its message is then.
func limitOf(r *state.Run) (at time.Time, cause string) {
	t := r.Trigger
	if t.Timeout > 0 {
		at, cause = r.Started.Add(t.Timeout.Std()), reason.TimedOut.With(t.Timeout)
	}
	if !t.EndBy.IsZero() && (at.IsZero() || t.EndBy.Before(at)) {
		at, cause = t.EndBy, reason.EndBy.With(t.EndBy)
	}
	return at, cause
}

// killFrom returns when an executor is told to end a run that has to be over at a limit, and that it began at
// started. It knows the limit, in whole seconds, and reports by itself that it has ended the run: some
// never report one that is killed meanwhile.
func killFrom(limit, started time.Time) time.Time {
	return started.Add((limit.Sub(started) + time.Second - 1).Truncate(time.Second)).Add(ownEnd)
}

// tick does what is due without a message, and reports whether the run has ended by it. Calls that
// take a while are made beside it, one at a time.
func (a *attempt) tick(ctx context.Context, now time.Time) (ended bool) {
	if now.Sub(a.kept.Started) >= startedAfter && !a.unconfirmed {
		a.reportStarted(ctx, now)
	}
	if e := a.kept.Ending; e != nil && now.Sub(e.At) > a.patience() {
		a.stray = true
		a.lastLines(ctx)
		a.conclude(ctx, end{status: e.Status, message: reason.Join(e.Message, "its executor did not end it in time"), unheard: true})
		return true
	}
	if a.asking {
		return false
	}
	switch {
	case a.kept.Ending != nil && now.Sub(a.killedAt) >= killEvery:
		a.killedAt = now
		a.ask(func() func() bool {
			if err := a.i.b.peers.Kill(ctx, a.i.target(), a.kept.JobID); err != nil && ctx.Err() == nil {
				a.i.log.WarnContext(ctx, "run not ended at its executor, tried again", "run_id", a.kept.Trigger.RunID, "error", err)
			}
			return carryOn
		})
	case a.unconfirmed:
		a.ask(func() func() bool { return a.resolve(ctx) })
	case now.Sub(a.checkedAt) >= checkEndEvery && now.Sub(a.kept.Started) >= checkEndEvery:
		a.checkedAt = now
		a.ask(func() func() bool { return a.checkEnd(ctx) })
	case now.Sub(a.askedAt) >= idleEvery && now.Sub(a.kept.Started) >= startedAfter:
		a.askedAt = now
		since := a.idle
		a.ask(func() func() bool { return a.listenFor(ctx, since) })
	case now.Sub(a.loggedAt) >= logEvery && now.Sub(a.kept.Started) >= startedAfter:
		a.loggedAt = now
		a.ask(func() func() bool {
			a.readLog(ctx, pagesAtOnce)
			return carryOn
		})
	}
	return false
}

// carryOn is the result of a question that changes nothing.
func carryOn() bool { return false }

// ask asks a question beside the run, whose goroutine applies the result when it is there.
func (r *run) ask(question func() (result func() bool)) {
	r.asking = true
	go func() { r.results <- question() }() // which has room; the calls in it end with their contexts
}

func (r *run) patience() time.Duration {
	if grace := r.kept.Trigger.KillGrace.Std(); grace > 0 {
		return max(patience, grace+extraPatience)
	}
	return patience
}

// reportStarted publishes the started event until it is stored. Nothing here waits.
func (a *attempt) reportStarted(ctx context.Context, now time.Time) {
	if a.kept.Said {
		return
	}
	if a.started != nil {
		select {
		case <-a.started.Ok():
			a.kept.Said = true
			a.started = nil
			return
		case err := <-a.started.Err():
			a.i.log.DebugContext(ctx, "started event not stored", "run_id", a.kept.Trigger.RunID, "error", err)
		default:
			return
		}
	}
	m, err := a.event(bus.EventStarted, now).Msg(a.kept.Token)
	if err == nil {
		a.started, err = a.i.b.js.PublishMsgAsync(m)
	}
	if err != nil {
		a.started = nil
		a.i.log.DebugContext(ctx, "started event not sent", "run_id", a.kept.Trigger.RunID, "error", err)
	}
}

// event returns an event about the run.
func (a *attempt) event(kind bus.EventKind, at time.Time) *bus.Event {
	return eventOf(&a.kept, a.i.name, kind, at)
}

// eventOf returns an event about a run, in the name of the instance.
func eventOf(r *state.Run, instance string, kind bus.EventKind, at time.Time) *bus.Event {
	ev := bus.EventOf(r.Trigger, kind, at)
	ev.Instance, ev.Delivery = instance, r.Delivery
	if !r.Started.IsZero() {
		ev.DeliveredAt, ev.StartedAt = r.Came, r.Started
	}
	if kind == bus.EventStarted {
		ev.RouteReason = r.Routed
	}
	return ev
}

// startEnding asks the executor to end the run, and waits until it reports the end.
func (a *attempt) startEnding(ctx context.Context, e state.Ending) {
	if a.kept.Ending != nil {
		return
	}
	e.At = time.Now().UTC()
	a.kept.Ending = &e
	// The bridge that takes the callback, or takes the run over, needs the reason.
	if err := a.store(ctx); err != nil && ctx.Err() == nil {
		a.i.log.DebugContext(ctx, "end of run not stored yet", "run_id", a.kept.Trigger.RunID, "error", err)
	}
	a.killedAt = time.Time{}
	a.tick(ctx, time.Now())
}

// store stores the run as it is now. The error is job.ErrConflict once another bridge serves the instance.
func (a *attempt) store(ctx context.Context) error {
	line, count := a.log.position()
	a.i.mu.Lock()
	kept := a.kept
	kept.LogLine, kept.LogLines = line, count
	a.i.mu.Unlock()
	err := a.i.held.put(ctx, &kept)
	if errors.Is(err, job.ErrConflict) {
		a.i.drop("it was changed by another bridge") // if it is still ours, we take it over again
	}
	return err
}
