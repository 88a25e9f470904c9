package xxljob

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/peer"
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
	idle, sure, err := i.idleAt(ctx, r.kept.JobID)
	if errors.Is(err, peer.ErrNotSent) || err != nil && i.evidence().saidIdle {
		return carryOn // look finds out whether it is gone
	}
	if err == nil && !idle && sure {
		return func() bool { r.doubt, r.busy = false, true; return false }
	}
	log, err := i.b.peers.Log(ctx, i.target(), r.kept.LogID, r.kept.Started, 1)
	if err != nil && idle {
		return carryOn
	}
	if err != nil || !idle { // nothing that it says helps: it may have begun the run
		return func() bool { r.doubt, r.unsure = false, true; return false }
	}
	last := r.unseen == minUnseen-1
	if last && log.Missing && i.busyAnywhere(ctx, r.kept.JobID) {
		return func() bool { r.doubt = false; return false }
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

// listenFor asks an executor whether it still has a run, which it denies since an instant. One that has
// not, and does not report it for long, has forgotten it, or cannot report.
func (i *instance) listenFor(ctx context.Context, r *run, since time.Time) func() bool {
	idle, sure, err := i.idleAt(ctx, r.kept.JobID)
	if errors.Is(err, peer.ErrNotSent) {
		return carryOn
	}
	if idle && sure && !since.IsZero() && time.Since(since) >= i.b.cfg.Silence && i.busyAnywhere(ctx, r.kept.JobID) {
		idle = false
	}
	now := time.Now()
	return func() bool {
		switch {
		case err == nil && !idle && sure:
			if r.busy && !r.idle.IsZero() { // one process would have it, or not
				i.share(ctx)
			}
			r.busy, r.unsure, r.idle = true, false, time.Time{}
		case err != nil || !idle:
			r.idle = time.Time{}
		case r.idle.IsZero():
			r.idle = now
		}
		g, over := i.overdue(r, now)
		if over {
			i.giveUp(ctx, r, g)
		}
		return over
	}
}

// overdue reports whether to give up a run whose end was not reported, and why.
func (i *instance) overdue(r *run, now time.Time) (g giveUp, over bool) {
	if line := r.log.at(); line != r.grewTo {
		r.grewTo, r.grew = line, now
	}
	e := i.evidence()
	long := func(since time.Time, limit time.Duration) bool {
		if heard := i.b.settled(); heard.After(since) { // it could not report before
			since = heard
		}
		return !since.IsZero() && now.Sub(since) >= limit
	}
	later := func(a, b time.Time) time.Time {
		if a.After(b) {
			return a
		}
		return b
	}
	silence := i.b.cfg.Silence
	switch {
	case e.shared: // who answers may be another one
	case !r.idle.IsZero() && e.saidBusy && long(r.idle, silence):
		return giveUp{reason.ExecutorForgot.With(i.name, job.Duration(silence)), forgotten}, true
	case !e.complete() && e.restarted.After(r.kept.Started) && long(later(e.restarted, r.grew), silence):
		return giveUp{reason.ExecutorRestarted.With(i.name, job.Duration(silence)), forgotten}, true
	case (r.unsure || !r.idle.IsZero() && !e.saidBusy) && long(later(later(r.idle, r.grew), r.kept.Started), disbelieved):
		return giveUp{reason.ExecutorUnsure.With(i.name, job.Duration(disbelieved)), unsure}, true
	}
	return g, false
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
