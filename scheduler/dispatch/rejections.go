package dispatch

import "sync"

// maxRejections bounds of how many groups rejections are remembered.
const maxRejections = 1000

// rejections counts what was rejected of each group. The log has the first and then each doubling:
// whoever has a group's credential can cause as many as they like. It is safe for concurrent use.
type rejections struct {
	mu     sync.Mutex
	counts map[string]int
}

// add counts one more. It reports whether that one is logged.
func (r *rejections) add(group string) (n int, logged bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.counts[group]; !known && len(r.counts) >= maxRejections || r.counts == nil {
		r.counts = map[string]int{}
	}
	r.counts[group]++
	n = r.counts[group]
	return n, n&(n-1) == 0
}
