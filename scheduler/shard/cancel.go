package shard

import (
	"github.com/carillon-scheduler/carillon/job"
)

// cancel is a wish to end a run that waits.
type cancel struct {
	*alive
	reason string
}

// Cancel ends a run that is queued, waits for its next attempt, or is done in pieces:
// the next batch says so, and has those pieces killed that are with the executors. It
// returns false when the machine has no such run; any other that is with the executors
// is theirs to end.
func (m *Machine) Cancel(id job.RunID, reason string) bool {
	a := m.runs.alive[id]
	if a == nil || a.stage == triggered && a.pieces == nil {
		return false
	}
	m.cancels.wishes = append(m.cancels.wishes, &cancel{a, reason})
	return true
}

// cancelWaiting ends the runs that are to be cancelled.
func (m *Machine) cancelWaiting(b *builder) {
	for len(m.cancels.wishes) > 0 {
		c, found := m.cancels.wishes[0], job.StatusQueued
		if m.runs.alive[c.run.id] == c.alive {
			if !b.fits(m.runs.follows(c.id)) {
				return
			}
			found = m.cancelAlive(b, c)
		}
		b.Cancelled = append(b.Cancelled, Cancelled{c.run.id, found})
		m.cancels.wishes = m.cancels.wishes[1:]
	}
}

// Cancelled is a run that was to be cancelled, and where it was found: queued, so that
// it has ended, or running, so that its pieces are being killed.
type Cancelled struct {
	RunID job.RunID
	Found job.Status
}

// cancelAlive does so for a run that is alive.
func (m *Machine) cancelAlive(b *builder, c *cancel) (found job.Status) {
	if c.stage == triggered && c.pieces != nil {
		m.runs.callOff(b, c.alive, c.reason)
		if m.runs.alive[c.run.id] == c.alive {
			return job.StatusRunning
		}
		return job.StatusQueued
	}
	m.runs.endHere(b, c.alive, job.StatusCancelled, c.reason)
	return job.StatusQueued
}
