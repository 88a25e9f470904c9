package scheduler

import "time"

// SkewClock has the node's wall clock be wrong by what skew returns. Call it before Run.
func (s *Scheduler) SkewClock(skew func() time.Duration) { s.clock.skew = skew }
