package dispatch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	// maxOffers is how many triggers of a group are offered at once. As many may wait here, or
	// governedRoom of each priority in a governed group. Partitions share that; each has leastRoom.
	maxOffers    = 512
	governedRoom = 64
	leastRoom    = 8
	// tickEvery is the interval of the work that no message starts.
	tickEvery = 250 * time.Millisecond
	// signEvery is the interval of in-progress acknowledgements.
	signEvery = bus.AckWait / 3
	// keepFor is the interval of checks whether a waiting trigger is still on its stream, as a run
	// may be cancelled. Whoever has the attempt is searched for as long.
	keepFor = 30 * time.Second
	// drainWait is how long a placer that stops waits for messages that are on their way to it.
	drainWait = 500 * time.Millisecond
)

// placer pulls the triggers of a group, keeps those that cannot begin yet, and offers each to instances
// until one has it. Its goroutine owns all of it.
type placer struct {
	g         *group
	governor  *governor      // nil unless the group is governed
	consumers []bus.Consumer // by priority, then by partition
	room      int            // for waiting triggers of each consumer
	puller    *jet.Puller
	queue     *queue
	questions questions

	offers   int             // under way
	asking   map[poolKey]int // those, by pool
	outcomes chan outcome    // of those that were not questions
	working  sync.WaitGroup

	checking bool // whether waiting triggers are on their streams
	absent   chan map[*offer]bool
}

// outcome is the result of an offer.
type outcome struct {
	*waiting
	result
}

// serve places the group's triggers until ctx is done. In a governed group it does so only while this
// node holds the lease: one dispatcher alone knows how many runs it has begun.
func (g *group) serve(ctx context.Context, as cluster.Group) {
	if !as.Governed() {
		newPlacer(g, as).run(ctx, nil)
		return
	}
	g.d.conn.Lead(ctx, "role.dispatch-"+g.name, g.d.node, g.d.log, func(ctx context.Context, lease *jet.Lease) error {
		newPlacer(g, as).run(ctx, lease)
		return nil
	})
}

func newPlacer(g *group, as cluster.Group) *placer {
	p := &placer{g: g, asking: map[poolKey]int{}, outcomes: make(chan outcome, maxOffers), absent: make(chan map[*offer]bool, 1)}
	partitions, priorities := len(g.d.conn.Trigs()), []job.Priority{job.PriorityNormal}
	p.room = max(maxOffers/partitions, leastRoom)
	if as.Governed() {
		priorities, p.room = job.Priorities, max(governedRoom/partitions, leastRoom)
	}
	for _, priority := range priorities {
		p.consumers = append(p.consumers, g.d.consumers(bus.ConsumerPriority(priority, g.name))...)
	}
	if as.Governed() {
		p.governor = newGovernor(g, as.GroupLimits, len(p.consumers))
	}
	p.queue = newQueue(len(p.consumers), partitions)
	p.puller = g.d.conn.NewPuller(p.room*len(p.consumers), g.d.log.With("executor_group", g.name), p.consumers...)
	return p
}

// run places triggers until ctx is done, or the lease has ended if there is one. Then it gives back
// what it has.
func (p *placer) run(ctx context.Context, lease *jet.Lease) {
	finished, stopHearing := p.governor.listen(ctx)
	defer stopHearing()
	p.questions.open(ctx, p.g)
	defer p.questions.close()
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	wake := time.NewTimer(0)
	defer wake.Stop()
	for ctx.Err() == nil && (lease == nil || lease.Valid(time.Now())) {
		p.governor.dropEnded(p.queue)
		p.pull()
		if next := p.begin(ctx); next > 0 {
			wake.Reset(next)
		}
		select {
		case <-ctx.Done():
		case m := <-p.puller.Inbox():
			p.take(ctx, m)
		case m := <-p.questions.answers:
			p.answer(ctx, m)
		case o := <-p.outcomes:
			p.end(ctx, o.waiting, o.result)
		case instance := <-finished:
			p.free(instance)
		case absent := <-p.absent:
			p.checking = false
			p.queue.takeIf(func(w *waiting) bool { return absent[w.offer] })
		case <-wake.C:
		case now := <-tick.C:
			p.tick(ctx, now)
		}
	}
	p.stop(ctx)
}

// pull asks each consumer for as many triggers as there is room for.
func (p *placer) pull() {
	for source, n := range p.queue.bySource {
		p.puller.AskFrom(source, max(p.room-n, p.governor.redelivered(source, n, p.room)))
	}
}

// take adds a trigger to the queue.
func (p *placer) take(ctx context.Context, m *nats.Msg) {
	if !p.puller.Receive(m) {
		return
	}
	o := p.g.newOffer(ctx, m)
	if o == nil {
		return
	}
	w := &waiting{offer: o, source: slices.Index(p.consumers, bus.Consumer{Stream: o.at.Stream, Consumer: o.consumer}), pool: poolOf(o.t), seen: o.came, tellAt: o.came.Add(patience)}
	if w.source < 0 {
		return // of no consumer that was asked
	}
	if o.delivery == 1 {
		p.governor.noteNew(w.source)
	} else if same := p.queue.takeIf(func(other *waiting) bool { return other.at == o.at }); len(same) > 0 {
		w.after, w.tellAt, w.tells, w.reason = same[0].after, same[0].tellAt, same[0].tells, same[0].reason // its acknowledgements were lost
	} else {
		p.governor.noteRedelivered(p.queue.partition(w), o.came)
	}
	p.queue.add(w)
}

// begin offers what may begin. It returns after how long to call it again if nothing
// happens before; 0 is never.
func (p *placer) begin(ctx context.Context) time.Duration {
	now := time.Now()
	for p.queue.count() > 0 && p.offers < maxOffers {
		token, wait := p.governor.permit(ctx, p.queue, now)
		if wait > 0 {
			return wait
		}
		w := p.queue.pick(now, p.hasRoom)
		if w == nil {
			giveBackToken(token, now)
			return p.queue.nextAt(now).Sub(now)
		}
		p.offer(ctx, w, token)
	}
	return 0
}

// hasRoom reports whether an instance has a slot for a trigger, as far as is known. If none is known,
// one trigger is offered all the same; more would overtake each other.
func (p *placer) hasRoom(w *waiting) bool {
	asking := p.asking[w.pool]
	return asking == 0 || asking < p.g.free(w.t)
}

// offer offers a trigger: by a question to the instance that comes first, or in a goroutine.
func (p *placer) offer(ctx context.Context, w *waiting, token *rate.Reservation) {
	p.governor.occupy(p.queue.partition(w), 1)
	p.offers++
	p.asking[w.pool]++
	w.began, w.token = time.Now(), token
	if !p.questions.ask(w) {
		p.try(ctx, w)
	}
}

// try offers a trigger in a goroutine, which may wait.
func (p *placer) try(ctx context.Context, w *waiting) {
	p.working.Go(func() { p.outcomes <- outcome{w, w.try(ctx)} })
}

// answer handles the answer of an instance. If it has not taken the trigger, another is looked for.
func (p *placer) answer(ctx context.Context, m *nats.Msg) {
	switch w, result := p.questions.answered(m); {
	case w == nil:
	case result == taken:
		p.end(ctx, w, taken)
	default:
		p.try(ctx, w)
	}
}

// end handles the result of an offer. A trigger that nobody has taken waits. In a group that is not
// governed it is given back if others could begin before it.
func (p *placer) end(ctx context.Context, w *waiting, res result) {
	p.offers--
	if p.asking[w.pool]--; p.asking[w.pool] == 0 {
		delete(p.asking, w.pool)
	}
	if res == taken || res == unknown {
		if res == taken {
			delete(p.queue.full, w.pool)
		}
		p.g.d.metrics.outcome(outcomeOf(res))
		return
	}
	now := time.Now()
	p.queue.picks-- // the turn of its level is not over
	giveBackToken(w.token, now)
	if res == settled { // it may have been found alive, which the next count tells
		return
	}
	p.governor.occupy(p.queue.partition(w), -1)
	w.reason = w.why(res)
	closed := now.Before(p.g.closedUntil())
	switch {
	case ctx.Err() != nil:
		w.giveBackAfter(holdMin)
		return
	case p.governor == nil && (res != busy || !closed && now.Sub(w.came) >= w.most(now)):
		w.postpone(ctx, w.reason)
		return
	case res != busy, w.alone(now): // others need no instance of their own
		w.after = now.Add(holdMin)
	case p.governor == nil && !closed, w.t.Prefer != "": // others may find a slot
		w.after = now.Add(busyRetry)
	default:
		p.queue.full[w.pool] = full{until: now.Add(busyRetry), reason: w.reason}
	}
	p.queue.add(w)
}

// free shortens the wait for an instance that was busy: a run of it has ended.
func (p *placer) free(instance string) {
	soon := time.Now().Add(freeAfter)
	p.g.freed(instance, soon)
	p.queue.reopen(soon)
}

// tick gives up questions without an answer, keeps what waits, and ends what may not begin any more.
func (p *placer) tick(ctx context.Context, now time.Time) {
	p.puller.Expire(now)
	p.governor.tick(now)
	for _, w := range p.questions.expire(now) {
		p.end(ctx, w, unknown) // it comes again, unless who has it says that it lives
	}
	for w := range p.queue.all() {
		w.sign()
		if reason := p.queue.reason(w); reason != "" && !now.Before(w.tellAt) {
			w.tell(ctx, reason)
			w.tellAt = now.Add(max(now.Sub(w.came), keepFor))
		}
	}
	p.checkStored(ctx, now)
	overdue := func(w *waiting) bool { return p.offers < maxOffers && late(w.t, now) }
	for _, w := range p.queue.takeIf(overdue) { // they need neither room nor a token
		p.queue.picks++ // which end takes back
		p.offer(ctx, w, nil)
	}
}

// checkStored finds out which of those that have waited for long are not on their streams any more.
func (p *placer) checkStored(ctx context.Context, now time.Time) {
	if p.checking {
		return
	}
	due := map[string][]*waiting{}
	for w := range p.queue.all() {
		if now.Sub(w.seen) > keepFor {
			w.seen = now
			due[w.at.Stream] = append(due[w.at.Stream], w)
		}
	}
	if p.checking = len(due) > 0; !p.checking {
		return
	}
	p.working.Go(func() {
		absent := map[*offer]bool{}
		for stream, list := range due {
			for _, w := range list {
				_, err := p.g.d.conn.At(ctx, stream, w.at.Seq)
				if absent[w.offer] = errors.Is(err, jet.ErrNoMessage); err != nil && !absent[w.offer] {
					break // it is away
				}
			}
		}
		p.absent <- absent // there is room for it
	})
}

// stop gives back what waits, and what the offers that are under way bring back.
func (p *placer) stop(ctx context.Context) {
	// ctx may be done, but triggers that are on their way would be missing for AckWait.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainWait)
	defer cancel()
	for _, m := range p.puller.Drain(last) {
		p.take(ctx, m)
	}
	p.giveBackAll()
	patience := time.NewTimer(runWait)
	defer patience.Stop()
	for p.offers > 0 {
		select {
		case o := <-p.outcomes:
			p.end(ctx, o.waiting, o.result)
		case m := <-p.questions.answers:
			if w, result := p.questions.answered(m); w != nil {
				p.end(ctx, w, result)
			}
		case now := <-patience.C:
			for _, w := range p.questions.expire(now.Add(runWait)) {
				p.end(ctx, w, unknown)
			}
		}
	}
	p.giveBackAll()
	p.working.Wait()
}

// giveBackToken gives back a token with which nothing has begun.
func giveBackToken(token *rate.Reservation, now time.Time) {
	if token != nil {
		token.CancelAt(now)
	}
}

// giveBack gives back all that waits.
func (p *placer) giveBackAll() {
	for _, w := range p.queue.takeIf(func(*waiting) bool { return true }) {
		w.giveBackAfter(holdMin)
	}
}
