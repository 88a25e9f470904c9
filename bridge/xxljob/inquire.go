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

// resolve finds out whether an executor has begun a run. That is not known when the bridge that handed
// the run over has died, or when no answer came.
//
// An executor refuses a number twice only while the first one is queued, so handing it over again
// could do the run twice. But it says whether the job is busy, and only this run can be the reason,
// as it never has two of a job. And it has the log of each run that it has begun.
func (a *attempt) resolve(ctx context.Context) func() bool {
	idle, sure, err := a.i.idleAt(ctx, a.kept.JobID)
	if errors.Is(err, peer.ErrNotSent) || err != nil && a.i.evidence().saidIdle {
		return carryOn // tick finds out whether it is gone
	}
	if err == nil && !idle && sure {
		return func() bool { a.unconfirmed, a.busy = false, true; return false }
	}
	log, err := a.i.b.peers.Log(ctx, a.i.target(), a.kept.LogID, a.kept.Started, 1)
	if err != nil && idle {
		return carryOn
	}
	if err != nil || !idle { // nothing that it says helps: it may have begun the run
		return func() bool { a.unconfirmed, a.unsure = false, true; return false }
	}
	last := a.unseen == minUnseen-1
	if last && log.Missing && a.i.busyAnywhere(ctx, a.kept.JobID) {
		return func() bool { a.unconfirmed = false; return false }
	}
	return func() bool {
		if !log.Missing { // it has run: its callback is to come
			a.unconfirmed = false
			return false
		}
		if a.unseen++; a.unseen < minUnseen || a.kept.Ending != nil {
			return false
		}
		if a.kept.Trigger.Delivery == job.AtMostOnce {
			a.conclude(ctx, end{status: job.StatusLost, message: reason.WentSilent.With(a.i.name), unheard: true})
			return true
		}
		a.i.log.InfoContext(ctx, "the executor knows nothing of the run, which is given back", "run_id", a.kept.Trigger.RunID)
		a.giveBack(ctx)
		return true
	}
}

// listenFor asks an executor whether it still has a run, which it denies since an instant. One that has
// not, and does not report it for long, has forgotten it, or cannot report.
func (a *attempt) listenFor(ctx context.Context, since time.Time) func() bool {
	idle, sure, err := a.i.idleAt(ctx, a.kept.JobID)
	if errors.Is(err, peer.ErrNotSent) {
		return carryOn
	}
	if idle && sure && !since.IsZero() && time.Since(since) >= a.i.b.cfg.Silence && a.i.busyAnywhere(ctx, a.kept.JobID) {
		idle = false
	}
	now := time.Now()
	return func() bool {
		switch {
		case err == nil && !idle && sure:
			if a.busy && !a.idle.IsZero() { // one process would have it, or not
				a.i.share(ctx)
			}
			a.busy, a.unsure, a.idle = true, false, time.Time{}
		case err != nil || !idle:
			a.idle = time.Time{}
		case a.idle.IsZero():
			a.idle = now
		}
		g, over := a.overdue(now)
		if over {
			a.giveUp(ctx, g)
		}
		return over
	}
}

// overdue reports whether to give up a run whose end was not reported, and why.
func (a *attempt) overdue(now time.Time) (g giveUp, over bool) {
	if line := a.log.at(); line != a.grewTo {
		a.grewTo, a.grew = line, now
	}
	e := a.i.evidence()
	long := func(since time.Time, limit time.Duration) bool {
		if heard := a.i.b.settled(); heard.After(since) { // it could not report before
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
	silence := a.i.b.cfg.Silence
	switch {
	case e.shared: // who answers may be another one
	case !a.idle.IsZero() && e.saidBusy && long(a.idle, silence):
		return giveUp{reason.ExecutorForgot.With(a.i.name, job.Duration(silence)), forgotten}, true
	case !e.complete() && e.restarted.After(a.kept.Started) && long(later(e.restarted, a.grew), silence):
		return giveUp{reason.ExecutorRestarted.With(a.i.name, job.Duration(silence)), forgotten}, true
	case (a.unsure || !a.idle.IsZero() && !e.saidBusy) && long(later(later(a.idle, a.grew), a.kept.Started), disbelieved):
		return giveUp{reason.ExecutorUnsure.With(a.i.name, job.Duration(disbelieved)), unsure}, true
	}
	return g, false
}

// settled returns since when NATS has answered without a gap.
func (m *members) settled() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.table.settled.IsZero() || time.Since(m.table.polled) > gap {
		return time.Now()
	}
	return m.table.settled
}

// checkEnd finds out whether another bridge has taken the callback of a run, which it may while it
// does not reach us. Ours is the acknowledgement then.
func (a *attempt) checkEnd(ctx context.Context) func() bool {
	kept, _, err := a.i.b.store.Run(ctx, a.i.group.name, a.i.name, a.kept.LogID)
	if err != nil || !kept.Ended {
		return carryOn
	}
	return func() bool {
		a.lastLines(ctx)
		a.settleEnd()
		return true
	}
}
