package xxljob

import (
	"context"
	"errors"
	"math"
	"syscall"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
)

const (
	// disbelieved is how long a run lasts that its executor neither reports nor credibly denies, without a
	// new line in its log: XXL-JOB's own limit for runs whose executor is away.
	disbelieved = 10 * time.Minute
	// sharedAsks is how often executors behind one address are asked before a run counts as forgotten:
	// each time another one may answer.
	sharedAsks = 64
	// unusedJob is the number of no job.
	unusedJob = math.MaxInt32
	// probeEvery is how often an executor is asked about it that has said of no job that it is idle.
	probeEvery = time.Minute
)

// evidence is what an executor has shown of itself. XXL-JOB's admin seldom asks whether a job is idle, so
// some executors always say the same. Each of the two answers is believed of one that gives both.
type evidence struct {
	saidIdle, saidBusy bool
	probed             time.Time // when it was last asked about a job that it cannot have
	// shared says that several executors answer at the address: busy is believed, and idle is not.
	shared bool
	// refused says that nobody listened at the last call; restarted is when somebody did after that.
	refused   bool
	restarted time.Time
}

// complete reports whether its answers to idleBeat can be believed.
func (e evidence) complete() bool { return e.saidIdle && e.saidBusy && !e.shared }

// evidence returns what the executor has shown up to now.
func (i *instance) evidence() evidence {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.shown
}

// idleAt asks the executor whether it has no run of a job, and notes what it answers. It is sure if the
// answer can be believed.
func (i *instance) idleAt(ctx context.Context, jobID int32) (idle, sure bool, err error) {
	idle, err = i.b.peers.Idle(ctx, i.target(), jobID)
	if err != nil {
		return false, false, err
	}
	i.mu.Lock()
	news := !idle && jobID != unusedJob && !i.shown.saidBusy
	if idle {
		i.shown.saidIdle = true
	} else if jobID != unusedJob {
		i.shown.saidBusy = true
	}
	sure = idle && i.shown.saidBusy && !i.shown.shared || !idle && i.shown.saidIdle
	i.mu.Unlock()
	if news { // the bridge that takes the executor over must believe it, too
		i.b.work.Go(func() error {
			if err := i.held.change(ctx, func(is *state.Instance) { is.SaysBusy = true }); err != nil && ctx.Err() == nil {
				i.log.DebugContext(ctx, "instance not stored", "error", err)
			}
			return nil
		})
	}
	return idle, sure, nil
}

// busyAnywhere asks all executors that may answer at the address whether one has a run of a job.
func (i *instance) busyAnywhere(ctx context.Context, jobID int32) bool {
	to := i.target()
	to.Fresh = true
	for range sharedAsks {
		if idle, err := i.b.peers.Idle(ctx, to, jobID); err == nil && !idle {
			i.share(ctx)
			return true
		}
		if ctx.Err() != nil {
			return true
		}
	}
	return false
}

// share notes that several executors answer at the address.
func (i *instance) share(ctx context.Context) {
	i.mu.Lock()
	known := i.shown.shared
	i.shown.shared = true
	i.mu.Unlock()
	if !known {
		i.log.WarnContext(ctx, "several executors answer at one address: kills and logs may reach the wrong one, and lost runs end by their timeout only; have each register an address of its own", "address", i.target().Address)
	}
}

// called records whether somebody listened at a call.
func (e *evidence) called(err error, now time.Time) {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		e.refused = true
	case err == nil && e.refused:
		e.refused, e.restarted = false, now
	}
}
