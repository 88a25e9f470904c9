package shard

import (
	"slices"

	"carillon/bus"
	"carillon/job"
)

// ageOut removes an event from EVT that no owner has read yet: by its age, with the whole of
// EVT, or because it was never stored as it was said.
func (w *world) ageOut() {
	read := w.trig.cursor.EventSeq
	for _, o := range append(slices.Clone(w.zombies), w.owner) {
		if o != nil {
			read = max(read, o.fed, o.m.EventSeq())
		}
	}
	for _, d := range w.delayed { // what its owner has read may still be stored
		read = max(read, d.fed, d.m.EventSeq())
	}
	if read >= uint64(len(w.events)) {
		return
	}
	seq := read + 1 + w.rng.Uint64N(uint64(len(w.events))-read)
	e := &w.events[seq-1]
	if e.gone {
		return
	}
	e.gone = true
	w.say("event %d is gone: %s of attempt %d of run %s, piece %d", seq, e.event.Kind, e.event.Attempt, e.event.RunID, e.event.Index)
	r := w.attempt(e.event.RunID, e.event.Attempt, e.event.Piece)
	if r == nil || r.finished != seq {
		return
	}
	r.finished = 0 // its trigger has gone all the same; but a second end may be there
	for i, other := range w.events[seq:] {
		if o := other.event; !other.gone && o.Kind == bus.EventFinished && o.RunID == e.event.RunID && o.Attempt == e.event.Attempt && o.Index == e.event.Index {
			r.finished, r.at, r.status = seq+uint64(i)+1, other.at, o.Status
			return
		}
	}
}

// endOrphans does what an owner does for attempts without trigger and end, once it has read
// all events.
func (w *world) endOrphans(o *owner) {
	if o.batch != nil || !o.m.NeedsEvents() {
		return
	}
	w.feed(o, len(w.events))
	var gone []*bus.Trigger
	for _, t := range o.m.Out(w.clock + o.skew) {
		r := w.attempt(t.RunID, t.Attempt, t.Piece)
		switch {
		case r == nil:
			fail("attempt %d of run %s, piece %d of %d, counts as being out, and was never triggered", t.Attempt, t.RunID, t.Index, t.Total)
		case r.finished != 0:
			fail("attempt %d of run %s, piece %d, counts as being out, and its end is known", t.Attempt, t.RunID, t.Index)
		case !slices.Contains(w.live, r):
			gone = append(gone, t)
		}
	}
	for _, t := range o.m.StillOut(gone) {
		w.finishAs(w.attempt(t.RunID, t.Attempt, t.Piece), job.StatusLost)
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
