package admin

import (
	"net"
	"sync"

	"golang.org/x/time/rate"
)

// What one address may ask, in requests a second. Executors behind one address register every 30 s
// each, so the first is for some thousands of them; the Go client reports each run by itself.
const (
	registersPerSecond = 200
	callbacksPerSecond = 5000
	jobsPerSecond      = 100 // XXL-JOB's own limit, for all callers
	refusedPerSecond   = 5   // with a wrong token
	burst              = 2   // seconds' worth at once
	// maxAddresses bounds how many addresses are counted. Beyond that, all are forgotten.
	maxAddresses = 10_000
)

// limits counts what addresses ask. It is safe for concurrent use.
type limits struct {
	perSecond rate.Limit

	mu sync.Mutex
	of map[string]*rate.Limiter
}

func newLimits(perSecond int) *limits {
	return &limits{perSecond: rate.Limit(perSecond), of: map[string]*rate.Limiter{}}
}

// allow reports whether an address may ask once more.
func (l *limits) allow(address string) bool { return l.limiter(address).Allow() }

func (l *limits) limiter(address string) *rate.Limiter {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter := l.of[host]
	if limiter == nil {
		if len(l.of) >= maxAddresses {
			clear(l.of)
		}
		limiter = rate.NewLimiter(l.perSecond, int(l.perSecond)*burst)
		l.of[host] = limiter
	}
	return limiter
}
