package bustest

import "time"

// SetLongest sets how long a bubble may last.
func SetLongest(d time.Duration) { longest = d }
