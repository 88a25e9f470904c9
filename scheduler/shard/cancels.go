package shard

import (
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/journal"
)

// Cancels are the wishes to end runs: those that the machine can end itself, and those that an
// executor has, whose end counts as cancelled.
type Cancels struct {
	jobs    *jobs
	items   *items
	events  *Events
	runs    *runs
	waiting *waitingRuns

	wishes    []*cancel
	condemned []*condemned
}

// cancel is a wish to end a run that waits.
type cancel struct {
	*watchedRun
	reason string
	force  bool
}

// Add asks to end a run that waits for its instant, is queued, waits for its next attempt, is done in pieces, or is of a
// workflow: the next batch records that, and lists a kill for the pieces or steps that executors have.
// Finally steps run all the same, unless force is set. It returns false when the machine has no such run;
// any other that is with the executors is theirs to end.
func (cs *Cancels) Add(id job.RunID, why string, force bool) bool {
	if cs.waiting.cancel(id, why) {
		return true
	}
	a := cs.runs.byID[id]
	if a == nil || a.stage == triggered && a.pieces == nil && a.steps == nil {
		return false
	}
	cs.wishes = append(cs.wishes, &cancel{a, why, force})
	return true
}

// endWaiting ends the runs that are to be cancelled.
func (cs *Cancels) endWaiting(b *builder) {
	for len(cs.wishes) > 0 {
		c, found := cs.wishes[0], job.StatusQueued
		if cs.runs.byID[c.runID] == c.watchedRun {
			if !b.fits(cs.runs.follows(c.jobID)) {
				return
			}
			found = cs.end(b, c)
		}
		b.Cancelled = append(b.Cancelled, Cancelled{c.runID, found})
		cs.wishes = cs.wishes[1:]
	}
}

// Cancelled is a run that was to be cancelled, and where it was found: queued, so that
// it has ended, or running, so that its pieces are being killed.
type Cancelled struct {
	RunID job.RunID
	Found job.Status
}

// end ends a run that is not over yet, and returns where it was found.
func (cs *Cancels) end(b *builder, c *cancel) (found job.Status) {
	if c.stage == triggered {
		if c.steps != nil {
			cs.runs.steps.callOff(b, c.watchedRun, job.StatusCancelled, c.reason, c.force)
		} else {
			cs.runs.callOff(b, c.watchedRun, c.reason)
		}
		if cs.runs.byID[c.runID] == c.watchedRun {
			return job.StatusRunning
		}
		return job.StatusQueued
	}
	cs.runs.endHere(b, c.watchedRun, job.StatusCancelled, c.reason)
	return job.StatusQueued
}

// condemned is a dispatched attempt whose end counts as cancelled.
type condemned struct {
	*bus.Trigger
	reason string
}

// Condemn marks a dispatched attempt of a cancelled run: its end counts as cancelled, even if its
// executor reports a success. The run is watched from then on. The mark is stored once a batch lists
// the run in Condemned. Condemn returns false for a run in pieces, which the machine ends itself, and
// for an attempt that is over. Of a run that is not watched only the caller knows that: no end of it may be
// stored up to [Events.Seq].
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
		return a.stage == triggered && a.pieces == nil && a.steps == nil && a.number == t.Attempt && a.cancelled == ""
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
	return since < 0 || t.Split || t.Cause == job.CauseBackfill || t.Cause == job.CauseStep || isCalled(t) || t.Keyed || !t.StartBy.IsZero() || slices.ContainsFunc(plans[since:], func(p job.Plan) bool { return p.Watched() })
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
	rest, err := cs.runs.fromTrigger(id, &slim, nil)
	switch {
	case err != nil:
		return // nobody has stored such a trigger
	case a == nil:
		a = rest
		cs.runs.add(a)
	}
	cs.items.release(a.item)
	a.body, a.cancelled = rest.body, c.reason
	a.item = b.waitIn(&journal.Deferred{Kind: journal.DeferredAlive, Reason: a.cancelled}, a)
}

// endCancelled ends a run that was cancelled while an executor had it. The reason keeps the status
// that the executor reported.
func (rs *runs) endCancelled(b *builder, a *watchedRun, e *end) {
	if e.status != job.StatusCancelled {
		b.record.addRun(a.job, a.attempt, job.StatusCancelled, reason.Join(a.cancelled, reason.Reported.With(e.status)))
	}
	rs.end(b, a, job.StatusCancelled, nil, e.at)
}
