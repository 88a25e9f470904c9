package xxljob

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// minUnseen is how often in a row, a second apart, an executor has to know nothing of a run before it
// counts as not begun: the call that begins it may still be on its way.
const minUnseen = 4

// clear finds out whether an executor has begun a run. That is not known when the bridge that handed
// the run over has died, or when no answer came.
//
// An executor refuses a number twice only while the first one is queued, so handing it over again
// could do the run twice. But it says whether the job is busy, and only this run can be the reason,
// as it never has two of a job. And it has the log of each run that it has begun.
func (i *instance) clear(ctx context.Context, r *run) func() bool {
	idle, err := i.b.peers.Idle(ctx, i.target(), r.kept.JobID)
	if err != nil {
		return carryOn // look finds out whether it is gone
	}
	if !idle {
		return func() bool { r.doubt = false; return false }
	}
	log, err := i.b.peers.Log(ctx, i.target(), r.kept.LogID, r.kept.Started, 1)
	if err != nil {
		return carryOn
	}
	return func() bool {
		if !log.Missing { // it has run: its callback is to come
			r.doubt = false
			return false
		}
		if r.unseen++; r.unseen < minUnseen || r.kept.Ending != nil {
			return false
		}
		if r.kept.Trigger.Delivery == job.AtMostOnce {
			i.conclude(ctx, r, end{status: job.StatusLost, message: reason.WentSilent.With(i.name), unheard: true})
			return true
		}
		i.log.InfoContext(ctx, "the executor knows nothing of the run, which is given back", "run_id", r.kept.Trigger.RunID)
		i.giveBack(ctx, r)
		return true
	}
}

// listenFor asks an executor whether it still has a run. One that has not, and does not report it for
// long, has forgotten it: it was restarted, or cannot report.
func (i *instance) listenFor(ctx context.Context, r *run) func() bool {
	idle, err := i.b.peers.Idle(ctx, i.target(), r.kept.JobID)
	if err != nil {
		return carryOn
	}
	now := time.Now()
	return func() bool {
		switch {
		case !idle:
			r.idle = time.Time{}
			return false
		case r.idle.IsZero():
			r.idle = now
		}
		since := r.idle
		if heard := i.b.settled(); heard.After(since) { // it could not report before
			since = heard
		}
		if now.Sub(since) < i.b.cfg.Silence {
			return false
		}
		i.giveUp(ctx, r, giveUp{why: "its executor has no such run any more, and did not report its end within " + job.Duration(i.b.cfg.Silence).String()})
		return true
	}
}

// settled returns since when NATS has answered without a gap.
func (b *Bridge) settled() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.table.settled.IsZero() || time.Since(b.table.polled) > gap {
		return time.Now()
	}
	return b.table.settled
}

// lookBack finds out whether another bridge has taken the callback of a run, which it may while it
// does not reach us. Ours is the acknowledgement then.
func (i *instance) lookBack(ctx context.Context, r *run) func() bool {
	kept, _, err := i.b.store.Run(ctx, i.group.name, i.name, r.kept.LogID)
	if err != nil || !kept.Ended {
		return carryOn
	}
	return func() bool {
		i.lastLines(ctx, r)
		i.settleEnd(r)
		return true
	}
}
