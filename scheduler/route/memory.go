package route

import (
	"math"

	"github.com/carillon-scheduler/carillon/job"
)

// maxJobs is how many jobs each half of a [Memory] holds.
const maxJobs = 10_000

// Memory is what became of a group's runs before. The zero value is empty and ready.
// It is bounded: it holds at least the 10,000 jobs routed last. It is not safe for
// concurrent use.
type Memory struct {
	// Jobs noted since the halves were last exchanged, and those noted before.
	young, old map[job.Name]*history
	clock      uint64 // counts notes
}

// history is who had one job's runs.
type history struct {
	last string // the instance that had the latest
	uses map[string]use
}

// use is what one instance had of a job.
type use struct {
	count uint64 // of runs
	at    uint64 // the clock at the latest
}

// nothing is the history of a job that the memory does not hold.
var nothing = &history{}

// of returns the job's history. It must not be changed.
func (m *Memory) of(name job.Name) *history {
	if h := m.young[name]; h != nil {
		return h
	}
	if h := m.old[name]; h != nil {
		return h
	}
	return nothing
}

// Remembers reports whether a route looks back at what was noted.
func Remembers(r job.Route) bool {
	return r == job.RouteRoundRobin || r == job.RouteLeastFrequentlyUsed || r == job.RouteLeastRecentlyUsed
}

// Note tells that the named instance got a run of the job. instances are those that
// are live; what is known of others is forgotten, once there is too much of it.
func (m *Memory) Note(name job.Name, instance string, instances []Instance) {
	h := m.keep(name)
	m.clock++
	u, known := h.uses[instance]
	if !known {
		h.forget(instances)
		u.count = h.newcomer(instances)
	}
	u.count++
	u.at = m.clock
	h.uses[instance] = u
	h.last = instance
}

// keep returns the job's history among the young, where it may be changed.
func (m *Memory) keep(name job.Name) *history {
	if h := m.young[name]; h != nil {
		return h
	}
	if len(m.young) >= maxJobs {
		m.old, m.young = m.young, nil
	}
	if m.young == nil {
		m.young = map[job.Name]*history{}
	}
	h := m.old[name]
	if h == nil {
		h = &history{uses: map[string]use{}}
	}
	m.young[name] = h
	return h
}

// forget drops those who are gone, once they are the greater part.
func (h *history) forget(instances []Instance) {
	if len(h.uses) <= 2*len(instances) {
		return
	}
	for name := range h.uses {
		if _, live := find(instances, name); !live {
			delete(h.uses, name)
		}
	}
}

// newcomer returns how many runs an instance counts as having had that had none: one
// less than any other had, so that it is next, but does not have to catch up.
func (h *history) newcomer(instances []Instance) uint64 {
	fewest := uint64(math.MaxUint64)
	for i := range instances {
		if u, ok := h.uses[instances[i].Name]; ok {
			fewest = min(fewest, u.count)
		}
	}
	if fewest == math.MaxUint64 {
		return 0
	}
	return fewest - 1 // who had any had one
}
