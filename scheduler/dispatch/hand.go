package dispatch

import (
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// hand is the triggers of a governed group that its dispatcher holds and that have not
// begun: for each priority those that have waited longest. What else waits does so on the
// stream.
type hand struct {
	levels [3][]*held // in the order of job.Priorities; each in the order of compareAge
	picks  int        // that have led to something
	// full is until when nobody is free for runs of a kind. All of them wait, so that the
	// one whose turn it is gets the place that comes free, not the one that is just asking.
	full map[poolKey]time.Time
}

// held is a trigger in hand.
type held struct {
	*offer
	level     int
	partition int
	seen      time.Time // on the stream
	after     time.Time // not to be offered earlier: nobody was there for it
	tries     int       // how often it went nowhere
	since     time.Time // when it first did
}

// readyAt returns when w may be offered.
func (h *hand) readyAt(w *held) time.Time {
	if full := h.full[poolOf(w.t)]; full.After(w.after) {
		return full
	}
	return w.after
}

// turns is how the levels share what begins while all of them wait: of 16 runs 11 are of
// the first level, 4 of the second and one of the last. Runs of a lower level never
// starve, and of a higher one never wait for long.
var turns = [16]int{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 2, 1}

// add takes a trigger in.
func (h *hand) add(w *held) {
	at, _ := slices.BinarySearchFunc(h.levels[w.level], w, func(a, b *held) int { return compareAge(a.offer, b.offer) })
	h.levels[w.level] = slices.Insert(h.levels[w.level], at, w)
}

// pick takes out the trigger to offer next, or nil if at now there is none of a kind
// that has room. It is one of the level whose turn it is, or else of the highest level
// that has one.
func (h *hand) pick(now time.Time, room func(*bus.Trigger) bool) *held {
	first := turns[h.picks%len(turns)]
	for i := range len(h.levels) + 1 {
		level := i - 1
		if i == 0 {
			level = first
		}
		for k, w := range h.levels[level] {
			if !now.Before(h.readyAt(w)) && room(w.t) {
				h.levels[level] = slices.Delete(h.levels[level], k, k+1)
				h.picks++
				return w
			}
		}
	}
	return nil
}

// takeIf takes out all for which is holds.
func (h *hand) takeIf(is func(*held) bool) (taken []*held) {
	for level := range h.levels {
		h.levels[level] = slices.DeleteFunc(h.levels[level], func(w *held) bool {
			if is(w) {
				taken = append(taken, w)
				return true
			}
			return false
		})
	}
	return taken
}

// count returns how many there are.
func (h *hand) count() (n int) {
	for _, level := range h.levels {
		n += len(level)
	}
	return n
}

// nextAt returns when the first of those may be offered that may not yet, zero when
// there is none.
func (h *hand) nextAt(now time.Time) (at time.Time) {
	for _, level := range h.levels {
		for _, w := range level {
			if ready := h.readyAt(w); now.Before(ready) && (at.IsZero() || ready.Before(at)) {
				at = ready
			}
		}
	}
	return at
}

// levelOf returns the level of a priority.
func levelOf(p job.Priority) int { return slices.Index(job.Priorities, p) }
