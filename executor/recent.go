package executor

import "time"

// An instance remembers attempts that it must not run when their trigger comes again: more of them
// than triggers can be on their way, and for longer than a lost trigger takes to come again. It
// remembers ends for an hour: until then it can answer servers, which need not look for them.
const (
	recentMax = 16384
	doneFor   = time.Hour
	killedFor = time.Minute
)
