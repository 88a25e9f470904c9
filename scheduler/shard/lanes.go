package shard

import (
	"container/heap"
	"container/list"
	"iter"
	"maps"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
)

// lane are the watched runs of a job whose overlap key has the same value.
type lane struct {
	key   string    // a hash of that value; "" is of runs without one
	busy  int       // runs that are alive, and count for the job's rule for overlap
	queue list.List // of *watchedRun: the one that has waited longest first
	turn  bool      // it is among [jobRuns.turns]
}

// first returns the run of the lane that has waited longest, nil if none waits.
func (l *lane) first() *watchedRun { return runIn(l.queue.Front()) }

// runIn returns the run of an element of a queue; nil has none.
func runIn(e *list.Element) *watchedRun {
	if e == nil {
		return nil
	}
	a, _ := e.Value.(*watchedRun)
	return a
}

// queuePlace is where a run is while it is queued.
type queuePlace struct {
	place *list.Element // in the queue of its lane; nil: it is in none
	slot  int           // in [jobRuns.late], if it has to begin by some instant
}

// jobRuns are the watched runs of one job. Those that are queued wait in lanes by their overlap key; a job
// without one has a single lane. No operation costs more because many runs are queued.
type jobRuns struct {
	waking bool // the job is among the machine's wakes
	called int  // how many of the runs steps of workflows have called

	active []*watchedRun // triggered, or waiting for a retry
	busy   int           // those that count for the rule for overlap; runs of a backfill have a limit of their own
	queued int           // runs that wait in lanes

	plain lane             // of runs without a key
	lanes map[string]*lane // the others that have runs
	// turns has each lane in which a queued run may begin as far as is known, and maybe others. Free places go round
	// these lanes, so that a long queue does not keep the runs of other keys waiting.
	turns []*lane
	late  startHeap // queued runs that have to begin by some instant

	succeeded *success // nil while no run of an earlier fire is alive or may begin
}

func (r *jobRuns) empty() bool { return len(r.active)+r.queued == 0 && r.succeeded == nil }

// backfilling returns how many runs of the job's backfills are alive. There is one backfill
// at a time: the next one begins when all runs of the one before have ended.
func (r *jobRuns) backfilling() int {
	if r == nil {
		return 0
	}
	return len(r.active) - r.busy
}

// lane returns the lane of a key, which is not kept if it has no runs.
func (r *jobRuns) lane(key string) *lane {
	if key == "" {
		return &r.plain
	}
	if l := r.lanes[key]; l != nil {
		return l
	}
	return &lane{key: key}
}

// keep returns the lane of a key that gets a run.
func (r *jobRuns) keep(key string) *lane {
	l := r.lane(key)
	if key != "" && r.lanes[key] == nil {
		if r.lanes == nil {
			r.lanes = map[string]*lane{}
		}
		r.lanes[key] = l
	}
	return l
}

// counts reports whether a run counts for the rule for overlap. Runs of a backfill must not delay what is due, nor be
// skipped for it.
func (a *watchedRun) counts() bool { return a.cause != job.CauseBackfill }

// activate enters a run that is triggered, or waits for a retry.
func (r *jobRuns) activate(a *watchedRun) {
	r.active = append(r.active, a)
	if a.counts() {
		r.busy++
		r.keep(a.lane).busy++
	}
}

// push enters a run at the end of the queue of its lane.
func (r *jobRuns) push(a *watchedRun) {
	l := r.keep(a.lane)
	a.place = l.queue.PushBack(a)
	r.queued++
	if a.startBy != 0 {
		heap.Push(&r.late, a)
	}
	r.offer(l)
}

// remove takes out a run, if it is there.
func (r *jobRuns) remove(a *watchedRun) {
	l := r.lane(a.lane)
	if a.place != nil {
		l.queue.Remove(a.place)
		a.place = nil
		r.queued--
		if a.startBy != 0 {
			heap.Remove(&r.late, a.slot)
		}
	} else {
		i := slices.Index(r.active, a)
		if i < 0 {
			return
		}
		r.active = slices.Delete(r.active, i, i+1)
		if a.counts() {
			r.busy--
			l.busy--
		}
		r.offer(l)
	}
	if l.busy == 0 && l.queue.Len() == 0 {
		delete(r.lanes, l.key)
	}
}

// offer notes that a queued run of a lane may be able to begin.
func (r *jobRuns) offer(l *lane) {
	if !l.turn && l.queue.Len() > 0 {
		l.turn = true
		r.turns = append(r.turns, l)
	}
}

// offerAll notes that for all lanes, after the rule has changed.
func (r *jobRuns) offerAll() {
	r.offer(&r.plain)
	for _, key := range slices.Sorted(maps.Keys(r.lanes)) {
		r.offer(r.lanes[key])
	}
}

// next returns the lane with queued runs whose turn it is, nil if there is none.
func (r *jobRuns) next() *lane {
	for len(r.turns) > 0 {
		if l := r.turns[0]; l.queue.Len() > 0 {
			return l
		}
		r.pass()
	}
	return nil
}

// pass takes out the lane whose turn it is.
func (r *jobRuns) pass() *lane {
	l := r.turns[0]
	r.turns[0] = nil
	r.turns = r.turns[1:]
	l.turn = false
	return l
}

// full reports whether so many runs are alive that no further one may begin, whatever its key.
func (r *jobRuns) full(o *job.Overlap) bool {
	if o.Key == "" {
		return !o.Unlimited() && r.busy >= o.Limit
	}
	return o.Total > 0 && r.busy >= o.Total
}

// mayBegin reports whether so few runs are alive that one more of the lane may begin.
func (r *jobRuns) mayBegin(o *job.Overlap, l *lane) bool {
	return !r.full(o) && (o.Key == "" || l.busy < o.Limit)
}

// precedes reports whether queued runs come before a new one of the lane.
func (r *jobRuns) precedes(o *job.Overlap, l *lane) bool {
	if o.Key == "" {
		return r.queued > 0
	}
	if l.queue.Len() > 0 {
		return true
	}
	if o.Total == 0 {
		return false
	}
	for next := r.next(); next != nil; next = r.next() {
		if next.busy < o.Limit {
			return true
		}
		r.pass() // until one of its runs ends
	}
	return false
}

// oldest returns the run that has waited longest of those with which a run of the lane shares a queue, nil if there is
// none.
func (r *jobRuns) oldest(o *job.Overlap, l *lane) *watchedRun {
	if a := l.first(); a != nil || o.Key != "" {
		return a
	}
	if l = r.next(); l != nil { // it has a key, from before the job had none
		return l.first()
	}
	return nil
}

// waiting returns how many runs share a queue with a run of the lane.
func (r *jobRuns) waiting(o *job.Overlap, l *lane) int {
	if o.Key != "" {
		return l.queue.Len()
	}
	return r.queued
}

// ahead returns the run of the lane after which the next one may begin: the last one of its queue, or of those that
// are alive.
func (r *jobRuns) ahead(l *lane) job.RunID {
	if a := runIn(l.queue.Back()); a != nil {
		return a.runID
	}
	for _, a := range slices.Backward(r.active) {
		if a.lane == l.key && a.counts() {
			return a.runID
		}
	}
	return ""
}

// queue yields the queued runs, lane by lane.
func (r *jobRuns) queue() iter.Seq[*watchedRun] {
	return func(yield func(*watchedRun) bool) {
		in := func(l *lane) bool {
			for e := l.queue.Front(); e != nil; e = e.Next() {
				if !yield(runIn(e)) {
					return false
				}
			}
			return true
		}
		if !in(&r.plain) {
			return
		}
		for _, key := range slices.Sorted(maps.Keys(r.lanes)) {
			if !in(r.lanes[key]) {
				return
			}
		}
	}
}

// startHeap has the queued run on top that has to begin first.
type startHeap []*watchedRun

func (h startHeap) Len() int { return len(h) }

func (h startHeap) Less(i, k int) bool {
	if a, b := h[i].startBy, h[k].startBy; a != b {
		return a < b
	}
	return h[i].runID < h[k].runID
}

func (h startHeap) Swap(i, k int) {
	h[i], h[k] = h[k], h[i]
	h[i].slot, h[k].slot = i, k
}

// Push implements [heap.Interface].
func (h *startHeap) Push(x any) {
	a, _ := x.(*watchedRun)
	a.slot = len(*h)
	*h = append(*h, a)
}

// Pop implements [heap.Interface].
func (h *startHeap) Pop() any {
	last := len(*h) - 1
	a := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return a
}
