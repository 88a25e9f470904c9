package scheduler

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

const (
	// longestNap bounds a lane's sleep: should the wall clock be set forward, what is
	// due by it is noticed this soon.
	longestNap = 500 * time.Millisecond
	// grid is the grain of a lane's wake-ups. What is due within one grain shares a
	// batch.
	grid = 5 * time.Millisecond
	// lead is how long before the instant at which it is due a batch is decided and
	// staged with the server, so that at the instant itself it only has to be
	// committed. What a job owes at the instant no longer changes then: a version that
	// is saved later than that is one heard late.
	lead = 20 * time.Millisecond
	// enoughRoom is the least room in a batch that is worth another shard.
	enoughRoom = 16
)

// lane is a goroutine that owns the machines of some of the node's shards, and
// commits for them, one batch at a time.
type lane struct {
	s       *Scheduler
	inbox   chan func()
	stopped chan struct{}

	// Of the lane's goroutine:
	shards []*laneShard
	of     map[*ownership]*laneShard // the same
	next   int                       // index of the shard that steps first
}

func newLane(s *Scheduler) *lane {
	return &lane{s: s, inbox: make(chan func(), 1024), stopped: make(chan struct{}), of: map[*ownership]*laneShard{}}
}

// run serves the lane's shards until ctx is done.
func (l *lane) run(ctx context.Context) {
	defer close(l.stopped)
	nap := time.NewTimer(0)
	defer nap.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case f := <-l.inbox:
			f()
		case <-nap.C:
		}
		// Also between two batches of a long catching up: a request, or a shard's
		// hand-over, need not wait for its end.
		l.drain()
		l.step(ctx)
		nap.Reset(l.nap())
	}
	// A commit may have been abandoned: such a machine can be told nothing any more.
	l.removeAll()
	l.drain()
	l.removeAll() // what was adopted in the meantime
}

// drain takes what else is waiting, so that a flood of it costs one step.
func (l *lane) drain() {
	for range cap(l.inbox) {
		select {
		case f := <-l.inbox:
			f()
		default:
			return
		}
	}
}

// nap returns how long there will be nothing to do.
func (l *lane) nap() time.Duration {
	now, trusted := l.s.clock.now()
	if !trusted {
		return longestNap // it is measured again soon
	}
	at, ok := l.due(now)
	if !ok {
		return longestNap
	}
	return min(max(at.Add(-lead).Sub(now), 0), longestNap)
}

// applyRoom passes the room in the stream to the machines.
func (l *lane) applyRoom(now time.Time) {
	if len(l.shards) == 0 {
		return
	}
	room := l.s.rooms.of(l.shards[0].shard).get(time.Now()) // a lane's shards are of one partition
	for _, sh := range l.shards {
		sh.machine.PutRoom(room, now.UnixMilli())
	}
}

// due returns the instant of the lane's next batch, and whether there is one in sight:
// now, if something is due already.
func (l *lane) due(now time.Time) (at time.Time, ok bool) {
	var first int64
	clock, ms := time.Now(), now.UnixMilli()
	for _, sh := range l.shards {
		next, waits := sh.machine.NextAt(ms)
		if waits && (!ok || next < first) && sh.valid(clock) { // else its renewal, or its end, is under way
			first, ok = next, true
		}
	}
	if at = time.UnixMilli(first); !ok || !at.After(now) {
		return now, ok
	}
	if up := at.Truncate(grid); up.Before(at) {
		at = up.Add(grid)
	}
	return at, true
}

// step decides what is due by now, or, when that is nothing, what will be so in a
// moment, and commits as much of it as one batch holds.
func (l *lane) step(ctx context.Context) {
	now, trusted := l.s.clock.now()
	read := time.Now()
	if !trusted {
		return
	}
	l.applyRoom(now)
	for _, sh := range l.shards {
		sh.checkPosition(now)
	}
	at, ok := l.due(now)
	if ctx.Err() != nil || !ok || at.Sub(now) > lead {
		return
	}
	batches := l.collect(at)
	lost, err := l.s.commits.commit(ctx, read.Add(at.Sub(now)), batches)
	if err != nil {
		return // the lane stops; successors find out what was stored
	}
	for _, p := range lost { // unless it is parked
		p.lose("another owner has committed, or the lease ended", nil)
		l.remove(p.ownership)
	}
	for _, p := range batches {
		if sh := l.of[p.ownership]; sh != nil {
			if !sh.ahead {
				l.s.shards.unpark(p.shard)
			}
			sh.answer(p.batch)
			sh.afterCommit(ctx, p.batch)
			sh.submitDeletions()
		}
	}
}

// collect lets shards decide what is due at an instant until a batch is full. A shard
// that found too little room in it is the first to decide for the next one.
func (l *lane) collect(due time.Time) []pending {
	var batches []pending
	most := l.s.commits.room()
	room := most
	ms := due.UnixMilli()
	first, hungry := l.next, -1
	var stuck *laneShard
	standstills := l.s.clock.standstills()
	for i := range l.shards {
		at := (first + i) % len(l.shards)
		sh := l.shards[at]
		if !sh.due(ms) || !sh.valid(time.Now()) {
			continue
		}
		for _, st := range standstills {
			sh.machine.StoodStill(st)
		}
		if b := sh.machine.Step(ms, room); b != nil {
			batches = append(batches, pending{sh.ownership, sh.machine, b})
			room -= len(b.Messages)
			l.next = at + 1
		} else if hungry < 0 && sh.due(ms) {
			hungry = at
			if room == most && most < bus.MaxBatch {
				stuck = sh
			}
		}
		sh.startEvents()
		if room < enoughRoom {
			break
		}
	}
	if hungry >= 0 {
		l.next = hungry
	}
	if stuck != nil {
		stuck.park(fmt.Sprintf("NATS takes no more than %d messages in a batch, and the shard's next step needs more; set batch.max_msgs of NATS to %d", most, bus.MaxBatch))
		l.remove(stuck.ownership)
	}
	return batches
}

// adopt gives a shard to the lane, and with it what its takeover has read. It returns false when ctx
// is done; the lane may have the shard all the same, until abandon.
func (l *lane) adopt(ctx context.Context, sh *laneShard, t *takeover) bool {
	return l.call(ctx, func() {
		l.s.cluster.apply(sh.machine)
		if t.standstill != "" {
			sh.machine.StoodStillUntil(l.s.clock.wallOf(time.Now()).UnixMilli(), t.standstill)
		}
		o := sh.ownership
		newer := t.jobs.passTo(sh.machine, func(p shard.Prepared) {
			o.post(ctx, func(sh *laneShard) {
				sh.machine.Put(&p)
				sh.startEvents() // which a job may need before it fires
				sh.publishRevision()
			})
		}, func(newer error) {
			o.post(ctx, func(sh *laneShard) {
				sh.park(newer.Error())
				l.remove(o)
			})
		})
		if newer != nil {
			sh.park(newer.Error())
			return
		}
		sh.publishRevision()
		l.add(sh)
		sh.startEvents()
		sh.submitDeletions() // what the predecessor has left
		sh.storeKeys()       // likewise
		sh.sendLetters()
	})
}

func (l *lane) add(sh *laneShard) {
	l.shards = append(l.shards, sh)
	l.of[sh.ownership] = sh
	sh.ready.Store(true)
}

// abandon takes a shard from the lane, if that has it, and waits until that is done.
func (l *lane) abandon(ctx context.Context, o *ownership) {
	// The shard's context is done; the lane has an end of its own.
	l.call(context.WithoutCancel(ctx), func() { l.remove(o) })
}

// remove forgets a shard. Askers for runs that were not committed hear so.
func (l *lane) remove(o *ownership) {
	sh := l.of[o]
	if sh == nil {
		return
	}
	delete(l.of, o)
	l.shards = slices.DeleteFunc(l.shards, func(other *laneShard) bool { return other == sh })
	o.ready.Store(false)
	sh.refuseAskers()
}

func (l *lane) removeAll() {
	for _, sh := range slices.Clone(l.shards) {
		l.remove(sh.ownership)
	}
}

// post lets the lane's goroutine call f, later. It returns false when it will not,
// because ctx is done or the lane has stopped.
func (l *lane) post(ctx context.Context, f func()) bool {
	select {
	case l.inbox <- f:
		return true
	case <-ctx.Done():
	case <-l.stopped:
	}
	return false
}

// call is post that waits until f has returned. When it returns false, f may still run: it
// must write nothing that the caller reads. What the caller is to know, it asks for.
func (l *lane) call(ctx context.Context, f func()) bool {
	_, ok := ask(ctx, l, func() struct{} { f(); return struct{}{} })
	return ok
}

// ask has the lane's goroutine call f, and returns what f returns. It returns false when
// ctx is done or the lane has stopped first. The lane may call f later all the same, but
// then nobody sees the answer.
func ask[T any](ctx context.Context, l *lane, f func() T) (answer T, ok bool) {
	answers := make(chan T, 1)
	if !l.post(ctx, func() { answers <- f() }) {
		return answer, false
	}
	select {
	case answer = <-answers:
		return answer, true
	case <-ctx.Done():
	case <-l.stopped:
	}
	return answer, false
}
