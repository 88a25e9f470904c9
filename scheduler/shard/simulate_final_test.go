package shard

import (
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// simHistory is what whoever reads the records and the events of a run, in any order, says
// of its newest attempt.
type simHistory struct {
	attempt  int
	recorded job.Status // final, by the owner's word; "": there is none
	said     job.Status // by the first end that an event told
	follows  bool       // which says that another attempt follows
}

// final returns the run's final status, "" while it has none.
func (h *simHistory) final() job.Status {
	if h.recorded == "" && !h.follows {
		return h.said
	}
	return h.recorded
}

// noteLine takes in a line of a record.
func (w *world) noteLine(l journal.Decided) {
	h := w.histories[l.RunID]
	if h == nil {
		h = &simHistory{}
		w.histories[l.RunID] = h
	}
	if l.Attempt > h.attempt {
		*h = simHistory{attempt: l.Attempt}
	}
	if !l.Status.Final() {
		return
	}
	if h.recorded != "" || l.Attempt < h.attempt {
		fail("run %s of %s is recorded as %s at attempt %d, and then as %s at attempt %d", l.RunID, l.Job, h.recorded, h.attempt, l.Status, l.Attempt)
	}
	h.recorded = l.Status
}

// noteEvent takes in an event.
func (w *world) noteEvent(e *bus.Event) {
	if h := w.histories[e.RunID]; h != nil && e.Kind == bus.EventFinished && e.Total == 0 && e.Attempt == h.attempt && h.said == "" {
		h.said, h.follows = e.Status, e.Retry
	}
}

// checkFinal sees, once everything has come to rest, that each run has a final status, and that
// its owner went by the same.
func (w *world) checkFinal() {
	for id, h := range w.histories {
		l := w.lives.byRun[id]
		if w.forgotEnd[id] || l != nil && l.forgotten {
			continue
		}
		if h.final() == "" {
			fail("run %s has no final status in the end: attempt %d was %q, and another one follows: %v", id, h.attempt, h.said, h.follows)
		}
		if l != nil && l.status != h.final() {
			fail("run %s of %s is %s to its owner, and %s to the history", id, l.job, l.status, h.final())
		}
	}
}
