package shard

import (
	"carillon/job"
)

// cancel is a wish to end a run that waits.
type cancel struct {
	*alive
	reason string
}

// Cancel ends a run that is queued or waits for its next attempt: the next batch says
// so. It returns false when the machine has no such run waiting; one that is with
// the executors is theirs to end.
func (m *Machine) Cancel(id job.RunID, reason string) bool {
	a := m.runs[id]
	if a == nil || a.stage == triggered {
		return false
	}
	m.cancels = append(m.cancels, &cancel{a, reason})
	return true
}

// cancelWaiting ends the runs that are to be cancelled.
func (m *Machine) cancelWaiting(b *builder) {
	for len(m.cancels) > 0 {
		c := m.cancels[0]
		if m.runs[c.run.id] == c.alive {
			if !b.fits(m.follows(c.id)) {
				return
			}
			m.endHere(b, c.alive, job.StatusCancelled, c.reason)
		}
		b.ended = append(b.ended, c.run.id)
		m.cancels = m.cancels[1:]
	}
}
