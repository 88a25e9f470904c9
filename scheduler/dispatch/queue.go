package dispatch

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"golang.org/x/time/rate"
)

// queue is the triggers of a group that a placer has pulled and that have not begun: of each priority
// those that have waited longest. What else waits does so on the stream.
type queue struct {
	levels     [3][]*waiting // in the order of job.Priorities; each in the order of compareAge
	bySource   []int         // how many there are of each consumer
	partitions int
	picks      int // that have led to something
	// full has the pools in which nobody is free. All of a pool wait, so that the one whose turn
	// it is gets the slot that comes free, not the one that is just offered.
	full map[poolKey]full
}

// full is until when a pool counts as full, and why.
type full struct {
	until  time.Time
	reason string
}

// waiting is a trigger in the queue, or one that is offered.
type waiting struct {
	*offer
	source int // the consumer that it is from
	pool   poolKey
	seen   time.Time // on the stream
	after  time.Time // not to be offered earlier
	reason string    // why it has not begun, when it was offered last
	tellAt time.Time // when the history is told that reason next
	token  *rate.Reservation
}

func newQueue(sources, partitions int) *queue {
	return &queue{bySource: make([]int, sources), partitions: partitions, full: map[poolKey]full{}}
}

// turns is how the levels share what begins while all of them wait: of 16 runs 11 are of
// the first level, 4 of the second and one of the last. Runs of a lower level never
// starve, and of a higher one never wait for long.
var turns = [16]int{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 2, 1}

// add takes a trigger in.
func (q *queue) add(w *waiting) {
	level := &q.levels[w.source/q.partitions]
	at, _ := slices.BinarySearchFunc(*level, w, func(a, b *waiting) int { return compareAge(a.offer, b.offer) })
	*level = slices.Insert(*level, at, w)
	q.bySource[w.source]++
}

// readyAt returns when w may be offered.
func (q *queue) readyAt(w *waiting) time.Time {
	if full := q.full[w.pool]; full.until.After(w.after) {
		return full.until
	}
	return w.after
}

// pick takes out the trigger to offer next, or nil if at now there is none for which there
// is room. It is one of the level whose turn it is, or else of the highest level that has one.
func (q *queue) pick(now time.Time, room func(*waiting) bool) *waiting {
	first := turns[q.picks%len(turns)]
	for i := range len(q.levels) + 1 {
		level := i - 1
		if i == 0 {
			level = first
		}
		for k, w := range q.levels[level] {
			if !now.Before(q.readyAt(w)) && room(w) {
				q.levels[level] = slices.Delete(q.levels[level], k, k+1)
				q.bySource[w.source]--
				q.picks++
				return w
			}
		}
	}
	return nil
}

// takeIf takes out all for which is holds.
func (q *queue) takeIf(is func(*waiting) bool) (taken []*waiting) {
	for level := range q.levels {
		q.levels[level] = slices.DeleteFunc(q.levels[level], func(w *waiting) bool {
			if is(w) {
				taken = append(taken, w)
				q.bySource[w.source]--
				return true
			}
			return false
		})
	}
	return taken
}

// all returns all that wait.
func (q *queue) all() iter.Seq[*waiting] {
	return func(yield func(*waiting) bool) {
		for _, level := range q.levels {
			for _, w := range level {
				if !yield(w) {
					return
				}
			}
		}
	}
}

// count returns how many wait.
func (q *queue) count() (n int) {
	for _, level := range q.levels {
		n += len(level)
	}
	return n
}

// of returns how many of a partition wait.
func (q *queue) of(partition int) (n int) {
	for source := partition; source < len(q.bySource); source += q.partitions {
		n += q.bySource[source]
	}
	return n
}

// partition returns the partition of a trigger.
func (q *queue) partition(w *waiting) int { return w.source % q.partitions }

// nextAt returns when the first of those may be offered that may not yet, zero when
// there is none.
func (q *queue) nextAt(now time.Time) (at time.Time) {
	for w := range q.all() {
		if ready := q.readyAt(w); now.Before(ready) && (at.IsZero() || ready.Before(at)) {
			at = ready
		}
	}
	return at
}

// reason returns why a trigger waits for an instance, "" if it does not.
func (q *queue) reason(w *waiting) string { return cmp.Or(w.reason, q.full[w.pool].reason) }

// reopen ends the waits for full pools at an instant, if they would last longer.
func (q *queue) reopen(at time.Time) {
	for pool, is := range q.full {
		if is.until.After(at) {
			is.until = at
			q.full[pool] = is
		}
	}
}
