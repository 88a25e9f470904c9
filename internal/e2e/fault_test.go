//go:build unix

package e2e

import (
	"context"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"github.com/carillon-scheduler/carillon/internal/chserver"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// fault is something that was done to a process.
type fault struct {
	kind   string // kill, freeze, cut, silence, wipe, fill or clock
	target string
	at     time.Time
	lasted time.Duration
}

// chaos does harm to a cluster. Each kind of process, the network and the clocks have a
// lane of their own, which does one harm at a time, so that harm of different kinds overlaps.
type chaos struct {
	c    *system
	seed uint64
	// storeAway is how long the store's server is down, once.
	storeAway time.Duration
	// history is the ClickHouse that has the history; nil when it is a file.
	history *chserver.Server
	// edit changes a job, wish asks for a run, twin has a trigger handed out twice, and answer
	// answers what steps wait for, while everything may be down.
	edit, wish, twin, answer func(context.Context, *rand.Rand) error
	// routes is held by whoever needs all NATS servers to reach each other, or keeps them
	// from it.
	routes sync.Mutex

	mu     sync.Mutex
	faults []fault
	edits  int // that were saved
}

// run injects faults until ctx is done, and returns when all are healed.
func (x *chaos) run(ctx context.Context) {
	var lanes sync.WaitGroup
	lanes.Go(func() { x.harmServers(ctx, x.random(1)) })
	lanes.Go(func() { x.harmExecutors(ctx, x.random(2)) })
	lanes.Go(func() { x.harmNATS(ctx, x.random(3)) })
	lanes.Go(func() { x.harmLinks(ctx, x.random(8)) })
	if len(x.c.clocks) > 0 {
		lanes.Go(func() { x.harmClocks(ctx, x.random(9)) })
	}
	if x.history != nil {
		lanes.Go(func() { x.harmHistory(ctx, x.random(7)) })
	}
	lanes.Go(func() { x.edits = often(ctx, x.random(4), 500*time.Millisecond, 2*time.Second, x.edit) })
	lanes.Go(func() { often(ctx, x.random(5), 200*time.Millisecond, time.Second, x.wish) })
	lanes.Go(func() { often(ctx, x.random(6), 100*time.Millisecond, time.Second, x.twin) })
	lanes.Go(func() { often(ctx, x.random(10), 100*time.Millisecond, time.Second, x.answer) })
	lanes.Wait()
}

func (x *chaos) random(lane uint64) *rand.Rand { return rand.New(rand.NewPCG(x.seed, lane)) }

// harmServers begins with the outage of the store.
func (x *chaos) harmServers(ctx context.Context, r *rand.Rand) {
	pause(ctx, time.Second)
	x.kill(ctx, x.c.servers[0], x.storeAway)
	for pause(ctx, between(r, time.Second, 4*time.Second)) {
		target := x.c.servers[r.IntN(len(x.c.servers))]
		if r.IntN(2) == 0 {
			x.kill(ctx, target, between(r, 0, 6*time.Second))
		} else {
			x.freeze(ctx, target, between(r, 6*time.Second, 12*time.Second))
		}
	}
}

func (x *chaos) harmExecutors(ctx context.Context, r *rand.Rand) {
	for pause(ctx, between(r, time.Second, 4*time.Second)) {
		target := x.c.executors[r.IntN(len(x.c.executors))]
		if r.IntN(2) == 0 {
			x.kill(ctx, target, between(r, 0, 4*time.Second))
		} else { // longer than AckWait at times
			x.freeze(ctx, target, between(r, 6*time.Second, 20*time.Second))
		}
	}
}

// harmNATS harms one server at a time, and the next when the streams are whole. Of several
// servers the first to be harmed loses its streams, and the second the room for them.
func (x *chaos) harmNATS(ctx context.Context, r *rand.Rand) {
	alone := len(x.c.nats) == 1
	n := 0
	for pause(ctx, between(r, 3*time.Second, 8*time.Second)) {
		if x.c.whole() != nil {
			continue
		}
		i := r.IntN(len(x.c.nats))
		target, disk := x.c.nats[i], x.c.disks[i]
		switch at := r.IntN(8); {
		case !alone && (n == 0 || at == 0):
			x.wipe(target, disk)
		case !alone && (n == 1 || at == 1) && disk.small():
			x.fill(ctx, target, disk, between(r, time.Second, 6*time.Second))
		case at <= 5:
			x.kill(ctx, target, between(r, 0, 4*time.Second))
		default:
			x.freeze(ctx, target, between(r, 6*time.Second, 9*time.Second))
		}
		n++
	}
}

// often is what happens meanwhile, at intervals between two. It returns how often that
// went well: what is refused, or of which the fate is not known, is its own affair.
func often(ctx context.Context, r *rand.Rand, least, most time.Duration, do func(context.Context, *rand.Rand) error) (well int) {
	for pause(ctx, between(r, least, most)) {
		patience, cancel := context.WithTimeout(ctx, askFor)
		if do(patience, r) == nil {
			well++
		}
		cancel()
	}
	return well
}

// askFor is how long people wait for an answer: less than servers are frozen.
const askFor = 3 * time.Second

// kill kills a process and starts it again after the time that it is away.
func (x *chaos) kill(ctx context.Context, p *processtest.Process, away time.Duration) {
	at := time.Now()
	p.Kill()
	pause(ctx, away)
	if err := p.Start(); err != nil {
		x.c.t.Error(err)
	}
	x.note(fault{"kill", p.Name, at, time.Since(at)})
}

// freeze stops a process and lets it go on, with no idea of the time that has passed.
func (x *chaos) freeze(ctx context.Context, p *processtest.Process, away time.Duration) {
	at := time.Now()
	p.Signal(syscall.SIGSTOP)
	pause(ctx, away)
	p.Signal(syscall.SIGCONT)
	x.note(fault{"freeze", p.Name, at, time.Since(at)})
}

func (x *chaos) note(f fault) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.faults = append(x.faults, f)
}

// pause returns true after d, or false when ctx is done.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)))
}
