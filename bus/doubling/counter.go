package doubling

import (
	"sync"
	"time"
)

// Window is how long a [Counter] counts before it starts again: what happens now and then is logged
// each time.
const Window = time.Hour

// MaxKeys is how many keys a [Counter] tells apart in a [Window]. Further ones are counted together.
const MaxKeys = 1000

// others is the key of the keys beyond MaxKeys.
const others = "\x00"

// Counter counts events by a key, such as an executor group. Whoever chooses the keys, it has about
// MaxKeys times 20 events of a Window logged at most. Its zero value works. It is safe for
// concurrent use.
type Counter struct {
	mu    sync.Mutex
	n     map[string]int
	since time.Time
}

// Add counts an event. It returns the event's number among those of its key in this [Window], and
// whether to log it.
func (c *Counter) Add(key string) (n int, logged bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); c.n == nil || now.Sub(c.since) >= Window {
		c.n, c.since = map[string]int{}, now
	}
	if _, known := c.n[key]; !known && len(c.n) >= MaxKeys {
		key = others
	}
	c.n[key]++
	n = c.n[key]
	return n, n&(n-1) == 0
}
