package shard

import (
	"github.com/carillon-scheduler/carillon/job"
)

// Cancels are the wishes to end runs: those that the machine can end itself, and those that an
// executor has, whose end counts as cancelled.
type Cancels struct {
	jobs   *jobs
	items  *items
	events *Events
	runs   *runs

	wishes    []*cancel
	condemned []*condemned
}

// cancel is a wish to end a run that waits.
type cancel struct {
	*watchedRun
	reason string
}

// Add ends a run that is queued, waits for its next attempt, or is done in pieces:
// the next batch says so, and has those pieces killed that are with the executors. It
// returns false when the machine has no such run; any other that is with the executors
// is theirs to end.
func (cs *Cancels) Add(id job.RunID, reason string) bool {
	a := cs.runs.byID[id]
	if a == nil || a.stage == triggered && a.pieces == nil {
		return false
	}
	cs.wishes = append(cs.wishes, &cancel{a, reason})
	return true
}

// endWaiting ends the runs that are to be cancelled.
func (cs *Cancels) endWaiting(b *builder) {
	for len(cs.wishes) > 0 {
		c, found := cs.wishes[0], job.StatusQueued
		if cs.runs.byID[c.runID] == c.watchedRun {
			if !b.fits(cs.runs.follows(c.id)) {
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

// end does so for a run that is alive.
func (cs *Cancels) end(b *builder, c *cancel) (found job.Status) {
	if c.stage == triggered && c.pieces != nil {
		cs.runs.callOff(b, c.watchedRun, c.reason)
		if cs.runs.byID[c.runID] == c.watchedRun {
			return job.StatusRunning
		}
		return job.StatusQueued
	}
	cs.runs.endHere(b, c.watchedRun, job.StatusCancelled, c.reason)
	return job.StatusQueued
}
