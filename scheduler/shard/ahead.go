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
func (s *sweep) ahead(now int64) bool { return max(s.done, s.to) > now }

// passTime does what is due at now, though the position is ahead, as far as b has room.
func (s *sweep) passTime(b *builder, now int64) {
	for _, id := range slices.Sorted(maps.Keys(s.runs.byJob)) {
		if at, waits := s.runs.byJob[id].wakeAt(); waits && at <= now {
			s.runs.wake(id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.delays.byJob)) {
		if s.jobs.at(id).waiting > 0 || s.delays.byJob[id].unsettled {
			continue
		}
		// Not beyond the job's own position, where a sweep has yet to come to it; see decideVersion.
		fire, next := s.delays.decide(id, min(now, s.decided(s.jobs.at(id))), now)
		if next == nil {
			continue
		}
		if !b.fits(roomDelay) {
			return
		}
		s.delays.enact(b, id, fire, next, now)
		s.arm(id)
	}
}
