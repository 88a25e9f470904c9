package xxljob

import (
	"context"
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
	// idleEvery is how often the executor of a run is asked whether it still has it, and lookBackEvery
	// how often it is looked whether another bridge has taken its callback.
	idleEvery     = 10 * time.Second
	lookBackEvery = 5 * time.Second
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

	doubt  bool // not known whether its executor has it
	unseen int  // how often that has said that it has not
	unsure bool // nor is it ever going to be
	busy   bool // its executor has said that it has it
	// idle is since when it says that it has not.
	idle time.Time

	results  chan func() (ended bool) // of a question that is under way
	asking   bool
	askedAt  time.Time
	killedAt time.Time
	lookedAt time.Time
	loggedAt time.Time
	grew     time.Time // when its log last had a new line
	grewTo   int
	started  jetstream.PubAckFuture
	log      runLog
}

// runLog is how far the log of a run has been moved. Several goroutines may want to read it on, and
// waiting for an executor must keep nobody from asking how far it is.
type runLog struct {
	reading chan struct{} // has a value while somebody reads

	mu     sync.Mutex
	line   int   // the first one that is not moved
	notes  int   // of our own, after the line before
	bytes  int   // that are moved
	over   bool  // it has as much as it may have
	failed error // of the last call
}

// reported is how an executor says that a run ended.
type reported struct {
	wire.Callback
	done chan error // has room for it
}

func newRun(kept state.Run) *run {
	return &run{
		kept: kept, log: runLog{reading: make(chan struct{}, 1), line: max(kept.LogLine, 1)}, callbacks: make(chan reported, 1), kills: make(chan state.Ending, 1), givenUp: make(chan giveUp, 1),
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

// carry goes on with a run until it has ended, or ctx is done. Then the next bridge goes on.
func (i *instance) carry(ctx context.Context, r *run) {
	defer func() {
		close(r.over)
		i.forget(r)
	}()
	if r.resumed || i.begin(ctx, r) {
		i.attend(ctx, r)
	}
}

// attend looks after a run that its executor has, or may have.
func (i *instance) attend(ctx context.Context, r *run) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	if !i.evidence().saidBusy { // at once: a run may be forgotten within a second
		r.ask(func() func() bool {
			_, _, _ = i.idleAt(ctx, r.kept.JobID) // if it fails, that says nothing
			return carryOn
		})
	}
	limit, cause := limitOf(&r.kept)
	deadline := time.NewTimer(time.Until(limit))
	defer deadline.Stop()
	if limit.IsZero() {
		deadline.Stop()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case said := <-r.callbacks:
			i.lastLines(ctx, r)
			said.done <- i.reported(ctx, r, said.Callback)
			return
		case e := <-r.kills:
			i.startEnding(ctx, r, e)
		case <-deadline.C:
			i.startEnding(ctx, r, state.Ending{Status: job.StatusTimedOut, Message: cause})
		case g := <-r.givenUp:
			i.giveUp(ctx, r, g)
			return
		case result := <-r.results:
			r.asking = false
			if result() {
				return
			}
		case now := <-tick.C:
			if i.lookAfter(ctx, r, now) {
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

// lookAfter does what is due without a message, and reports whether the run has ended by it. Calls that
// take a while are made beside it, one at a time.
func (i *instance) lookAfter(ctx context.Context, r *run, now time.Time) (ended bool) {
	if now.Sub(r.kept.Started) >= startedAfter && !r.doubt {
		i.sayStarted(ctx, r, now)
	}
	if e := r.kept.Ending; e != nil && now.Sub(e.At) > r.patience() {
		r.stray = true
		i.lastLines(ctx, r)
		i.conclude(ctx, r, end{status: e.Status, message: reason.Join(e.Message, "its executor did not end it in time"), unheard: true})
		return true
	}
	if r.asking {
		return false
	}
	switch {
	case r.kept.Ending != nil && now.Sub(r.killedAt) >= killEvery:
		r.killedAt = now
		r.ask(func() func() bool {
			if err := i.b.peers.Kill(ctx, i.target(), r.kept.JobID); err != nil && ctx.Err() == nil {
				i.log.WarnContext(ctx, "run not ended at its executor, tried again", "run_id", r.kept.Trigger.RunID, "error", err)
			}
			return carryOn
		})
	case r.doubt:
		r.ask(func() func() bool { return i.clear(ctx, r) })
	case now.Sub(r.lookedAt) >= lookBackEvery && now.Sub(r.kept.Started) >= lookBackEvery:
		r.lookedAt = now
		r.ask(func() func() bool { return i.lookBack(ctx, r) })
	case now.Sub(r.askedAt) >= idleEvery && now.Sub(r.kept.Started) >= startedAfter:
		r.askedAt = now
		since := r.idle
		r.ask(func() func() bool { return i.listenFor(ctx, r, since) })
	case now.Sub(r.loggedAt) >= logEvery && now.Sub(r.kept.Started) >= startedAfter:
		r.loggedAt = now
		r.ask(func() func() bool {
			i.readLog(ctx, r, pagesAtOnce)
			return carryOn
		})
	}
	return false
}

// carryOn is the result of a question that changes nothing.
func carryOn() bool { return false }

// ask has a question asked beside the run, which takes in the result when it is there.
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

// sayStarted publishes the started event until it is stored. Nothing here waits.
func (i *instance) sayStarted(ctx context.Context, r *run, now time.Time) {
	if r.kept.Said {
		return
	}
	if r.started != nil {
		select {
		case <-r.started.Ok():
			r.kept.Said = true
			r.started = nil
			return
		case err := <-r.started.Err():
			i.log.DebugContext(ctx, "started event not stored", "run_id", r.kept.Trigger.RunID, "error", err)
		default:
			return
		}
	}
	m, err := i.event(r, bus.EventStarted, now).Msg(r.kept.Token)
	if err == nil {
		r.started, err = i.b.js.PublishMsgAsync(m)
	}
	if err != nil {
		r.started = nil
		i.log.DebugContext(ctx, "started event not sent", "run_id", r.kept.Trigger.RunID, "error", err)
	}
}

// event returns an event about the run.
func (i *instance) event(r *run, kind bus.EventKind, at time.Time) *bus.Event {
	return eventOf(&r.kept, i.name, kind, at)
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
func (i *instance) startEnding(ctx context.Context, r *run, e state.Ending) {
	if r.kept.Ending != nil {
		return
	}
	e.At = time.Now().UTC()
	r.kept.Ending = &e
	// The bridge that takes the callback, or takes the run over, needs the reason.
	if err := i.store(ctx, r); err != nil && ctx.Err() == nil {
		i.log.DebugContext(ctx, "end of run not stored yet", "run_id", r.kept.Trigger.RunID, "error", err)
	}
	r.killedAt = time.Time{}
	i.lookAfter(ctx, r, time.Now())
}

// store stores the run as it is now.
func (i *instance) store(ctx context.Context, r *run) error {
	line := r.log.at()
	i.mu.Lock()
	kept := r.kept
	kept.LogLine = line
	i.mu.Unlock()
	return i.put(ctx, &kept)
}
