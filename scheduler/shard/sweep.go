package shard

import (
	"slices"

	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/scheduler/ring"
)

// sweep is the position of the shard in time, and moves it: a sweep decides what is due up to an
// instant, job by job in the order of their keys, in as many batches as that takes.
type sweep struct {
	jobs   *jobs
	fires  *fires
	delays *delays
	runs   *runs
	passed func(id uint32) // is called for each job that a sweep has decided

	// All is decided up to done, and, while a sweep is on, for jobs up to after also up to to.
	done    int64
	to      int64 // 0: no sweep is on
	after   key
	ids     []uint32 // that are still to be decided in the sweep, in order
	resumed bool     // the sweep is a predecessor's, and ids has not been filled

	ring *ring.Ring   // when jobs need attention that are not in the sweep
	due  []ring.Entry // scratch
}

// restore enters the sweep of a predecessor.
func (s *sweep) restore(c *journal.Sweep) {
	if c != nil {
		s.to, s.after, s.resumed = c.To.UnixMilli(), keyOf(c.After), true
	}
}

// save enters the position in the cursor of a batch.
func (s *sweep) save(c *journal.Cursor) {
	c.Done = instant(s.done)
	if s.on() && s.after != (key{}) {
		c.Sweep = &journal.Sweep{To: instant(s.to), After: s.after.name}
	}
}

// on reports whether a sweep is on.
func (s *sweep) on() bool { return s.to != 0 }

// nextAt returns when something is due while no sweep is on, at the latest at idle.
func (s *sweep) nextAt(idle int64) int64 {
	at, ok := s.ring.NextAt()
	if !ok {
		return idle
	}
	return min(max(at, s.done+1), idle) // no sweep begins before
}

// forget drops a job that is removed.
func (s *sweep) forget(id uint32) {
	if s.jobs.at(id).sweeping {
		s.ids = slices.DeleteFunc(s.ids, func(other uint32) bool { return other == id })
	}
	s.ring.Cancel(id)
}

// begin takes what is due from the ring, if no sweep is on.
func (s *sweep) begin(now int64) {
	switch {
	case s.resumed:
		now = s.to
	case s.to != 0 || now <= s.done:
		return
	}
	s.due = s.ring.Due(now, s.due[:0])
	for _, d := range s.due {
		e := s.jobs.at(d.ID)
		if s.resumed && e.compare(s.after) <= 0 {
			// The predecessor had passed it before it was armed; it is due later than now.
			s.arm(d.ID)
			continue
		}
		s.ids = append(s.ids, d.ID)
	}
	s.resumed = false
	for _, id := range s.ids {
		s.jobs.at(id).sweeping = true
	}
	slices.SortFunc(s.ids, func(a, b uint32) int { return s.jobs.at(a).compare(s.jobs.at(b).key) })
	s.to = now
}

// run decides jobs of the sweep until it ends or b is full.
func (s *sweep) run(b *builder, now int64) {
	if s.to == 0 {
		return
	}
	for len(s.ids) > 0 {
		id := s.ids[0]
		if !s.decide(b, id, now) {
			return // the rest is for the next batch
		}
		e := s.jobs.at(id)
		e.sweeping = false
		s.after = e.key
		s.ids = s.ids[1:]
		s.passed(id)
	}
	s.done = s.to
	s.to, s.after, s.ids = 0, key{}, s.ids[:0]
}

// join adds a job to the sweep, at its place.
func (s *sweep) join(id uint32) {
	e := s.jobs.at(id)
	e.sweeping = true
	at, _ := slices.BinarySearchFunc(s.ids, e.key, func(other uint32, k key) int { return s.jobs.at(other).compare(k) })
	s.ids = slices.Insert(s.ids, at, id)
}

// decide decides one job of the sweep. It returns false, and leaves everything as
// it was, when b has no room for it.
func (s *sweep) decide(b *builder, id uint32, now int64) bool {
	e := s.jobs.at(id)
	messages := s.fires.decide(e.name.Group(), e.plans, 0, len(e.plans), s.done, s.to, now)
	delayed, next := s.delays.decide(id, s.to, now)
	if s.delays.byJob[id] != nil {
		messages += roomDelay
	}
	if !b.fits(messages) {
		return false
	}
	s.fires.enactAll(b, id, messages)
	if next != nil {
		s.delays.enact(b, id, delayed, next, now)
	}
	if at, waits := s.runs.wakeAt(id); waits && at <= s.to {
		s.runs.wake(id)
	}
	return true
}

// decided returns the instant up to which all of the job's fires are decided, but for
// those of its late versions. It is the job's position as the last cursor has it.
func (s *sweep) decided(e *entry) int64 {
	if s.to != 0 && e.compare(s.after) <= 0 {
		return s.to
	}
	return s.done
}

// arm sets when the job needs attention next: in the sweep that is on, if the sweep has not
// reached it yet, or at an instant.
func (s *sweep) arm(id uint32) {
	e := s.jobs.at(id)
	if e.sweeping {
		return
	}
	at, ok := e.plans.NextDue(s.decided(e))
	if fire, waits := s.delays.fire(id); waits && (!ok || fire.Due < at) {
		at, ok = fire.Due, true
	}
	if wake, waits := s.runs.wakeAt(id); waits && (!ok || wake < at) {
		// Not before what is decided: a clock that stands would find it due again and again.
		at, ok = max(wake, s.decided(e)+1), true
	}
	if !ok {
		s.ring.Cancel(id)
		return
	}
	if at <= s.to && !s.resumed && e.compare(s.after) > 0 {
		s.ring.Cancel(id)
		s.join(id)
		return
	}
	s.ring.Set(id, at)
}

// ahead returns by how much the position is ahead of now, as a clock that was ahead leaves it; 0 if it is
// not. All that fires up to there has its outcome.
func (s *sweep) ahead(now int64) int64 { return max(s.done-now, s.to-now, 0) }
