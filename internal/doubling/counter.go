package doubling

import "sync"

// MaxKeys is how many keys a [Counter] remembers. One more, and it begins again with none.
const MaxKeys = 1000

// Counter counts events by a key, such as an executor group. Its zero value works. It is safe for
// concurrent use.
type Counter struct {
	mu sync.Mutex
	n  map[string]int
}

// Add counts an event. It returns the event's number among those of its key, and whether to log it.
func (c *Counter) Add(key string) (n int, logged bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.n[key]; !known && len(c.n) >= MaxKeys || c.n == nil {
		c.n = map[string]int{}
	}
	c.n[key]++
	n = c.n[key]
	return n, n&(n-1) == 0
}
