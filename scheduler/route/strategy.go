package route

import (
	"github.com/carillon-scheduler/carillon/job"
)

// ranking gives the instance at an index its rank; lower is tried sooner.
type ranking func(i int) uint64

// strategy returns the ranking that a route means. A broadcast's pieces say whom
// they prefer, and otherwise go to whoever has the most room, as with any.
func strategy(instances []Instance, r Run, m *Memory) ranking {
	switch r.Route {
	case job.RouteFirst, job.RouteFailover, job.RouteBusyover:
		return inOrder
	case job.RouteLast:
		return inReverse
	case job.RouteRoundRobin:
		return roundRobin(instances, m.of(r.Job))
	case job.RouteRandom:
		return random(instances, r)
	case job.RouteConsistentHash:
		return consistentHash(instances, r)
	case job.RouteLeastFrequentlyUsed:
		return leastFrequentlyUsed(instances, m.of(r.Job))
	case job.RouteLeastRecentlyUsed:
		return leastRecentlyUsed(instances, m.of(r.Job))
	case job.RouteAny, job.RouteBroadcast:
	}
	return leastLoaded(instances, r)
}

func inOrder(i int) uint64   { return uint64(i) }  //nolint:gosec // an index is not negative
func inReverse(i int) uint64 { return ^uint64(i) } //nolint:gosec // an index is not negative

// roundRobin begins after the instance that had the job's last run, whether that is
// still there or not.
func roundRobin(instances []Instance, h *history) ranking {
	after, found := find(instances, h.last)
	if found {
		after++
	}
	return func(i int) uint64 {
		return uint64((i - after + len(instances)) % len(instances)) //nolint:gosec // not negative, as after is at most the length
	}
}

// random is another order for each delivery of each run.
func random(instances []Instance, r Run) ranking {
	salt := mix(HashOf(string(r.ID)) + uint64(r.Delivery)) //nolint:gosec // any number does
	return func(i int) uint64 { return mix(salt ^ instances[i].Hash) }
}

// consistentHash is rendezvous hashing of the job's name: an instance that leaves
// loses its own jobs to the others, each of which had been the second choice, and one
// that joins takes its share of all; no other job moves. Slots do not weigh in, as
// they may change while the instance runs, and each change would move jobs.
func consistentHash(instances []Instance, r Run) ranking {
	hash := r.Job.Hash()
	return func(i int) uint64 { return mix(hash ^ instances[i].Hash) }
}

// leastLoaded prefers the instance with the smallest share of its slots in use, and
// among equals another for each run.
func leastLoaded(instances []Instance, r Run) ranking {
	const steps = 1 << 10
	salt := HashOf(string(r.ID))
	return func(i int) uint64 {
		in := &instances[i]
		used := steps * max(in.Running, 0) / max(in.Slots, 1)
		return uint64(min(used, steps))<<50 | mix(salt^in.Hash)>>14
	}
}

func leastFrequentlyUsed(instances []Instance, h *history) ranking {
	newcomer := h.newcomer(instances)
	return func(i int) uint64 {
		if u, ok := h.uses[instances[i].Name]; ok {
			return u.count
		}
		return newcomer
	}
}

// leastRecentlyUsed puts first who has never had the job.
func leastRecentlyUsed(instances []Instance, h *history) ranking {
	return func(i int) uint64 { return h.uses[instances[i].Name].at }
}

// HashOf returns a well-mixed number that depends on text alone: FNV-1a, then [mix].
func HashOf(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return mix(h)
}

// mix is the finalizer of MurmurHash3: each bit of h changes about half of the result's.
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
