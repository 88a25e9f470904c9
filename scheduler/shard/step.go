package shard

import (
	"encoding/json"

	"github.com/carillon-scheduler/carillon/job"
)

// Step decides all that is to be decided at now, in Unix milliseconds, as far as it
// fits into room messages, and returns the batch to publish, or nil when there is
// nothing to publish (or not enough room for the next piece: room for
// [bus.MaxBatch] messages is always enough). The caller publishes the batch, as
// often as it takes, and then calls [Machine.Committed] or throws the machine away;
// until then Step must not be called again.
func (m *Machine) Step(now int64, room int) *Batch {
	if m.cursor.flight != nil {
		m.cfg.bug("step while a batch is under way")
	}
	if m.versions.loaded() {
		m.watches.extendDeadlines(now)
	}
	if m.items.crowded() {
		return nil
	}
	b := newBuilder(&m.cfg, &m.items, m.Cluster, now, room)
	m.items.building = b
	defer func() { m.items.building = nil }()
	after := m.sweep.after

	// What has happened to runs comes first: their ends free room for others.
	m.Cancels.endWaiting(b)
	m.Cancels.condemn(b)
	m.waiting.end(b)
	m.delays.settle(b)
	m.react(b)
	m.pings.handleEarly(b)

	// Then what is asked for, by ends of parents and by people.
	m.children.answerForgotten(b)
	if !m.Cluster.reserved() {
		m.children.arrive(b)
	}
	m.Requests.obey(b)
	m.Requests.recover(b)
	m.Requests.tell(b)
	m.Requests.hold(b)
	m.Backfills.take(b)

	// Then what is due: first behind the position, then up to now.
	m.runs.wakeUp(b)
	if !m.Cluster.reserved() && m.sweep.ahead(now) == 0 && m.versions.decide(b, now) {
		m.sweep.begin(now)
		m.sweep.run(b, now)
		m.waiting.admit(b)
	}
	m.runs.wakeUp(b)

	// What is left of the batch is for the rest of long runs, and for the past.
	m.steps.sendAll(b, m.runs.follows)
	m.steps.sendCallOffs(b, &m.runs)
	m.pieces.sendAll(b)
	if !m.sweep.on() && len(m.versions.late) == 0 {
		m.Backfills.fill(b)
	}

	m.Backfills.age(now)
	m.Requests.note(b)
	m.pieces.write(b)
	m.steps.write(b)
	if b.empty() && m.sweep.after == after && m.sweep.done-m.cursor.stored < IdleAfter && m.versions.edits < maxEdits {
		// What is not written has not happened: so a version that comes now is late
		// only if it begins before the stored position.
		m.sweep.done = m.cursor.stored
		return nil
	}
	return m.seal(b)
}

// runEnded does what follows from the end of a watched run in the other parts.
func (m *Machine) runEnded(b *builder, a *watchedRun, s job.Status, result json.RawMessage, at int64) {
	if a.of != nil {
		m.steps.ended(b, a, s, result)
		return
	}
	if a.caller != nil {
		m.children.answer(b, a.attempt, s, result, at)
	} else {
		m.children.tell(b, a, s, result, at)
	}
	if a.cause == job.CauseBackfill {
		m.Backfills.wake(a.jobID)
	} else {
		m.Failures.count(b, a, s, m.jobs.at(a.jobID).newest())
	}
	if s == job.StatusSucceeded {
		m.runs.noteSuccess(b, a)
	}
	m.delays.end(b, a.jobID, a.runID, at)
}

// react does what follows from the ends of attempts, as far as b has room.
func (m *Machine) react(b *builder) {
	for len(m.Events.ends) > 0 && m.reactTo(b, m.Events.ends[0]) {
		m.Events.ends = m.Events.ends[1:]
	}
}

// reactTo does what follows from one end. It returns false, and leaves everything as it was, when b
// has no room for it.
func (m *Machine) reactTo(b *builder, e *end) bool {
	if e.ping != nil {
		return m.pings.handle(b, *e.ping)
	}
	if a := m.runs.byID[e.run]; a != nil {
		return m.runs.endAttempt(b, a, e)
	}
	id, ok := m.jobs.find(e.job) // it is not watched, or has ended already
	if !ok || e.begun || !m.delays.waitsFor(id, e.run) {
		return true
	}
	if !b.fits(1) {
		return false
	}
	m.delays.end(b, id, e.run, e.at)
	return true
}
