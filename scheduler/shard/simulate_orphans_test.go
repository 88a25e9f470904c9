package shard

import (
	"cmp"
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// endOrphans does what an owner does for attempts without trigger and end, once it has read
// all events.
func (w *world) endOrphans(o *owner) {
	if o.batch != nil || !o.m.NeedsEvents() {
		return
	}
	if w.feed(o, int(w.evt.last())); o.evt != w.evt {
		return
	}
	var gone []*bus.Trigger
	out := o.m.Out(w.clock + o.skew)
	slices.SortFunc(out, func(a, b *bus.Trigger) int { // or a seed would not play the same history again
		return cmp.Or(cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.Index, b.Index))
	})
	for _, t := range out {
		r := w.attempt(t.RunID, t.Attempt, t.Piece)
		switch {
		case r == nil:
			fail("attempt %d of run %s, piece %d of %d, counts as being out, and was never triggered", t.Attempt, t.RunID, t.Index, t.Total)
		case r.ended():
			fail("attempt %d of run %s, piece %d, counts as being out, and its end is known", t.Attempt, t.RunID, t.Index)
		case !slices.Contains(w.live, r):
			gone = append(gone, t)
		}
	}
	for _, t := range o.m.StillOut(gone) {
		w.endByServer(w.attempt(t.RunID, t.Attempt, t.Piece))
	}
}

// attempt returns an attempt, or a piece of one, that was triggered; nil if it is not
// followed.
func (w *world) attempt(run job.RunID, number int, piece bus.Piece) *simRun {
	if piece.Total > 0 {
		p := w.inPieces[run]
		if p == nil || number-p.split < 1 || number-p.split > len(p.attempts) {
			return nil
		}
		return p.attempts[number-p.split-1][piece.Index]
	}
	if r := w.runs[run]; r != nil && r.trigger.Attempt == number {
		return r
	}
	return nil
}
