package shard

import (
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// condemned is a dispatched attempt whose end counts as cancelled.
type condemned struct {
	*bus.Trigger
	reason string
}

// Condemn marks a dispatched attempt of a cancelled run: its end counts as cancelled, even if its
// executor reports a success. The run is watched from then on. The mark is stored once a batch lists
// the run in Condemned. Condemn returns false for a run in pieces, which the machine ends itself, and
// for an attempt that is over.
func (cs *Cancels) Condemn(t *bus.Trigger, why string) bool {
	if t.Total > 0 || !cs.mayCondemn(t) {
		return false
	}
	cs.condemned = append(cs.condemned, &condemned{t, why})
	return true
}

// mayCondemn reports whether the attempt is dispatched and not over, as far as the machine knows.
func (cs *Cancels) mayCondemn(t *bus.Trigger) bool {
	id, ok := cs.jobs.find(t.Job)
	switch a := cs.runs.byID[t.RunID]; {
	case !ok, cs.events.toldEnds()[t.Ref()]: // its job is forgotten; what was stored first stands
		return false
	case a != nil:
		return a.stage == triggered && a.pieces == nil && a.number == t.Attempt && a.cancelled == ""
	default: // a run that was watched is over, though its trigger may still be there
		return t.Task.Kind() != "" && !cs.watchesRunsOf(id, t)
	}
}

// watchesRunsOf reports whether a run with this trigger may have been watched from its start, which
// depends on the newest version at that time. Versions that were dropped since are ignored; a version
// that was not read yet may watch.
func (cs *Cancels) watchesRunsOf(id uint32, t *bus.Trigger) bool {
	plans := cs.jobs.at(id).plans
	since := slices.IndexFunc(plans, func(p job.Plan) bool { return int(p.Version) >= t.Version })
	return since < 0 || t.Split || t.Cause == job.CauseBackfill || !t.StartBy.IsZero() || slices.ContainsFunc(plans[since:], func(p job.Plan) bool { return p.Watched() })
}

// condemn adds the marks of condemned attempts to a batch, as many as fit.
func (cs *Cancels) condemn(b *builder) {
	for len(cs.condemned) > 0 {
		if !b.fits(launch) {
			return
		}
		c := cs.condemned[0]
		cs.condemned = slices.Delete(cs.condemned, 0, 1)
		cs.condemnOne(b, c)
		b.Condemned = append(b.Condemned, c.RunID)
	}
}

func (cs *Cancels) condemnOne(b *builder, c *condemned) {
	if !cs.mayCondemn(c.Trigger) {
		return // it has ended since, or somebody else was faster
	}
	a, id := cs.runs.byID[c.RunID], cs.jobs.byName[c.Job]
	// No further attempt follows, so the parameters are not needed. Without them the item fits in a full stream.
	slim := *c.Trigger
	slim.Params = nil
	rest, err := cs.runs.fromTrigger(id, &slim)
	switch {
	case err != nil:
		return // nobody has stored such a trigger
	case a == nil:
		a = rest
		cs.runs.add(a)
	}
	cs.items.release(a.item)
	a.body, a.cancelled = rest.body, c.reason
	a.item = b.waitIn(&bus.Deferred{Kind: bus.DeferredAlive, Reason: a.cancelled}, a)
}

// endCancelled ends a run that was cancelled while an executor had it. The reason keeps the status
// that the executor reported.
func (rs *runs) endCancelled(b *builder, a *watchedRun, e *end) {
	if e.status != job.StatusCancelled {
		b.record.addRun(a.job, a.attempt, job.StatusCancelled, reason.Join(a.cancelled, reason.Reported.With(e.status)))
	}
	rs.end(b, a, job.StatusCancelled, nil, e.at)
}
