package alert

import (
	"slices"

	"github.com/carillon-scheduler/carillon/job"
)

// maxRecentEnds is how many ends an alerter knows again: about 8 MB.
const maxRecentEnds = 1 << 16

// attemptEnd is the end of an attempt.
type attemptEnd struct {
	run     job.RunID
	attempt int
	status  job.Status
}

// recentEnds are the last ends that the rules have judged. An executor repeats an end until NATS has
// acknowledged it; the streams know a repeat only for as long as their windows of duplicates are.
type recentEnds struct {
	known map[attemptEnd]bool
	ring  []attemptEnd // the oldest is at next, once it is full
	next  int
}

// has reports whether an outcome is an end that was noted before.
func (r *recentEnds) has(o *outcome) bool {
	return o.Status.Final() && r.known[attemptEnd{o.RunID, o.Attempt, o.Status}]
}

// of reports whether an end of an attempt was noted.
func (r *recentEnds) of(id job.RunID, attempt int) bool {
	return slices.ContainsFunc(job.Statuses, func(s job.Status) bool { return r.known[attemptEnd{id, attempt, s}] })
}

// note remembers an end, and forgets the oldest one if there are too many.
func (r *recentEnds) note(o *outcome) {
	if !o.Status.Final() || r.has(o) {
		return
	}
	if r.known == nil {
		r.known = map[attemptEnd]bool{}
	}
	e := attemptEnd{o.RunID, o.Attempt, o.Status}
	r.known[e] = true
	if len(r.ring) < maxRecentEnds {
		r.ring = append(r.ring, e)
		return
	}
	delete(r.known, r.ring[r.next])
	r.ring[r.next], r.next = e, (r.next+1)%maxRecentEnds
}
