package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/bus/recent"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// lookEvery is how often the loop looks after what happens without a message:
// signs of life, started events, handlers to abandon, pull requests that died.
const lookEvery = 250 * time.Millisecond

// attemptKey names an attempt, or one piece of it.
type attemptKey struct {
	run     job.RunID
	attempt int
	piece   int
}

func keyOf(t *bus.Trigger) attemptKey { return attemptKey{t.RunID, t.Attempt, t.Index} }

// loop owns what is known about live attempts. All its methods are called by the
// goroutine of [Executor.Run].
type loop struct {
	e      *Executor
	puller *jet.Puller

	address    bus.Address // with a secret of this start
	secret     string
	requests   chan *nats.Msg
	requestSub *nats.Subscription

	handing handOvers

	live     map[attemptKey]*Run // from delivery to acknowledgement
	waiting  []*Run              // delivered beyond the free slots, not begun
	slots    int
	labels   job.Labels
	cordoned bool                    // takes no work, on request
	leaving  bool                    // takes no work and ends when it has none, on request
	draining bool                    // is stopping
	drainBy  time.Time               // when it stops though it has runs, on request; zero: never
	refused  int                     // messages of this instance, by servers
	refusal  *fleet.Refusal          // of the last of them
	done     *recent.Set[attemptKey] // attempts that ended here, and runs that were killed before they came
	killed   *recent.Set[attemptKey]

	began        time.Time
	lastBeat     time.Time
	compared     time.Time // when the machine's clock was compared with NATS'
	introduction introduction
	introduced   bool                                         // the heartbeat that is stored may be ours
	conflict     error                                        // another instance has the name
	introducing  sync.WaitGroup                               // tries to introduce the executor
	trial        func() (context.Context, context.CancelFunc) // returns what such a try lives in

	announced time.Time      // when all handlers were to be announced last
	unsaid    []announcement // those that may not be stored yet
}

func newLoop(life context.Context, e *Executor) (*loop, error) {
	now := time.Now()
	l := &loop{
		e: e, trial: func() (context.Context, context.CancelFunc) { return context.WithCancel(life) }, puller: e.conn.NewPuller(e.cfg.Slots, e.log, bus.ConsumersOf(e.cfg.Group)...), requests: make(chan *nats.Msg, 8192),
		live: make(map[attemptKey]*Run, e.cfg.Slots), done: recent.New[attemptKey](doneFor, recentMax), killed: recent.New[attemptKey](killedFor, recentMax),
		began: now.UTC().Truncate(time.Millisecond), secret: bus.NewControlSecret(),
	}
	l.address = bus.NewAddress(e.cfg.Group, e.cfg.Instance, l.secret)
	l.slots, l.labels = e.settings.current()
	var err error
	if l.requestSub, err = e.conn.NC.ChanSubscribe(l.address.Subject("*"), l.requests); err != nil {
		return nil, fmt.Errorf("subscribe to requests: %w", err)
	}
	if l.handing, err = newHandOvers(e.conn.NC); err != nil {
		return nil, err
	}
	l.compared = now
	l.beat(now)
	return l, nil
}

// serve handles what happens until ctx is done, or, if untilIdle or on request, no
// attempt is left, or the time for that is over. Attempts live in life.
func (l *loop) serve(ctx, life context.Context, untilIdle bool) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for len(l.live)+len(l.handing.open) > 0 || !untilIdle && !l.leaving && l.conflict == nil {
		if l.takes() && l.introduction.done {
			l.puller.Ask(l.room())
		}
		select {
		case <-ctx.Done():
			return
		case m := <-l.puller.Inbox():
			l.receive(life, m)
		case r := <-l.e.ended:
			l.end(life, r)
		case err := <-l.introduction.result:
			l.introducedAs(err)
		case m := <-l.requests:
			l.request(life, m)
		case m := <-l.handing.inbox:
			l.handedOver(life, m)
		case <-l.e.settings.changed:
			l.adjust(life)
		case now := <-tick.C:
			if l.look(life, now); l.overdue(now) {
				return
			}
		}
	}
}

// receive handles a message from a pull request.
func (l *loop) receive(life context.Context, m *nats.Msg) {
	if !l.puller.Take(m) {
		return
	}
	if bus.UnknownTrigger(m.Header) {
		l.handOver(life, m) // a newer instance may know this version
		return
	}
	t, err := bus.DecodeTriggerFor(l.e.cfg.Group, m.Header, m.Data)
	meta, metaErr := m.Metadata()
	if err == nil {
		err = metaErr
	}
	if err != nil {
		l.e.observers.count(CountRejected, 1)
		l.e.log.WarnContext(life, "trigger rejected", "subject", m.Subject, "error", err)
		l.answer(m.Reply, "+TERM")
		return
	}
	key := keyOf(t)
	if r := l.live[key]; r != nil { // we went silent for a while, but have it still
		r.reply = m.Reply
		l.sign(r, time.Now())
		return
	}
	if l.done.Has(key) {
		l.answer(m.Reply, "+ACK")
		return
	}
	if _, unable := l.e.registry.handlerFor(&t.Task); unable != nil || meta.NumDelivered > 1 || l.isFull(t.Task.Handler) {
		// Whether somebody has it, or has ended it, only a server can find out.
		l.handOver(life, m)
		return
	}
	l.add(life, &Run{trigger: t, token: m.Header.Get(bus.HeaderToken), instance: l.e.cfg.Instance, delivered: 1, fence: fenceOf(meta)}, m.Reply)
}

// isFull reports whether as many runs of a handler are here as it may have.
func (l *loop) isFull(handler string) bool {
	most, limited := l.e.registry.slots[handler]
	if !limited {
		return false
	}
	n := 0
	for _, r := range l.live {
		if r.trigger.Task.Handler == handler {
			n++
		}
	}
	return n >= most
}

// add begins to know an attempt, whose trigger is answered on reply.
func (l *loop) add(life context.Context, r *Run, reply string) {
	now := time.Now()
	r.reply, r.lastSign, r.came = reply, now, now
	r.log.init(life, l.e, r)
	l.live[keyOf(r.trigger)] = r
	l.e.observers.countSlots(len(l.live), l.slots)
	l.admit(life, r)
}

// admit begins an attempt if it may, or finds what else becomes of it.
func (l *loop) admit(life context.Context, r *Run) {
	switch {
	case l.killed.Has(attemptKey{run: r.trigger.RunID}):
		// Whoever killed it has recorded its end, unless they died in between, or the
		// instance that had it died while it ended it. Saying it again changes nothing.
		l.conclude(life, r, outcome{status: job.StatusCancelled, message: reason.CancelledBeforeStart.String()})
	case !r.trigger.StartBy.IsZero() && l.e.clock.now().After(r.trigger.StartBy):
		l.conclude(life, r, outcome{status: job.StatusMissed, message: r.tooLate()})
	case !l.takes():
		r.verdict = giveBack
		l.end(life, r)
	case l.active() > l.slots, l.aloneBut(r): // a pull request that was given up delivered after all
		l.waiting = append(l.waiting, r)
	default:
		l.begin(life, r)
	}
}

// room is how many triggers may be pulled.
func (l *loop) room() int {
	if l.alone(time.Now()) {
		return 0
	}
	return l.slots - len(l.live) - len(l.handing.open)
}

// alone reports whether there is an attempt beside which no other may begin yet.
func (l *loop) alone(now time.Time) bool {
	for _, r := range l.live {
		if r.aloneFor > 0 && now.Sub(r.came) < r.aloneFor {
			return true
		}
	}
	return false
}

// aloneBut reports whether an attempt other than r is such a one.
func (l *loop) aloneBut(r *Run) bool { return r.aloneFor == 0 && l.alone(time.Now()) }

// active is how many attempts occupy a slot.
func (l *loop) active() int { return len(l.live) - len(l.waiting) }

// begin starts the attempt's goroutine. It ends by sending r to e.ended.
func (l *loop) begin(life context.Context, r *Run) {
	ctx, cancel := context.WithCancelCause(life)
	r.cancel = cancel
	if limit, cause := r.limit(l.e.clock.now()); cause != nil {
		var release context.CancelFunc
		ctx, release = context.WithTimeoutCause(ctx, limit, cause)
		r.cancel = func(cause error) { cancel(cause); release() }
	}
	r.begun, r.done = true, ctx.Done()
	r.startedAt = time.Now()
	ctx = l.e.observe(ctx, r)
	if r.routeReason != "" {
		l.reportStarted(r, r.startedAt) // it says why the run is here
	}
	go l.e.attempt(ctx, life, r)
}

// conclude ends an attempt without running it, or without waiting for its handler.
func (l *loop) conclude(life context.Context, r *Run, o outcome) {
	if !r.claimed.CompareAndSwap(false, true) {
		return // its own goroutine is just saying how it ended
	}
	r.begun = true
	go l.e.finish(life, r, o)
}

// end takes an attempt back from its goroutine, and its trigger off the bus.
func (l *loop) end(life context.Context, r *Run) {
	if r.verdict == giveBack && r.killed.Load() != nil { // since it was finished
		r.verdict = leave
		go l.e.finish(life, r, outcome{giveBack: true})
		return
	}
	key := keyOf(r.trigger)
	delete(l.live, key)
	l.e.observers.countSlots(len(l.live), l.slots)
	if r.cancel != nil {
		r.cancel(context.Canceled) // releases its timer; nobody listens any more
	}
	switch r.verdict {
	case reported:
		l.done.Add(key)
		l.answer(r.reply, "+ACK")
	case giveBack:
		l.giveBack(r.reply, bus.GiveBackAfter(r.delivered))
	case leave:
	}
	l.admitNext(life)
}

// admitNext begins the attempt that has waited longest for a slot, if there is one.
func (l *loop) admitNext(life context.Context) {
	if len(l.waiting) > 0 && l.active() < l.slots && !l.alone(time.Now()) {
		next := l.waiting[0]
		l.waiting = l.waiting[1:]
		l.admit(life, next)
	}
}

// forget takes r off the list of those that wait for a slot.
func (l *loop) forget(r *Run) {
	for i, w := range l.waiting {
		if w == r {
			l.waiting = append(l.waiting[:i:i], l.waiting[i+1:]...)
			return
		}
	}
}

func (l *loop) cancel(r *Run, cause error) {
	if r.cause == nil && r.cancel != nil {
		r.cause = cause
		r.cancel(cause)
	}
}

// look does what is due without a message.
func (l *loop) look(life context.Context, now time.Time) {
	for _, r := range l.live {
		if now.Sub(r.lastSign) >= bus.AckWait/3-lookEvery {
			l.sign(r, now)
		}
		if r.begun {
			l.report(r, now)
			r.warn(now)
			l.abandon(life, r, now)
		}
	}
	if l.introduction.due(l.e.conn.NC) || now.Sub(l.lastBeat) >= fleet.HeartbeatEvery {
		l.beat(now)
	}
	l.puller.Look(now)
	l.lookAfterHandOvers(now)
	l.yield(life, now)
}

// waitFor is how long a trigger that was pulled may wait here for a slot.
const waitFor = time.Second

// yield gives up what pulls may still bring while routed runs have taken the slots for
// it, and gives back what has waited for a slot too long: another instance may have
// one free.
func (l *loop) yield(life context.Context, now time.Time) {
	if l.puller.Ordered() > max(l.room(), 0) {
		l.puller.Release()
	}
	for _, r := range slices.Clone(l.waiting) {
		if now.Sub(r.came) > waitFor {
			l.forget(r)
			r.verdict = giveBack
			l.end(life, r)
		}
	}
}

// sign says that the attempt lives.
func (l *loop) sign(r *Run, now time.Time) {
	r.lastSign = now
	l.answer(r.reply, "+WPI")
}

// extraPatience is how much longer than a job's kill_grace its handler may take.
const extraPatience = 5 * time.Second

// abandon ends an attempt whose handler has ignored the end of its context.
func (l *loop) abandon(life context.Context, r *Run, now time.Time) {
	select {
	case <-r.done:
	default:
		return
	}
	if r.cancelledAt.IsZero() {
		r.cancelledAt = now
	}
	patience := l.e.cfg.Patience
	if grace := r.trigger.KillGrace.Std(); grace > 0 {
		patience = max(patience, grace+extraPatience)
	}
	if now.Sub(r.cancelledAt) < patience || r.claimed.Load() {
		return
	}
	cause := r.cause
	if cause == nil {
		cause = ErrTimeout
	}
	l.e.observers.count(CountAbandoned, 1)
	l.e.log.WarnContext(life, "handler abandoned", "run_id", r.ID(), "job", r.Job(), "cause", cause)
	l.conclude(life, r, l.e.outcomeOf(r, cause, nil, errors.New(reason.Abandoned.With(job.Duration(patience)))))
}

// answer tells JetStream about a trigger. An answer that is lost, because the
// connection is, is made up for: the trigger comes again.
func (l *loop) answer(reply, what string) {
	if err := l.e.conn.NC.Publish(reply, []byte(what)); err != nil {
		l.e.log.Debug("trigger not answered", "answer", what, "error", err)
	}
}

// drain begins the stop: no new triggers, and what has come and not begun goes back.
func (l *loop) drain(life context.Context) {
	l.draining = true
	l.quiet(life)
}

// quiet stops pulling, once the loop takes no work, and gives back what has come.
func (l *loop) quiet(life context.Context) {
	l.beat(time.Now())
	ctx, cancel := context.WithTimeout(life, lastWords)
	defer cancel()
	for _, m := range l.puller.Drain(ctx) {
		l.receive(life, m)
	}
	waiting := l.waiting
	l.waiting = nil
	for _, r := range waiting {
		l.admit(life, r)
	}
}

// cancelAll cancels what still runs.
func (l *loop) cancelAll(cause error) {
	for _, r := range l.live {
		l.cancel(r, cause)
	}
}

// keepLines ends, for a process that is about to end, the attempts whose handlers have more
// time than it has, so that their lines get to the log, or else to the spool. What becomes of
// them is found out when their triggers come again, as after a crash.
func (l *loop) keepLines(life context.Context) {
	for _, r := range l.live {
		if r.begun {
			l.conclude(life, r, outcome{giveBack: true, silent: true})
		}
	}
}

// leave takes the executor off the bus.
func (l *loop) leave(life context.Context) {
	l.introduction.stop()
	l.introducing.Wait()
	l.beatGone()
	if err := l.requestSub.Unsubscribe(); err != nil {
		l.e.log.DebugContext(life, "requests not unsubscribed", "error", err)
	}
	if err := l.handing.sub.Unsubscribe(); err != nil {
		l.e.log.DebugContext(life, "answers of servers not unsubscribed", "error", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(life), lastWords)
	defer cancel()
	_ = l.e.conn.NC.FlushWithContext(ctx) // so that what was said has left before the caller closes
}
