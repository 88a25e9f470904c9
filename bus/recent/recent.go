// Package recent remembers what happened lately, in bounded memory.
package recent

import (
	"sync"
	"time"
)

// Set remembers keys for a while, and no more of them than a bound: then the oldest goes first. It is
// safe for concurrent use.
type Set[K comparable] struct {
	span time.Duration
	most int

	mu   sync.Mutex
	at   map[K]time.Time
	ring []K // in the order of adding; the oldest is at next once it is full
	next int
}

// New returns an empty set that remembers at most that many keys, each for span.
func New[K comparable](span time.Duration, most int) *Set[K] {
	return &Set[K]{span: span, most: most, at: map[K]time.Time{}}
}

// Add remembers a key from now on.
func (s *Set[K]) Add(k K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.at[k]
	switch {
	case known:
	case len(s.ring) < s.most:
		s.ring = append(s.ring, k)
	default:
		delete(s.at, s.ring[s.next])
		s.ring[s.next] = k
		s.next = (s.next + 1) % s.most
	}
	s.at[k] = time.Now()
}

// Has reports whether a key is remembered.
func (s *Set[K]) Has(k K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.at[k]
	return ok && time.Since(at) < s.span
}
