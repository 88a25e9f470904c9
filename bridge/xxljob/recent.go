package xxljob

import (
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
)

// recent is a bounded set of attempts that are remembered for a while. It is safe for concurrent use.
type recent struct {
	span time.Duration

	mu   sync.Mutex
	at   map[bus.AttemptRef]time.Time
	ring []bus.AttemptRef // in the order of adding; the oldest is at next once it is full
	next int
	most int
}

func newRecent(span time.Duration, most int) *recent {
	return &recent{span: span, most: most, at: map[bus.AttemptRef]time.Time{}}
}

func (s *recent) add(ref bus.AttemptRef) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ring) < s.most {
		s.ring = append(s.ring, ref)
	} else {
		delete(s.at, s.ring[s.next])
		s.ring[s.next] = ref
		s.next = (s.next + 1) % s.most
	}
	s.at[ref] = time.Now()
}

func (s *recent) has(ref bus.AttemptRef) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.at[ref]
	return ok && time.Since(at) < s.span
}
