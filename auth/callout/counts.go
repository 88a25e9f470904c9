package callout

import "sync"

// maxCounted bounds of how many keys a number is remembered.
const maxCounted = 1000

// counts counts what whoever has a credential can cause as often as they like. The log has the
// first of a key and then each doubling. Its zero value works. It is safe for concurrent use.
type counts struct {
	mu sync.Mutex
	n  map[string]int
}

// add counts one more. It reports whether that one is logged.
func (c *counts) add(key string) (n int, logged bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.n[key]; !known && len(c.n) >= maxCounted || c.n == nil {
		c.n = map[string]int{}
	}
	c.n[key]++
	n = c.n[key]
	return n, n&(n-1) == 0
}
