package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
)

// ownership is one shard's stay with this node, from the wish to own it until its lease is given
// back. Any goroutine may use it; the shard's machine is its [takeover]'s, then its [laneShard]'s.
type ownership struct {
	s      *Scheduler
	shard  int
	lane   *lane
	cancel context.CancelFunc

	lease  atomic.Pointer[jet.Lease] // nil unless held
	ready  atomic.Bool               // the lane has the shard
	failed atomic.Bool               // it ended otherwise than by an orderly hand-over
	parked atomic.Bool               // the same, because the shard cannot go on
	cursor atomic.Uint64             // sequence of the shard's cursor: a leader of TRIG that lacks it was deposed

	// What the lane tells those who serve the shard:
	needEvents chan struct{} // closed when the machine needs events
	revision   atomic.Uint64 // of JOBS up to which the machine has the versions
	advanced   chan struct{} // has something when revision has grown
	passed     chan uint64   // has the newest barrier that the machine has passed
}

func newOwnership(s *Scheduler, number int, cancel context.CancelFunc) *ownership {
	return &ownership{
		s: s, shard: number, lane: s.lanes[number%len(s.lanes)], cancel: cancel,
		needEvents: make(chan struct{}), advanced: make(chan struct{}, 1), passed: make(chan uint64, 1),
	}
}

// held returns the lease, or nil.
func (o *ownership) held() *jet.Lease { return o.lease.Load() }

// valid reports whether the node may still believe to own the shard.
func (o *ownership) valid(now time.Time) bool {
	h := o.held()
	return h != nil && h.Valid(now)
}

// lose ends the ownership because somebody else has the shard, or may have. Several
// may notice.
func (o *ownership) lose(why string, err error) {
	if o.held() == nil || o.failed.Swap(true) {
		return
	}
	o.s.shards.lose(o.shard, why, err)
	o.s.metrics.lost.Inc()
	o.cancel()
}

// parkFor is how long a parked shard is left alone. Only a person can change what is wrong: the
// limits of NATS, the job, or the version of the server.
const parkFor = 20 * time.Second

// park ends the ownership because the shard cannot go on: NATS refuses for good what it is to store, or a
// newer server has saved a job. It is tried again after a while. All other shards go on.
func (o *ownership) park(why string) {
	if o.held() == nil || o.failed.Swap(true) {
		return
	}
	o.parked.Store(true)
	o.s.shards.park(o.shard, why)
	o.s.log.Error("shard parked: its jobs do not fire", "shard", o.shard, "again_in", parkFor, "reason", why)
	o.cancel()
}

// pauseAfter returns how long the node leaves the shard alone after a failure.
func (o *ownership) pauseAfter() time.Duration {
	if o.parked.Load() {
		return parkFor
	}
	return failurePause
}

// run acquires the shard, takes it over by t, serves it until ctx is done, and gives it
// back. slots bounds how many are taken over at once. It returns false when something
// went wrong with the shard.
func (o *ownership) run(ctx context.Context, t *takeover, slots chan struct{}) bool {
	defer t.close()
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return true
	}
	free := sync.OnceFunc(func() { <-slots })
	defer free()
	held, err := o.s.conn.AcquireLease(ctx, fmt.Sprintf("shard.%d", o.shard), o.s.cfg.Node, nil)
	if err != nil {
		if errors.Is(err, job.ErrConflict) || ctx.Err() != nil {
			return true // somebody was faster
		}
		o.s.log.WarnContext(ctx, "shard not acquired", "shard", o.shard, "error", err)
		return false
	}
	o.lease.Store(held)
	defer o.release(ctx)
	began := time.Now()
	machine, err := t.run(ctx)
	if err != nil {
		if newer, ok := errors.AsType[*cluster.FormatError](err); ok {
			o.park(newer.Error())
		} else if ctx.Err() == nil {
			o.s.log.WarnContext(ctx, "shard not taken over", "shard", o.shard, "error", err)
			o.failed.Store(true)
		}
		return !o.failed.Load()
	}
	var work sync.WaitGroup
	defer work.Wait()
	background := func(do func(context.Context)) { work.Go(func() { do(ctx) }) }
	defer o.lane.abandon(ctx, o)
	if o.s.cluster.await(ctx) && o.lane.adopt(ctx, newLaneShard(o, machine, background), t) {
		free()
		o.s.metrics.takeover.Observe(time.Since(began).Seconds())
		o.s.log.DebugContext(ctx, "shard owned", "shard", o.shard, "epoch", held.Epoch)
		o.serve(ctx)
	}
	return !o.failed.Load()
}

// release gives the lease back, so that the next owner need not wait for its end.
func (o *ownership) release(ctx context.Context) {
	held := o.lease.Swap(nil)
	if !held.Valid(time.Now()) {
		return
	}
	// The ownership's context is done, but the next owner waits for this.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := held.Release(ctx); err != nil {
		o.s.log.WarnContext(ctx, "shard lease not released", "shard", o.shard, "error", err)
		return
	}
	o.s.log.DebugContext(ctx, "shard released", "shard", o.shard)
}

// serve feeds the shard's machine until ctx is done.
func (o *ownership) serve(ctx context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return o.feedEvents(ctx) })
	g.Go(func() error { return (&orphans{o, map[bus.AttemptRef]time.Time{}}).end(ctx) })
	g.Go(func() error { return newRequests(o).serve(ctx) })
	if err := g.Wait(); err != nil && ctx.Err() == nil {
		o.lose("it cannot be served", err)
	}
}

// post lets the lane call f with the shard, later and if it still has it. It returns false when it
// will not, because ctx is done or the lane has stopped.
func (o *ownership) post(ctx context.Context, f func(*laneShard)) bool {
	return o.lane.post(ctx, func() {
		if sh := o.lane.of[o]; sh != nil {
			f(sh)
		}
	})
}

// askShard is ask of the lane that has the shard. It returns false also when the node does not own
// the shard any more.
func askShard[T any](ctx context.Context, o *ownership, f func(*laneShard) T) (answer T, ok bool) {
	type reply struct {
		answer T
		owned  bool
	}
	r, ok := ask(ctx, o.lane, func() (r reply) {
		sh := o.lane.of[o]
		if r.owned = sh != nil; r.owned {
			r.answer = f(sh)
		}
		return r
	})
	return r.answer, ok && r.owned
}

// deletions is how many deferred items of a shard are deleted at once.
const deletions = 16

// deleteItems deletes deferred items, and returns those that are gone.
func (o *ownership) deleteItems(ctx context.Context, seqs []uint64) map[uint64]bool {
	var mu sync.Mutex
	deleted := map[uint64]bool{}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(deletions)
	for _, seq := range seqs {
		g.Go(func() error {
			if err := o.s.conn.Remove(ctx, o.s.conn.TrigOf(o.shard), seq); err != nil {
				return err // the others would wait in vain, too
			}
			mu.Lock()
			defer mu.Unlock()
			deleted[seq] = true
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		o.s.log.DebugContext(ctx, "deferred items not deleted yet", "shard", o.shard, "error", err)
	}
	return deleted
}

// deleteReleased deletes deferred items that have had their effect. Those for which
// that does not work out stay listed in the cursor, and are tried again a second later.
func (o *ownership) deleteReleased(ctx context.Context, seqs []uint64) (done func(*laneShard)) {
	deleted := o.deleteItems(ctx, seqs)
	if wait := (pause.Backoff{Least: time.Second, Most: time.Second, Jitter: true}); len(deleted) < len(seqs) && wait.Wait(ctx) != nil {
		return nil
	}
	return func(sh *laneShard) {
		sh.machine.Deleted(deleted)
		sh.submitDeletions()
		sh.sendLetters() // which may have waited for this
	}
}

// feedEvents delivers the events of runs to the machine once it needs them.
func (o *ownership) feedEvents(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-o.needEvents:
	}
	from, ok := askShard(ctx, o, func(sh *laneShard) uint64 { return sh.machine.Events.Seq() + 1 })
	if !ok {
		return nil
	}
	o.s.eventsOf(o.shard).subscribe(ctx, o, from)
	return nil
}

// applyEvent passes an event, or a barrier, to the machine.
func (o *ownership) applyEvent(ctx context.Context, m *jet.Stored) {
	if bus.IsBarrier(m.Subject) {
		o.post(ctx, func(sh *laneShard) {
			sh.machine.Events.Skip(m.Seq)
			sh.passBarrier(m.Seq)
		})
		return
	}
	if bus.IsPing(m.Header) {
		if p, err := o.s.conn.Tokens().DecodePing(m.Subject, m.Header, m.Data, o.s.conn.Cluster().Shards); err == nil { // else as below
			o.post(ctx, func(sh *laneShard) { sh.machine.Ping(p, m.Seq, m.At.UnixMilli()) })
		}
		return
	}
	for e, err := range o.s.conn.Events().Decode(m.Subject, m.Header, m.Data, m.At) {
		if err == nil { // else ingest counts and logs it, once for the cluster
			o.post(ctx, func(sh *laneShard) { sh.machine.Event(e, m.Seq, m.At.UnixMilli()) })
		}
	}
}

// applyEnds passes those ends in a pack that are of the shard to the machine.
func (o *ownership) applyEnds(ctx context.Context, all []*bus.Event, m *jet.Stored) {
	o.post(ctx, func(sh *laneShard) { sh.machine.Ends(all, m.Seq, m.At.UnixMilli()) })
}
