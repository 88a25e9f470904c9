package executor

import "time"

// Attempts that must not be run when their trigger comes again are remembered: more than the
// triggers that can be on their way, and for longer than it takes until one that was lost on the
// way comes again. What has ended here is remembered for long: as long as the instance says so
// itself, servers need not look for its end.
const (
	recentMax = 16384
	doneFor   = time.Hour
	killedFor = time.Minute
)
