package shard

import (
	"maps"
	"slices"
)

// A clock that was ahead leaves a position that is ahead. All that fires up to there has its
// outcome, so the jobs of that time have nothing to fire until the clock has caught up. What is
// new goes on by the clock: versions that were saved since (late.go), fixed delays, whose
// fires follow from their items, and runs that wait for an instant.

// waitAhead is how often, in milliseconds, a machine looks for what is due while its position
// is ahead of the clock.
const waitAhead = 250

// ahead reports whether the position is ahead of the clock.
func (m *Machine) ahead(now int64) bool { return max(m.done, m.sweepTo) > now }

// passTime does what is due at now, though the position is ahead, as far as b has room.
func (m *Machine) passTime(b *builder, now int64) {
	for _, id := range slices.Sorted(maps.Keys(m.runs.byJob)) {
		if at, waits := m.runs.byJob[id].wakeAt(); waits && at <= now {
			m.runs.wake(id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.delays.byJob)) {
		if m.jobs.at(id).waiting > 0 || m.delays.byJob[id].unsettled {
			continue
		}
		// Not beyond the job's own position, where a sweep has yet to come to it; see decideVersion.
		fire, next := m.delays.decide(id, min(now, m.decided(m.jobs.at(id))), now)
		if next == nil {
			continue
		}
		if !b.fits(roomDelay) {
			return
		}
		m.delays.enact(b, id, fire, next, now)
		m.arm(id)
	}
}
