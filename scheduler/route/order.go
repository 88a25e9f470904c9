package route

import (
	"cmp"
	"iter"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
)

// Instance is a live instance as strategies see it.
type Instance struct {
	Name    string
	Hash    uint64 // of the name: see [HashOf]
	Slots   int    // how many runs it does at once
	Running int    // how many it had when it was last heard of
}

// Run is the run that needs an instance.
type Run struct {
	Route job.Route // empty is any
	Job   job.Name
	ID    job.RunID
	// Delivery counts how often the trigger has been delivered: a random route has
	// another order each time.
	Delivery int
	// Prefer comes first if it is there, whatever the route says. Empty is nobody.
	Prefer string
}

// Order returns the indexes of instances in the order in which they are to be tried.
// instances are in order of their names, and not empty ones of one name. Getting the
// first index takes time in proportion to their number; only going on sorts them. The
// memory is not looked at any more once Order has returned.
func Order(instances []Instance, r Run, m *Memory) iter.Seq[int] {
	if len(instances) == 0 {
		return func(func(int) bool) {}
	}
	ranks := make([]uint64, len(instances))
	rank := strategy(instances, r, m)
	best := 0
	for i := range instances {
		ranks[i] = rank(i)
		if ranks[i] < ranks[best] {
			best = i
		}
	}
	if preferred, ok := find(instances, r.Prefer); ok {
		best = preferred
	}
	return func(yield func(int) bool) {
		if !yield(best) {
			return
		}
		rest := make([]int, 0, len(instances)-1)
		for i := range instances {
			if i != best {
				rest = append(rest, i)
			}
		}
		slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
		for _, i := range rest {
			if !yield(i) {
				return
			}
		}
	}
}

// find returns the index of the instance of that name.
func find(instances []Instance, name string) (int, bool) {
	return slices.BinarySearchFunc(instances, name, func(i Instance, name string) int { return cmp.Compare(i.Name, name) })
}
