package elsewhere

import (
	"time"

	"github.com/carillon-scheduler/carillon/internal/elsewhere/spool"
)

// instant is when something happened. The clock that counts goes on while the machine sleeps, where there is
// one.
type instant struct {
	spool.Instant
	mono time.Time
}

func now() instant { return instant{spool.Now(), time.Now()} }

// elapsed returns how long ago an instant was.
func (i instant) elapsed() time.Duration {
	if i.Boot != "" {
		return i.Age()
	}
	return time.Since(i.mono)
}
