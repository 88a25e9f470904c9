package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// tickEvery is how often the loop does what is due without a message: signs of life, started events,
// handlers to abandon, pull requests that died.
const tickEvery = 250 * time.Millisecond

// loop owns what is known about live attempts. All its methods are called by the
// goroutine of [Executor.Run].
type loop struct {
	e      *Executor
	puller *jet.Puller

	address    bus.Address // with a secret of this start
	requests   chan *nats.Msg
	requestSub *nats.Subscription

	intake    intake
	attempts  attempts
	handOvers handOvers
	presence  presence
	announcer announcer
}

func newLoop(life context.Context, e *Executor) (*loop, error) {
	now, secret := time.Now(), bus.NewControlSecret()
	l := &loop{
		e: e, puller: e.conn.NewPuller(e.cfg.Slots, e.log, bus.ConsumersOf(e.cfg.Group)...),
		address: bus.NewAddress(e.cfg.Group, e.cfg.Instance, secret), requests: make(chan *nats.Msg, 8192),
		attempts: newAttempts(e), presence: newPresence(life, e, secret, now),
		announcer: announcer{out: &e.out, handlers: e.registry.described},
	}
	l.attempts.slots, l.presence.labels = e.settings.current()
	var err error
	if l.requestSub, err = e.conn.NC.ChanSubscribe(l.address.Subject("*"), l.requests); err != nil {
		return nil, fmt.Errorf("subscribe to requests: %w", err)
	}
	if l.handOvers, err = newHandOvers(e); err != nil {
		return nil, err
	}
	l.beat(now)
	return l, nil
}

// serve handles what happens until ctx is done, or, if untilIdle or on request, no
// attempt is left, or the time for that is over. Attempts live in life.
func (l *loop) serve(ctx, life context.Context, untilIdle bool) {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for len(l.attempts.live)+len(l.handOvers.open) > 0 || !untilIdle && !l.intake.leaving && l.presence.conflict == nil {
		if l.intake.open() && l.presence.introduction.done {
			l.puller.Ask(l.orders())
		}
		select {
		case <-ctx.Done():
			return
		case m := <-l.puller.Inbox():
			l.receive(life, m)
		case end := <-l.e.ends.done:
			l.ended(life, end)
		case err := <-l.presence.introduction.result:
			l.introduced(err)
		case m := <-l.requests:
			l.request(life, m)
		case m := <-l.handOvers.answers:
			l.handOvers.answered(life, m)
		case <-l.e.settings.changed:
			l.adjust(life)
		case now := <-tick.C:
			if l.tick(life, now); l.intake.overdue(now) {
				return
			}
		}
	}
}

// receive handles a message from a pull request.
func (l *loop) receive(life context.Context, m *nats.Msg) {
	if !l.puller.Receive(m) {
		return
	}
	switch {
	case bus.IsPack(m.Header):
		l.receivePack(life, m)
		return
	case bus.ForServers(m.Header):
		l.handOvers.request(life, m) // a newer instance may know this version
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
		l.e.out.answer(m.Reply, "+TERM")
		return
	}
	key := keyOf(t)
	if a := l.attempts.live[key]; a != nil { // we went silent for a while, but have it still
		a.redeliver(m.Reply)
		l.sign(a, time.Now())
		return
	}
	if l.attempts.reported.Has(key) {
		l.e.out.answer(m.Reply, "+ACK")
		return
	}
	if _, unable := l.e.registry.handlerFor(&t.Task); unable != nil || meta.NumDelivered > 1 || l.attempts.isFull(t.Task.Handler) {
		// Whether somebody has it, or has ended it, only a server can find out.
		l.handOvers.request(life, m)
		return
	}
	l.add(life, delivery{trigger: t, token: m.Header.Get(bus.HeaderToken), delivered: 1, fence: fenceOf(meta)}, &receipt{reply: m.Reply, left: 1, signed: time.Now()})
}

// add begins to know an attempt, whose trigger r answers.
func (l *loop) add(life context.Context, d delivery, r *receipt) {
	d.instance, d.came, d.ack = l.e.cfg.Instance, time.Now(), &atomic.Pointer[string]{}
	d.ack.Store(&r.reply)
	a := &attempt{Run: &Run{delivery: d}, receipt: r}
	a.log.init(life, l.e, a.Run)
	l.attempts.put(a)
	l.admit(life, a)
}

// admit begins an attempt if it may, or finds what else becomes of it.
func (l *loop) admit(life context.Context, a *attempt) {
	switch {
	case l.attempts.killed.Has(attemptKey{run: a.trigger.RunID}):
		// Whoever killed it has recorded its end, unless they died in between, or the
		// instance that had it died while it ended it. Saying it again changes nothing.
		l.conclude(life, a, outcome{status: job.StatusCancelled, message: reason.CancelledBeforeStart.String()})
	case !a.trigger.StartBy.IsZero() && l.e.clock.now().After(a.trigger.StartBy):
		l.conclude(life, a, outcome{status: job.StatusMissed, message: a.tooLate()})
	case !l.intake.open():
		l.remove(life, a, giveBack)
	case !l.attempts.mayBegin(a, time.Now()): // a pull request that was given up delivered after all
		l.attempts.waiting = append(l.attempts.waiting, a)
	default:
		l.begin(life, a)
	}
}

// room is how many triggers may be pulled.
func (l *loop) room() int {
	if l.attempts.alone(time.Now()) {
		return 0
	}
	return l.attempts.slots - len(l.attempts.live) - len(l.handOvers.open)
}

// begin starts the attempt's goroutine. It ends by sending its report to e.ends.done.
func (l *loop) begin(life context.Context, a *attempt) {
	ctx, cancel := context.WithCancelCause(life)
	a.cancelWith = cancel
	if limit, cause := a.limit(l.e.clock.now()); cause != nil {
		var release context.CancelFunc
		ctx, release = context.WithTimeoutCause(ctx, limit, cause)
		a.cancelWith = func(cause error) { cancel(cause); release() }
	}
	a.begun, a.done = true, ctx.Done()
	a.startedAt = time.Now()
	ctx = l.e.observe(ctx, a.Run)
	if a.routeReason != "" {
		l.reportStarted(a, a.startedAt) // it says why the run is here
	}
	go l.e.do(ctx, life, a.Run)
}

// conclude ends an attempt without running it, or without waiting for its handler, unless its own
// goroutine is just saying how it ended.
func (l *loop) conclude(life context.Context, a *attempt, o outcome) {
	if end := a.ending.take(a.Run); end != nil {
		a.begun = true
		go l.e.finish(life, end, o)
	}
}

// ended takes an attempt back from its goroutine.
func (l *loop) ended(life context.Context, end *report) {
	if end.verdict == giveBack && end.run.ending.isKilled() { // since it was finished
		end.verdict = leave
		go l.e.finish(life, end, outcome{giveBack: true})
		return
	}
	l.remove(life, l.attempts.live[keyOf(end.run.trigger)], end.verdict)
}

// remove forgets an attempt, and takes its trigger off the bus.
func (l *loop) remove(life context.Context, a *attempt, v verdict) {
	l.attempts.remove(a)
	a.release()
	switch v {
	case reported:
		if l.attempts.reported.Add(keyOf(a.trigger)); a.receipt.end() {
			l.e.out.answer(a.receipt.reply, "+ACK")
		}
	case giveBack:
		if a.receipt.cancel() {
			l.e.out.giveBack(a.receipt.reply, bus.GiveBackAfter(a.delivered))
		}
	case leave:
		a.receipt.cancel()
	}
	l.admitNext(life)
}

// admitNext begins the attempt that has waited longest for a slot, if there is one.
func (l *loop) admitNext(life context.Context) {
	if a := l.attempts.next(time.Now()); a != nil {
		l.admit(life, a)
	}
}

// tick does what is due without a message.
func (l *loop) tick(life context.Context, now time.Time) {
	for _, a := range l.attempts.live {
		if now.Sub(a.receipt.signed) >= bus.AckWait/3-tickEvery {
			l.sign(a, now)
		}
		if a.begun {
			l.attempts.noteLong(a, now)
			l.report(a, now)
			a.warn(now)
			l.abandon(life, a, now)
		}
	}
	if l.presence.due(now) {
		l.beat(now)
	}
	l.puller.Expire(now)
	l.handOvers.expire(now)
	l.yield(life, now)
}

// sign says that the attempt lives, and with it those of its pack.
func (l *loop) sign(a *attempt, now time.Time) {
	if a.receipt.signed = now; !a.receipt.void {
		l.e.out.answer(a.receipt.reply, "+WPI")
	}
}

// extraPatience is how much longer than a job's kill_grace its handler may take.
const extraPatience = 5 * time.Second

// abandon ends an attempt whose handler has ignored the end of its context.
func (l *loop) abandon(life context.Context, a *attempt, now time.Time) {
	patience := l.e.cfg.Patience
	if grace := a.trigger.KillGrace.Std(); grace > 0 {
		patience = max(patience, grace+extraPatience)
	}
	if cancelled, ago := a.isCancelled(now); !cancelled || ago < patience || a.ending.isTaken() {
		return
	}
	cause := a.cause
	if cause == nil {
		cause = ErrTimeout
	}
	l.e.observers.count(CountAbandoned, 1)
	l.e.log.WarnContext(life, "handler abandoned", "run_id", a.ID(), "job", a.Job(), "cause", cause)
	l.conclude(life, a, l.e.outcomeOf(a.Run, cause, nil, errors.New(reason.Abandoned.With(job.Duration(patience)))))
}

// waitFor is how long a trigger that was pulled may wait here for a slot.
const waitFor = time.Second

// yield gives up what pulls may still bring while routed runs have taken the slots for
// it, and gives back what has waited for a slot too long: another instance may have
// one free.
func (l *loop) yield(life context.Context, now time.Time) {
	if l.puller.Ordered() > max(l.orders(), 0) {
		l.puller.Release()
	}
	for _, a := range slices.Clone(l.attempts.waiting) {
		// Removing one attempt may begin the next, which is not given back.
		if now.Sub(a.came) > waitFor && l.attempts.unqueue(a) {
			l.remove(life, a, giveBack)
		}
	}
}

// beat writes the instance's heartbeat, and announces its handlers.
func (l *loop) beat(now time.Time) {
	l.presence.beat(now, status{l.intake.state(), len(l.attempts.live), l.attempts.slots, l.pack(now), l.intake.drainBy})
	if !l.intake.draining {
		l.announcer.announce(now)
	}
}

// introduced takes the result of a try to introduce the executor.
func (l *loop) introduced(err error) {
	if l.presence.introduced(err) {
		l.beat(time.Now()) // a try may take a while
	}
}

// drain begins the stop: no new triggers, and what has come and not begun goes back.
func (l *loop) drain(life context.Context) {
	l.intake.draining = true
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
	waiting := l.attempts.waiting
	l.attempts.waiting = nil
	for _, a := range waiting {
		l.admit(life, a)
	}
}

// cancelAll cancels what still runs.
func (l *loop) cancelAll(cause error) {
	for _, a := range l.attempts.live {
		a.cancel(cause)
	}
}

// keepLines ends, for a process that is about to end, the attempts whose handlers have more
// time than it has, so that their lines get to the log, or else to the spool. What becomes of
// them is found out when their triggers come again, as after a crash.
func (l *loop) keepLines(life context.Context) {
	for _, a := range l.attempts.live {
		if a.begun {
			l.conclude(life, a, outcome{giveBack: true, silent: true})
		}
	}
}

// leave takes the executor off the bus.
func (l *loop) leave(life context.Context) {
	l.presence.end()
	if err := l.requestSub.Unsubscribe(); err != nil {
		l.e.log.DebugContext(life, "requests not unsubscribed", "error", err)
	}
	l.handOvers.close(life)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(life), lastWords)
	defer cancel()
	_ = l.e.conn.NC.FlushWithContext(ctx) // so that what was said has left before the caller closes
}
