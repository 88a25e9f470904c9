package shard

import (
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// eventStream is a model of EVT. Its events have the sequences from 1 on.
type eventStream struct {
	made   time.Time
	events []*storedEvent
	// lost is the sequence after which it has lost all that it had, maybe several times, if it is
	// restored: what came later has taken the numbers of that.
	lost     uint64
	restored bool
}

type storedEvent struct {
	ping  *bus.Ping // it is one; then there is no event
	event *bus.Event
	at    int64
	gone  bool // before any owner had read it
}

// carriedEvent is an event, and its sequence, that an owner has read of an EVT that is no more.
type carriedEvent struct {
	seq uint64
	*storedEvent
}

func (e *eventStream) last() uint64 { return uint64(len(e.events)) }

// after returns the events behind a sequence, up to another.
func (e *eventStream) after(from, upto uint64) []*storedEvent {
	return e.events[min(from, upto):upto]
}

// simRun is an attempt of a run, or a piece of one.
type simRun struct {
	trigger  *bus.Trigger // of its newest attempt
	token    string
	finished uint64     // sequence of its first end in EVT; 0: there is none
	at       int64      // when that was stored
	status   job.Status // what it says
	settled  bool       // the stored cursor says that its end has had its effect
}

// ended reports whether an end of the attempt is stored, or was.
func (r *simRun) ended() bool { return r.finished != 0 || r.settled }

// finish ends an attempt.
func (w *world) finish(r *simRun) { w.finishAs(r, w.someStatus()) }

// someStatus returns how an attempt may end.
func (w *world) someStatus() job.Status {
	if w.chance(40) {
		return []job.Status{job.StatusFailed, job.StatusTimedOut, job.StatusLost, job.StatusCancelled}[w.rng.IntN(4)]
	}
	return job.StatusSucceeded
}

// finishAs has the executor report the end of an attempt.
func (w *world) finishAs(r *simRun, status job.Status) {
	e := bus.EventOf(r.trigger, bus.EventFinished, instant(w.clock))
	e.Status = status
	e.Retry = r.trigger.Retry.Again(e.Attempt, status, nil)
	if r.trigger.Split && status == job.StatusSucceeded {
		e.Result, e.Retry = w.list(), true
	}
	if !e.Retry { // nor does it say anything else that readers look at twice
		w.tell(e)
		return
	}
	heard, err := w.heard(r, e)
	if err != nil {
		fail("the end of attempt %d of run %s is refused: %v", e.Attempt, e.RunID, err)
	}
	w.tell(heard)
}

// heard returns what readers make of an event that the executor of an attempt sends.
func (w *world) heard(r *simRun, e *bus.Event) (*bus.Event, error) {
	m, err := e.Msg(r.token)
	if err != nil {
		return nil, err // nothing that can be sent
	}
	m.Subject = bus.SubjectEvent(simShard, r.trigger.Job.Group())
	return tokens.DecodeEvent(m.Subject, m.Header, m.Data, instant(w.clock), simShards)
}

// endByServer ends an attempt that no executor has any more.
func (w *world) endByServer(r *simRun) {
	e := bus.EventOf(r.trigger, bus.EventFinished, instant(w.clock))
	e.Status = job.StatusLost
	w.tell(e)
}

// tell stores an event.
func (w *world) tell(e *bus.Event) {
	w.evt.events = append(w.evt.events, &storedEvent{event: e, at: w.clock})
	w.noteEvent(e)
	if e.Kind != bus.EventFinished {
		return
	}
	w.say("attempt %d of run %s of %s, piece %d of %d, is %s", e.Attempt, e.RunID, e.Job, e.Index, e.Total, e.Status)
	r := w.attempt(e.RunID, e.Attempt, e.Piece)
	if r == nil || r.ended() {
		return
	}
	r.finished, r.at, r.status = w.evt.last(), w.clock, e.Status
	w.leave(r)
}

// leave takes an attempt from the executors.
func (w *world) leave(r *simRun) {
	switch i := slices.Index(w.live, r); { // the first costs nothing: a history may have 100,000, which end in turn
	case i == 0:
		w.live = w.live[1:]
	case i > 0:
		w.live = slices.Delete(w.live, i, i+1)
	}
	if w.past = append(w.past, r); len(w.past) > 64 {
		w.past = w.past[32:]
	}
}

// beginEvents tells a new owner which EVT there is.
func (w *world) beginEvents(o *owner) {
	o.evt = w.evt
	o.m.Events.Begin(w.evt.made, w.evt.last())
	o.began = o.m.Events.Seq()
	if w.read != w.evt && o.began > 0 {
		w.passOver(o.began)
	}
}

// passOver notes that EVT has lost its end, and has as many events again before anybody has
// noticed: nobody reads those that have taken the numbers of what was read.
func (w *world) passOver(read uint64) {
	for seq := w.evt.lost + 1; seq <= min(read, w.evt.last()); seq++ {
		w.vanish(seq)
	}
}

// feed brings an owner n further events, some of them again.
func (w *world) feed(o *owner, n int) {
	if o.evt != w.evt {
		if w.checkEvents(o); o.evt != w.evt {
			return
		}
	}
	last := w.evt.last()
	if !o.m.NeedsEvents() {
		if w.chance(50) {
			o.m.Events.Skip(last)
			o.fed = last
		}
		return
	}
	for ; n > 0 && o.fed < last; n-- {
		o.fed++
		w.event(o, o.fed)
		if w.chance(10) {
			w.event(o, 1+w.rng.Uint64N(o.fed))
		}
	}
}

func (w *world) event(o *owner, seq uint64) {
	if e := o.evt.events[seq-1]; !e.gone {
		o.m.Event(e.event, seq, e.at)
	}
}

// checkEvents does what an owner does from time to time: one that has read an EVT that is no
// more gives up the shard. One that cannot tell goes on with what there is.
func (w *world) checkEvents(o *owner) {
	switch {
	case o.batch != nil || w.chance(50):
	case !o.m.Events.Knows(o.m.Events.Seq(), w.evt.made, w.evt.last()):
		w.say("epoch %d notices that EVT is another one", o.m.cfg.Epoch)
		w.lose(o)
	case o == w.owner:
		w.passOver(o.m.Events.Seq())
		from := o.began
		if o.evt == w.read {
			from = w.trig.cursor.EventSeq
		}
		for i, e := range o.evt.after(from, o.fed) {
			o.carried = append(o.carried, carriedEvent{from + uint64(i) + 1, e})
		}
		o.evt, o.began, o.fed = w.evt, o.m.Events.Seq(), o.m.Events.Seq()
	}
}

// ends returns the ends that the owner of a stored batch has taken in with it, in order. It is called
// once for each.
func (w *world) ends(b *stored, o *owner) []*storedEvent {
	from := b.before.EventSeq
	if o.evt != w.read {
		from = o.began
	}
	var all []*storedEvent
	for _, e := range o.carried {
		if e.seq <= b.cursor.EventSeq {
			all = append(all, e.storedEvent)
		}
	}
	o.carried = slices.DeleteFunc(o.carried, func(e carriedEvent) bool { return e.seq <= b.cursor.EventSeq })
	return slices.DeleteFunc(append(all, o.evt.after(from, b.cursor.EventSeq)...), func(e *storedEvent) bool {
		return e.gone || e.event.Kind != bus.EventFinished
	})
}

// settleEnds notes which attempts' ends have had their effect.
func (w *world) settleEnds(ends []*storedEvent) {
	for _, end := range ends {
		e := end.event
		r := w.attempt(e.RunID, e.Attempt, e.Piece)
		if r == nil || r.settled {
			continue
		}
		r.settled, r.at, r.status = true, end.at, e.Status
		if r.finished == 0 { // EVT has lost it since
			w.leave(r)
		}
	}
}

// ageOut removes an event from EVT that no owner has read yet: by its age, with the whole of
// EVT, or because it was never stored as it was said.
func (w *world) ageOut() {
	read := uint64(0)
	if w.read == w.evt {
		read = w.trig.cursor.EventSeq
	}
	for _, o := range append(slices.Clone(w.zombies), w.owner) {
		if o != nil && o.evt == w.evt {
			read = max(read, o.fed, o.m.Events.Seq())
		}
	}
	for _, d := range w.delayed { // what its owner has read may still be stored
		if d.evt == w.evt {
			read = max(read, d.fed, d.m.Events.Seq())
		}
	}
	if read < w.evt.last() {
		w.vanish(read + 1 + w.rng.Uint64N(w.evt.last()-read))
	}
}

// vanish has an event be gone before anybody has read it.
func (w *world) vanish(seq uint64) {
	stored := w.evt.events[seq-1]
	if stored.gone {
		return
	}
	stored.gone = true
	e := stored.event
	w.say("event %d is gone: %s of attempt %d of run %s, piece %d", seq, e.Kind, e.Attempt, e.RunID, e.Index)
	w.forgotEnd[e.RunID] = true
	if r := w.attempt(e.RunID, e.Attempt, e.Piece); r != nil && r.finished == seq && !r.settled {
		w.findEnd(r, seq) // its trigger has gone all the same; but a second end may be there
	}
}

// findEnd finds the first end of an attempt behind a sequence of EVT.
func (w *world) findEnd(r *simRun, from uint64) {
	r.finished = 0
	for i, e := range w.evt.events[from:] {
		if o := e.event; !e.gone && o.Kind == bus.EventFinished && o.RunID == r.trigger.RunID && o.Attempt == r.trigger.Attempt && o.Piece == r.trigger.Piece {
			r.finished, r.at, r.status = from+uint64(i)+1, e.at, o.Status
			return
		}
	}
}

// loseEvents has EVT deleted and made anew, or restored from an older backup.
func (w *world) loseEvents() {
	was := w.evt
	if was.last() == 0 || w.chance(50) {
		return
	}
	w.evt = &eventStream{made: was.made}
	if w.chance(50) {
		w.evt.made = was.made.Add(time.Millisecond + time.Duration(w.clock-w.start)*time.Millisecond)
	} else {
		kept := w.rng.Uint64N(was.last())
		for _, e := range was.events[:kept] {
			w.evt.events = append(w.evt.events, new(*e))
		}
		if w.evt.lost, w.evt.restored = kept, true; was.restored && was != w.read {
			w.evt.lost = min(kept, was.lost) // nobody has noticed the first time yet
		}
	}
	w.say("EVT ends with %d, after %d; made anew: %v", w.evt.last(), was.last(), w.evt.made != was.made)
	for _, e := range was.events[w.evt.last():] {
		w.forgotEnd[e.event.RunID] = true
	}
	w.everyAttempt(func(r *simRun) {
		if r.finished > w.evt.last() && !r.settled {
			r.finished = 0
		}
	})
}

// everyAttempt calls do with each attempt that is followed.
func (w *world) everyAttempt(do func(*simRun)) {
	for _, r := range w.runs {
		do(r)
	}
	for _, p := range w.inPieces {
		for _, attempt := range p.attempts {
			for _, r := range attempt {
				do(r)
			}
		}
	}
}
