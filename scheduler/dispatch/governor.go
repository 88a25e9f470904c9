package dispatch

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	// handRoom is how many triggers of each priority are pulled. Partitions share it, and each has
	// leastRoom. With those that come again, there are up to mostRooms times as many in hand.
	handRoom  = 64
	leastRoom = 8
	mostRooms = 4
	// signEvery is how often JetStream is told that those in hand are. After keepFor it is looked
	// whether one is still on the stream: a run that waits may be cancelled.
	signEvery = bus.AckWait / 3
	keepFor   = 30 * time.Second
	// comesAgain is how long after bus.AckWait a trigger is ready to be handed out again.
	comesAgain = 2 * time.Second
	// freeAfter is how long after an instance has said that a run has ended its slot is
	// free: when it has heard that this is stored.
	freeAfter = 5 * time.Millisecond
	// countEvery is the least time between two looks at how many runs are alive, and
	// countWait how long one may take.
	countEvery = 20 * time.Millisecond
	countWait  = time.Second
	// countAgain is for how long a partition that has not answered is not asked while others
	// answer: nothing begins while one is waited for.
	countAgain = 5 * time.Second
)

// governor decides when the runs of a group begin, and in which order. Its goroutine owns
// all of it.
type governor struct {
	g       *group
	limits  cluster.GroupLimits
	hand    hand
	pullers [3]*jet.Puller
	again   [3][]bool // by level and partition: some may come again, which are pulled also when the hand is full
	againAt time.Time // when that is so next, for all of them

	looking bool                 // whether those in hand are on their streams
	gone    chan map[*offer]bool // those that are not
	tokens  *rate.Limiter        // nil: there is no rate

	ended   chan placed     // what became of offers
	offers  int             // under way
	asking  map[poolKey]int // those, by kind
	working sync.WaitGroup

	// finished has instances with a run that has just ended. Some may be missing.
	finished chan string

	mu   sync.Mutex
	over map[bus.AttemptRef]bool // attempts that have just ended

	// live is how many runs are alive at most, by partition: by the last count, and those that
	// have begun since. At first it is not known, and may be as many as the limit. room is how
	// many more may begin. Neither is used without a limit.
	live    []live
	room    int
	counted time.Time
}

// live is how many runs of the group are alive in a partition at most. If it is silent, it is not
// asked again before an instant.
type live struct {
	runs  int
	again time.Time
}

// placed is what came of an offer.
type placed struct {
	*held
	result
	why   string
	token *rate.Reservation
}

// govern decides for the group while this node holds the lease for it, until ctx is
// done. Nodes without it wait: one alone knows how many runs it has begun.
func (g *group) govern(ctx context.Context, limits cluster.GroupLimits) {
	g.d.conn.Lead(ctx, "role.dispatch-"+g.name, g.d.node, g.d.log, func(ctx context.Context, lease *jet.Held) error {
		newGovernor(g, limits).run(ctx, lease)
		return nil
	})
}

func newGovernor(g *group, limits cluster.GroupLimits) *governor {
	v := &governor{g: g, limits: limits, ended: make(chan placed, maxOffers), gone: make(chan map[*offer]bool, 1), finished: make(chan string, maxOffers)}
	v.hand.full, v.asking, v.over = map[poolKey]time.Time{}, map[poolKey]int{}, map[bus.AttemptRef]bool{}
	for range g.d.conn.Trigs() {
		v.live = append(v.live, live{runs: limits.Limit})
	}
	for level := range v.again {
		v.again[level] = make([]bool, len(v.live))
	}
	for i, p := range job.Priorities {
		v.pullers[i] = g.d.conn.NewPuller(handRoom, g.d.log.With("executor_group", g.name), g.d.consumers(bus.ConsumerPriority(p, g.name))...)
	}
	if limits.Rate > 0 {
		// A tenth of a second's runs may begin at once, but none at the beginning: what an
		// earlier holder of the lease has just begun is not known.
		v.tokens = rate.NewLimiter(rate.Limit(limits.Rate), max(1, int(limits.Rate/10)))
		now := time.Now()
		v.tokens.ReserveN(now, v.tokens.Burst())
	}
	return v
}

// run begins what may begin, until ctx is done or the lease has ended; then it hands
// back what it has.
func (v *governor) run(ctx context.Context, lease *jet.Held) {
	defer v.stop(ctx)
	sub, err := v.g.d.conn.NC.Subscribe(bus.SubjectEvents(v.g.name), v.hearEvent)
	if err != nil {
		v.g.d.log.DebugContext(ctx, "ends of runs not heard", "error", err) // places are found some time later
	} else {
		defer func() { _ = sub.Unsubscribe() }()
	}
	tick := time.NewTicker(pullLook)
	defer tick.Stop()
	wake := time.NewTimer(0)
	defer wake.Stop()
	v.againAt = time.Now().Add(bus.AckWait + comesAgain) // what an earlier holder of the lease had in hand
	for ctx.Err() == nil && lease.Valid(time.Now()) {
		v.letGo()
		v.ask()
		if next := v.begin(ctx); next > 0 {
			wake.Reset(next)
		}
		select {
		case <-ctx.Done():
		case m := <-v.pullers[0].Inbox():
			v.take(ctx, 0, m)
		case m := <-v.pullers[1].Inbox():
			v.take(ctx, 1, m)
		case m := <-v.pullers[2].Inbox():
			v.take(ctx, 2, m)
		case p := <-v.ended:
			v.end(ctx, p)
		case instance := <-v.finished:
			v.free(instance)
		case gone := <-v.gone:
			v.looking = false
			v.hand.takeIf(func(w *held) bool { return gone[w.offer] })
		case <-wake.C:
		case now := <-tick.C:
			v.tick(ctx, now)
		}
	}
}

// ask pulls from each consumer what there is room for, and what comes again: all that has been
// delivered, and is neither in hand nor alive, counts as alive until it does. JetStream hands it
// out before what is new.
func (v *governor) ask() {
	room := max(handRoom/len(v.live), leastRoom)
	for level, p := range v.pullers {
		inHand := make([]int, len(v.live))
		for _, w := range v.hand.levels[level] {
			inHand[w.partition]++
		}
		for partition, n := range inHand {
			free := room - n
			if v.again[level][partition] && n < mostRooms*room {
				free = max(free, 1)
			}
			p.AskFrom(partition, free)
		}
	}
}

// take puts a trigger in hand.
func (v *governor) take(ctx context.Context, level int, m *nats.Msg) {
	if !v.pullers[level].Take(m) {
		return
	}
	o := v.g.newOffer(ctx, m)
	if o == nil {
		return
	}
	_, partition, ok := bus.ParseStream(o.at.Stream)
	if !ok || partition >= len(v.live) {
		return
	}
	if o.delivery == 1 {
		v.again[level][partition] = false
	}
	w := &held{offer: o, level: level, partition: partition, seen: o.came}
	for _, same := range v.hand.takeIf(func(other *held) bool { return other.at == o.at }) {
		w.tries, w.since, w.after = same.tries, same.since, same.after // it came again, as we went silent
	}
	v.hand.add(w)
}

// begin offers what may begin. It returns after how long to call it again if nothing
// happens before; 0 is never.
func (v *governor) begin(ctx context.Context) time.Duration {
	now := time.Now()
	for v.hand.count() > 0 && v.offers < maxOffers {
		if v.limits.Limit > 0 && v.room <= 0 {
			if since := now.Sub(v.counted); since < countEvery {
				return countEvery - since
			}
			if v.count(ctx); v.room <= 0 {
				return countEvery
			}
		}
		var token *rate.Reservation
		if v.tokens != nil {
			token = v.tokens.ReserveN(now, 1)
			if wait := token.DelayFrom(now); wait > 0 {
				token.CancelAt(now)
				return wait
			}
		}
		w := v.hand.pick(now, v.roomFor)
		if w == nil {
			if token != nil {
				token.CancelAt(now)
			}
			return v.hand.nextAt(now).Sub(now)
		}
		v.offer(ctx, w, token)
	}
	return 0
}

// roomFor reports whether there is a slot for a run of t, as far as is known. Where
// none is known one is asked for all the same: more at once would overtake each other.
func (v *governor) roomFor(t *bus.Trigger) bool {
	asking := v.asking[poolOf(t)]
	return asking == 0 || asking < v.g.free(t)
}

// offer has a trigger offered.
func (v *governor) offer(ctx context.Context, w *held, token *rate.Reservation) {
	v.occupy(w, 1)
	v.offers++
	v.asking[poolOf(w.t)]++
	w.began = time.Now()
	v.working.Go(func() { v.place(ctx, w, token) })
}

// occupy takes in that so many more runs of a trigger's partition are alive.
func (v *governor) occupy(w *held, runs int) {
	v.live[w.partition].runs += runs
	v.room -= runs
}

// count looks how many runs of the group are alive: those that have been delivered and
// are not in hand. Those on their way to here count as alive for the moment, and so do those of
// a partition that does not answer, until it does.
func (v *governor) count(ctx context.Context) {
	now := time.Now()
	var streams []string
	var asked []*live
	for p, stream := range v.g.d.conn.Trigs() {
		if l := &v.live[p]; !now.Before(l.again) {
			streams, asked = append(streams, stream), append(asked, l)
		}
	}
	asking, cancel := context.WithTimeout(ctx, countWait)
	defer cancel()
	found, errs := v.g.d.conn.Groups().Backlogs(asking, v.g.name, streams)
	v.counted = time.Now()
	v.letGo() // before those in hand are counted
	inHand := map[*live]int{}
	for _, level := range v.hand.levels {
		for _, w := range level {
			inHand[&v.live[w.partition]]++
		}
	}
	answered := slices.Contains(errs, nil) // else it is the connection, or all that is there
	for i, l := range asked {
		if errs[i] == nil {
			l.runs = found[i].Delivered - inHand[l]
			continue
		}
		v.g.d.log.DebugContext(ctx, "live runs not counted", "executor_group", v.g.name, "error", errs[i])
		if answered {
			l.again = v.counted.Add(countAgain)
		}
	}
	v.room = v.limits.Limit
	for _, l := range v.live {
		v.room -= l.runs
	}
}

// place offers a trigger once to each instance that may have it.
func (v *governor) place(ctx context.Context, w *held, token *rate.Reservation) {
	p := placed{held: w, token: token}
	defer func() { v.ended <- p }() // there is room for all offers
	switch {
	case w.gone(ctx):
		p.result = settled
		return
	case !w.clear && w.judge(ctx), w.tooLate(ctx):
		p.result = settled
		return
	}
	p.result = w.round(ctx)
	switch p.result {
	case busy, nobody, unable:
		p.why = w.why(p.result)
		if !w.since.IsZero() && time.Since(w.since) >= patience {
			v.say(ctx, p)
		}
	case taken, unknown, settled, parked:
	}
}

// say tells the history why a run that may begin does not: the first time, and each time
// that it has taken twice as long.
func (v *governor) say(ctx context.Context, p placed) {
	if bits.OnesCount(uint(p.tries)) == 1 {
		ev := bus.EventOf(p.t, bus.EventHeld, time.Now())
		ev.Delivery, ev.Text = p.tries, p.why
		_ = p.publish(ctx, ev) // publish has logged it; the next one makes up for it
	}
}

// end takes in what came of an offer.
func (v *governor) end(ctx context.Context, p placed) {
	v.offers--
	now, pool := time.Now(), poolOf(p.t)
	if v.asking[pool]--; v.asking[pool] == 0 {
		delete(v.asking, pool)
	}
	if p.result != taken && p.result != unknown {
		if p.result != settled { // it may have been found alive, which the next count tells
			v.occupy(p.held, -1)
		}
		v.hand.picks-- // its level's turn is not over
		if p.token != nil {
			p.token.CancelAt(now)
		}
	}
	switch p.result {
	case taken, unknown:
		v.g.d.metrics.outcome(map[bool]string{true: outcomeTaken, false: outcomeUnknown}[p.result == taken])
	case busy, nobody, unable:
		if ctx.Err() != nil {
			p.handBackFor(holdMin)
			return
		}
		if p.tries++; p.since.IsZero() {
			p.since = now
		}
		if p.result == busy && !p.alone(now) { // others need no instance of their own
			v.hand.full[pool] = now.Add(lookAgain)
		} else {
			p.after = now.Add(holdMin)
		}
		v.hand.add(p.held)
	case settled, parked:
	}
}

// hearEvent takes in what executors say of runs. It must not wait.
func (v *governor) hearEvent(m *nats.Msg) {
	e, err := v.g.d.conn.Events().Decode(m.Subject, m.Header, m.Data, time.Now())
	if err != nil || e.Kind != bus.EventFinished {
		return // what is forged or damaged ingest counts
	}
	v.mu.Lock()
	v.over[e.Ref()] = true
	v.mu.Unlock()
	select {
	case v.finished <- e.Instance:
	default:
	}
}

// letGo takes out of the hand what has ended there: a run that was called off, or one that came again
// and is alive elsewhere. JetStream counts it as delivered no longer, so it would make room for another.
func (v *governor) letGo() {
	v.mu.Lock()
	over := v.over
	v.over = map[bus.AttemptRef]bool{}
	v.mu.Unlock()
	if len(over) > 0 {
		v.hand.takeIf(func(w *held) bool { return over[w.t.Ref()] }) // if it is there all the same, it comes again
	}
}

// free has an instance asked soon that was busy.
func (v *governor) free(instance string) {
	soon := time.Now().Add(freeAfter)
	v.g.freed(instance, soon)
	for pool, until := range v.hand.full {
		if until.After(soon) {
			v.hand.full[pool] = soon
		}
	}
}

// tick keeps what is in hand, and lets go what has been there for long, or is too late.
func (v *governor) tick(ctx context.Context, now time.Time) {
	for _, p := range v.pullers {
		p.Look(now)
	}
	for _, level := range v.hand.levels {
		for _, w := range level {
			if now.Sub(w.signed) >= signEvery {
				w.signed = now
				v.g.answer(w.m, "+WPI")
			}
		}
	}
	v.look(ctx, now)
	if now.After(v.againAt) {
		v.againAt = now.Add(keepFor)
		for level := range v.again {
			for partition := range v.again[level] {
				v.again[level][partition] = true
			}
		}
	}
	overdue := func(w *held) bool { return v.offers < maxOffers && late(w.t, now) }
	for _, w := range v.hand.takeIf(overdue) { // they need neither room nor a token
		v.hand.picks++ // which end takes back
		v.offer(ctx, w, nil)
	}
}

// look finds out which of those that have been in hand for long are not on their streams any more.
func (v *governor) look(ctx context.Context, now time.Time) {
	if v.looking {
		return
	}
	due := map[string][]*held{}
	for _, level := range v.hand.levels {
		for _, w := range level {
			if now.Sub(w.seen) > keepFor {
				w.seen = now
				due[w.at.Stream] = append(due[w.at.Stream], w)
			}
		}
	}
	if v.looking = len(due) > 0; !v.looking {
		return
	}
	v.working.Go(func() {
		gone := map[*offer]bool{}
		for stream, list := range due {
			for _, w := range list {
				_, err := v.g.d.conn.At(ctx, stream, w.at.Seq)
				absent := errors.Is(err, jet.ErrNoMessage)
				if err != nil && !absent {
					break // it is away
				}
				gone[w.offer] = absent
			}
		}
		v.gone <- gone // there is room for it
	})
}

// stop hands back what is in hand, or comes in from offers that are under way.
func (v *governor) stop(ctx context.Context) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	for level, p := range v.pullers {
		for _, m := range p.Drain(last) {
			v.take(ctx, level, m)
		}
	}
	for _, w := range v.hand.takeIf(func(*held) bool { return true }) {
		w.handBackFor(holdMin)
	}
	for v.offers > 0 {
		v.end(ctx, <-v.ended)
	}
	for _, w := range v.hand.takeIf(func(*held) bool { return true }) {
		w.handBackFor(holdMin)
	}
	v.working.Wait()
}
