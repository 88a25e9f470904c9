package shard

import (
	"encoding/json"
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// Step decides all that is to be decided at now, in Unix milliseconds, as far as it
// fits into room messages, and returns the batch to publish, or nil when there is
// nothing to publish (or not enough room for the next piece: room for
// [bus.MaxBatch] messages is always enough). The caller publishes the batch, as
// often as it takes, and then calls [Machine.Committed] or throws the machine away;
// until then Step must not be called again.
func (m *Machine) Step(now int64, room int) *Batch {
	if m.flight != nil {
		m.cfg.bug("step while a batch is under way")
	}
	m.loaded()
	if m.items.crowded() {
		return nil
	}
	m.stepped = now
	b := m.newBatch(now, room)
	m.items.building = b
	defer func() { m.items.building = nil }()
	after := m.after
	m.Cancels.endWaiting(b)
	m.Cancels.condemn(b)
	m.delays.settle(b)
	m.react(b)
	if !m.Cluster.reserved() {
		m.children.arrive(b)
	}
	m.Requests.obey(b)
	m.Backfills.take(b)
	if m.ahead(now) && !m.Cluster.reserved() {
		m.passTime(b, now)
	}
	m.runs.wakeUp(b)
	if !m.Cluster.reserved() && m.decideLate(b, now) && max(m.done, m.sweepTo) <= now {
		m.beginSweep(now)
		m.continueSweep(b, now)
	}
	m.runs.wakeUp(b)
	m.pieces.sendAll(b)
	if m.sweepTo == 0 && len(m.late.versions) == 0 {
		m.Backfills.fill(b)
	}
	m.Backfills.age(now)
	m.Requests.note(b)
	m.pieces.write(b)
	if b.empty() && m.after == after && m.done-m.stored < IdleAfter && m.edits < maxEdits {
		// What is not written has not happened: so a version that comes now is late
		// only if it begins before the stored position.
		m.done = m.stored
		return nil
	}
	return m.seal(b)
}

// runEnded does what follows from the end of a watched run in the other parts.
func (m *Machine) runEnded(b *builder, a *alive, s job.Status, result json.RawMessage, at int64) {
	m.children.tell(b, a, s, result, at)
	if a.cause == job.CauseBackfill {
		m.Backfills.wake(a.id)
	} else {
		m.Failures.count(b, a, s, m.jobs.at(a.id).newest())
	}
	if s == job.StatusSucceeded {
		m.runs.noteSuccess(b, a)
	}
	m.delays.end(b, a.id, a.run.id, at)
}

// Claim returns a batch that only writes the cursor, where it is. The first batch of
// an owner: once it is stored, no earlier owner can commit, so what the new one
// reads next stays true.
func (m *Machine) Claim(now int64) *Batch {
	m.Relay.begin(now)
	return m.seal(m.newBatch(now, bus.MaxBatch))
}

// beginSweep takes what is due from the ring, if no sweep is on.
func (m *Machine) beginSweep(now int64) {
	switch {
	case m.resumed:
		now = m.sweepTo
	case m.sweepTo != 0 || now <= m.done:
		return
	}
	m.scratch.due = m.ring.Due(now, m.scratch.due[:0])
	for _, d := range m.scratch.due {
		e := m.jobs.at(d.ID)
		if m.resumed && e.compare(m.after) <= 0 {
			// Armed while its predecessor had passed it already; it is due later than now.
			m.arm(d.ID)
			continue
		}
		m.sweep = append(m.sweep, d.ID)
	}
	m.resumed = false
	for _, id := range m.sweep {
		m.jobs.at(id).sweeping = true
	}
	slices.SortFunc(m.sweep, func(a, b uint32) int { return m.jobs.at(a).compare(m.jobs.at(b).key) })
	m.sweepTo = now
}

// continueSweep decides jobs of the sweep until it ends or b is full.
func (m *Machine) continueSweep(b *builder, now int64) {
	if m.sweepTo == 0 {
		return
	}
	for len(m.sweep) > 0 {
		id := m.sweep[0]
		if !m.sweepJob(b, id, now) {
			return // the rest is for the next batch
		}
		e := m.jobs.at(id)
		e.sweeping = false
		m.after = e.key
		m.sweep = m.sweep[1:]
		m.trim(e)
		m.arm(id)
	}
	m.done = m.sweepTo
	m.sweepTo, m.after, m.sweep = 0, key{}, m.sweep[:0]
}

// join adds a job to the sweep, at its place.
func (m *Machine) join(id uint32) {
	e := m.jobs.at(id)
	e.sweeping = true
	at, _ := slices.BinarySearchFunc(m.sweep, e.key, func(other uint32, k key) int { return m.jobs.at(other).compare(k) })
	m.sweep = slices.Insert(m.sweep, at, id)
}

// sweepJob decides one job of the sweep. It returns false, and leaves everything as
// it was, when b has no room for it.
func (m *Machine) sweepJob(b *builder, id uint32, now int64) bool {
	e := m.jobs.at(id)
	m.fires.verdicts = m.fires.verdicts[:0]
	messages := 0
	m.fires.decide(e.name.Group(), e.plans, 0, len(e.plans), m.done, m.sweepTo, now, func(v verdict) {
		m.fires.verdicts = append(m.fires.verdicts, v)
		if v.status == job.StatusPending {
			messages++
		}
	})
	delayed, next := m.delays.decide(id, m.sweepTo, now)
	if m.delays.byJob[id] != nil {
		messages += roomDelay
	}
	if !b.fits(messages) {
		return false
	}
	m.fires.enactAll(b, id, messages)
	if next != nil {
		m.delays.enact(b, id, delayed, next, now)
	}
	if books := m.runs.byJob[id]; books != nil {
		if at, waits := books.wakeAt(); waits && at <= m.sweepTo {
			m.runs.wake(id)
		}
	}
	return true
}
