package executor

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"carillon/bus"
	"carillon/job"
)

// lookEvery is how often the loop looks after what happens without a message:
// signs of life, started events, handlers to abandon, pull requests that died.
const lookEvery = 250 * time.Millisecond

// attemptKey names an attempt.
type attemptKey struct {
	run     job.RunID
	attempt int
}

// loop owns what is known about live attempts. All its methods are called by the
// goroutine of [Executor.Run].
type loop struct {
	e       *Executor
	puller  *bus.Puller
	kills   chan *nats.Msg
	killSub *nats.Subscription

	live     map[attemptKey]*Run // from delivery to acknowledgement
	waiting  []*Run              // delivered beyond the free slots, not begun
	draining bool
	done     recent // attempts that ended here, and runs that were killed before they came
	killed   recent

	began    time.Time
	lastBeat time.Time
}

func newLoop(e *Executor) (*loop, error) {
	now := time.Now()
	l := &loop{
		e: e, puller: e.conn.NewPuller(bus.ConsumerAny(e.cfg.Group), e.cfg.Slots, e.log), kills: make(chan *nats.Msg, 1024),
		live: make(map[attemptKey]*Run, e.cfg.Slots), done: newRecent(), killed: newRecent(),
		began: now.UTC().Truncate(time.Millisecond),
	}
	var err error
	if l.killSub, err = e.conn.NC.ChanSubscribe(bus.SubjectKill(e.cfg.Group), l.kills); err != nil {
		return nil, fmt.Errorf("subscribe to kills: %w", err)
	}
	l.beat(now)
	return l, nil
}

// serve handles what happens until ctx is done, or, if untilIdle, no attempt is
// left. Attempts live in life.
func (l *loop) serve(ctx, life context.Context, untilIdle bool) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for !untilIdle || len(l.live) > 0 {
		if !l.draining {
			l.puller.Ask(l.e.cfg.Slots - len(l.live))
		}
		select {
		case <-ctx.Done():
			return
		case m := <-l.puller.Inbox():
			l.receive(life, m)
		case r := <-l.e.ended:
			l.end(life, r)
		case m := <-l.kills:
			l.kill(life, m)
		case now := <-tick.C:
			l.look(life, now)
		}
	}
}

// receive handles a message from a pull request.
func (l *loop) receive(life context.Context, m *nats.Msg) {
	if !l.puller.Take(m) {
		return
	}
	t, err := l.decode(m)
	meta, metaErr := m.Metadata()
	if err == nil {
		err = metaErr
	}
	if err != nil {
		l.e.metrics.rejected.Inc()
		l.e.log.WarnContext(life, "trigger rejected", "subject", m.Subject, "error", err)
		l.answer(m.Reply, "+TERM")
		return
	}
	key := attemptKey{t.RunID, t.Attempt}
	if r := l.live[key]; r != nil { // we went silent for a while, but have it still
		r.reply = m.Reply
		l.sign(r, time.Now())
		return
	}
	if l.done.has(key) {
		l.answer(m.Reply, "+ACK")
		return
	}
	r := &Run{trigger: t, instance: l.e.cfg.Instance, delivered: int(meta.NumDelivered)} //nolint:gosec // a small count
	r.reply, r.lastSign = m.Reply, time.Now()
	r.log.init(life, l.e, r)
	l.live[key] = r
	l.e.metrics.inUse.Set(float64(len(l.live)))
	l.admit(life, r)
}

// admit begins an attempt if it may, or finds what else becomes of it.
func (l *loop) admit(life context.Context, r *Run) {
	switch {
	case l.killed.has(attemptKey{run: r.trigger.RunID}):
		// Whoever killed it has recorded its end, unless they died in between, or the
		// instance that had it died while it ended it. Saying it again changes nothing.
		l.conclude(life, r, outcome{status: job.StatusCancelled, message: "cancelled before it began here"})
	case r.atMostOnce() && r.delivered > 1:
		l.conclude(life, r, outcome{status: job.StatusLost, message: "an earlier executor of this attempt went silent, and delivery at_most_once forbids to run it again"})
	case l.draining && !r.atMostOnce():
		r.verdict = giveBack
		l.end(life, r)
	case !l.draining && l.active() > l.e.cfg.Slots:
		// A pull request that was given up delivered after all. Giving the trigger
		// back would count as a delivery, which at_most_once does not forgive.
		l.waiting = append(l.waiting, r)
	default:
		l.begin(life, r)
	}
}

// active is how many attempts occupy a slot.
func (l *loop) active() int { return len(l.live) - len(l.waiting) }

// begin starts the attempt's goroutine. It ends by sending r to e.ended.
func (l *loop) begin(life context.Context, r *Run) {
	ctx, cancel := context.WithCancelCause(life)
	r.cancel = cancel
	if limit := r.trigger.Timeout.Std(); limit > 0 {
		var release context.CancelFunc
		ctx, release = context.WithTimeoutCause(ctx, limit, ErrTimeout)
		r.cancel = func(cause error) { cancel(cause); release() }
	}
	r.begun, r.done = true, ctx.Done()
	r.startedAt = time.Now().UTC().Truncate(time.Millisecond)
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
	key := attemptKey{r.trigger.RunID, r.trigger.Attempt}
	delete(l.live, key)
	l.e.metrics.inUse.Set(float64(len(l.live)))
	if r.cancel != nil {
		r.cancel(context.Canceled) // releases its timer; nobody listens any more
	}
	switch r.verdict {
	case reported:
		l.done.add(key)
		l.answer(r.reply, "+ACK")
	case giveBack:
		l.e.metrics.givenBack.Inc()
		l.answer(r.reply, "-NAK")
	case leave:
	}
	if len(l.waiting) > 0 && l.active() < l.e.cfg.Slots {
		next := l.waiting[0]
		l.waiting = l.waiting[1:]
		l.admit(life, next)
	}
}

// kill handles a request to end a run. The instance that has it answers.
func (l *loop) kill(life context.Context, m *nats.Msg) {
	req, err := decodeKill(m)
	if err != nil {
		l.e.metrics.rejected.Inc()
		l.e.log.WarnContext(life, "kill rejected", "error", err)
		return
	}
	found := false
	for key, r := range l.live {
		if key.run != req.RunID {
			continue
		}
		found = true
		cause := killedBy(req)
		if r.begun {
			l.cancel(r, cause)
			continue
		}
		l.forget(r)
		l.conclude(life, r, outcome{status: job.StatusCancelled, message: cause.Error()})
	}
	if !found {
		l.killed.add(attemptKey{run: req.RunID})
		return
	}
	if err := bus.Respond(m, bus.KillReply{Instance: l.e.cfg.Instance}, nil); err != nil {
		l.e.log.DebugContext(life, "kill not answered", "run_id", req.RunID, "error", err)
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
			l.abandon(life, r, now)
		}
	}
	if now.Sub(l.lastBeat) >= bus.HeartbeatEvery {
		l.beat(now)
	}
	l.puller.Look(now)
}

// sign says that the attempt lives.
func (l *loop) sign(r *Run, now time.Time) {
	r.lastSign = now
	l.answer(r.reply, "+WPI")
}

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
	if now.Sub(r.cancelledAt) < l.e.cfg.Patience || r.claimed.Load() {
		return
	}
	cause := r.cause
	if cause == nil {
		cause = ErrTimeout
	}
	l.e.metrics.abandoned.Inc()
	l.e.log.WarnContext(life, "handler abandoned", "run_id", r.ID(), "job", r.Job(), "cause", cause)
	l.conclude(life, r, l.e.outcomeOf(r, cause, nil, fmt.Errorf("the handler ignored its context for %v and was abandoned", l.e.cfg.Patience)))
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

// leave takes the executor off the bus.
func (l *loop) leave(life context.Context) {
	l.beatGone()
	if err := l.killSub.Unsubscribe(); err != nil {
		l.e.log.DebugContext(life, "kills not unsubscribed", "error", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(life), lastWords)
	defer cancel()
	_ = l.e.conn.NC.FlushWithContext(ctx) // so that what was said has left before the caller closes
}
