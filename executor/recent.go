package executor

import "time"

// The bounds of [recent]: more than the triggers that can be on their way, and longer than
// it takes until one that was lost on the way comes again. What has ended here is
// remembered for long: as long as the instance says so itself, servers need not look for
// its end.
const (
	recentMax = 16384
	doneFor   = time.Hour
	killedFor = time.Minute
)

// recent is a bounded set of attempts that an instance must not run when their
// trigger comes again.
type recent struct {
	span time.Duration // for how long one is remembered
	at   map[attemptKey]time.Time
	ring []attemptKey // in the order of adding; the oldest is at next once it is full
	next int
}

func newRecent(span time.Duration) recent {
	return recent{span: span, at: map[attemptKey]time.Time{}}
}

func (s *recent) add(k attemptKey) {
	if len(s.ring) < recentMax {
		s.ring = append(s.ring, k)
	} else {
		delete(s.at, s.ring[s.next])
		s.ring[s.next] = k
		s.next = (s.next + 1) % recentMax
	}
	s.at[k] = time.Now()
}

func (s *recent) has(k attemptKey) bool {
	at, ok := s.at[k]
	return ok && time.Since(at) < s.span
}
