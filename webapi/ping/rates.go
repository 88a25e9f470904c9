package ping

import (
	"sync"
	"time"
)

// rate bounds how often something may happen, for each key: so many times a minute, and a burst of some more
// after a rest. It is safe for concurrent use.
type rate struct {
	perMinute, burst float64
	// most is how many keys are counted apart; those beyond share one count. 0 is no bound, for keys that are
	// few by themselves.
	most int

	mu      sync.Mutex
	buckets map[string]*bucket
	shared  bucket
	swept   time.Time
}

// bucket is what is left of a burst, as of an instant.
type bucket struct {
	left float64
	at   time.Time
}

// sweepEvery is how often the keys that have rested are forgotten.
const sweepEvery = time.Minute

func newRate(perMinute, burst float64, most int) *rate {
	return &rate{perMinute: perMinute, burst: burst, most: most, buckets: map[string]*bucket{}}
}

// take counts one for key at now. If that is one too many, it returns how long to wait, and counts nothing.
func (r *rate) take(key string, now time.Time) (wait time.Duration) { return r.takeMany(key, 1, now) }

// takeMany is take of n.
func (r *rate) takeMany(key string, n float64, now time.Time) (wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.swept) >= sweepEvery {
		r.sweepLocked(now)
	}
	b := r.buckets[key]
	switch {
	case b != nil:
	case r.most > 0 && len(r.buckets) >= r.most:
		b = &r.shared
	default:
		b = &bucket{left: r.burst, at: now}
		r.buckets[key] = b
	}
	r.fill(b, now)
	if b.left < n {
		return time.Duration((n - b.left) / r.perMinute * float64(time.Minute))
	}
	b.left -= n
	return 0
}

// fill adds what has come to a bucket since.
func (r *rate) fill(b *bucket, now time.Time) {
	if since := now.Sub(b.at); since > 0 {
		b.left, b.at = min(r.burst, b.left+since.Minutes()*r.perMinute), now
	}
}

func (r *rate) sweepLocked(now time.Time) {
	r.swept = now
	for key, b := range r.buckets {
		if r.fill(b, now); b.left >= r.burst {
			delete(r.buckets, key)
		}
	}
}
