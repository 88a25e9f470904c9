package shard

import (
	"carillon/bus"
	"carillon/job"
)

// delay is the state of a fixed-delay job: it waits either for an instant or for the
// end of a run. A deferred item on the stream says the same, so that a successor
// knows; while the item has yet to be written, unsettled is true.
type delay struct {
	seq       uint64 // of the item; 0: not stored yet
	unsettled bool
	run       job.RunID // waits for its end; "": waits for since + the job's delay
	since     int64
}

// PutDeferred tells of a deferred item that was found on the stream at seq. All are
// told before the first Step, after the jobs. An item that nobody needs any more is
// released.
func (m *Machine) PutDeferred(d *bus.Deferred, seq uint64) {
	for _, gone := range m.released {
		if gone == seq {
			return
		}
	}
	id, ok := m.byName[d.Job]
	if !ok {
		m.release = append(m.release, seq)
		return
	}
	if old := m.delays[id]; old != nil && old.seq != 0 {
		m.release = append(m.release, seq)
		return
	}
	state := &delay{seq: seq}
	switch d.Kind {
	case bus.DeferredEnd:
		state.run = d.RunID
	case bus.DeferredDelay:
		state.since = d.Since.UnixMilli()
	default:
		m.bug("deferred item %d is of unknown kind %q", seq, d.Kind)
	}
	m.delays[id] = state
	if !m.hasDelay(id) {
		m.dropDelay(id)
	}
	m.arm(id)
}

// hasDelay reports whether the job's newest version is a fixed-delay one.
func (m *Machine) hasDelay(id uint32) bool {
	e := &m.jobs[id]
	if len(e.plans) == 0 {
		return false
	}
	p := &e.plans[len(e.plans)-1]
	return p.Kind == job.KindFixedDelay && !p.Deleted
}

// putDelay begins, keeps or ends the waiting of a job of which plan is the newest.
func (m *Machine) putDelay(id uint32, plan *job.Plan) {
	if !m.hasDelay(id) {
		m.dropDelay(id)
		return
	}
	if m.delays[id] == nil {
		m.setDelay(id, &delay{since: plan.From})
	}
}

// setDelay replaces what the job waits for, and owes the stream an item.
func (m *Machine) setDelay(id uint32, d *delay) {
	m.replaceDelay(id, d)
	d.unsettled = true
	m.unsettled = append(m.unsettled, id)
}

// replaceDelay replaces what the job waits for; the caller writes the item.
func (m *Machine) replaceDelay(id uint32, d *delay) {
	if old := m.delays[id]; old != nil && old.seq != 0 {
		m.release = append(m.release, old.seq)
	}
	m.delays[id] = d
}

func (m *Machine) dropDelay(id uint32) {
	d := m.delays[id]
	if d == nil {
		return
	}
	if d.seq != 0 {
		m.release = append(m.release, d.seq)
	}
	delete(m.delays, id)
}

// settle writes the items that are owed.
func (m *Machine) settle(b *builder) {
	var rest []uint32
	for _, id := range m.unsettled {
		d := m.delays[id]
		if d == nil || !d.unsettled {
			continue
		}
		if !b.fits(1) {
			rest = append(rest, id)
			continue
		}
		b.hold(id, d)
		d.unsettled = false
	}
	m.unsettled = rest
}

// delayDue returns the instant for which the job waits, if it waits for one.
func (m *Machine) delayDue(id uint32) (int64, bool) {
	d := m.delays[id]
	if d == nil || d.run != "" {
		return 0, false
	}
	plans := m.jobs[id].plans
	return d.since + plans[len(plans)-1].Delay, true
}

// decideDelay returns what becomes of the fire of a fixed-delay job that is due in
// the sweep, and what the job waits for afterwards; nil when none is due.
func (m *Machine) decideDelay(id uint32, now int64) (verdict, *delay) {
	due, ok := m.delayDue(id)
	if !ok || due > m.sweepTo {
		return verdict{}, nil
	}
	e := &m.jobs[id]
	last := len(e.plans) - 1
	p := &e.plans[last]
	fire := job.Fire{At: due, Due: due}
	v := verdict{plan: last, status: job.StatusPending, cause: job.CauseSchedule, first: fire, last: fire, count: 1}
	late := now-due > p.Misfire.Grace.Milliseconds()
	switch why := m.excluded(p, due); {
	case why != "":
		v.status, v.reason = job.StatusSkipped, why
	case late && p.Misfire.Policy == job.MisfireSkip:
		v.status, v.reason = job.StatusMissed, missedReason(p)
	case late:
		v.cause, v.reason = job.CauseMisfire, lateReason(due, now)
	}
	switch {
	case v.status == job.StatusPending:
		return v, &delay{run: job.FireRunID(e.name, due, v.cause)}
	case late:
		return v, &delay{since: now} // the time of being away is not caught up
	default:
		return v, &delay{since: due}
	}
}

// NeedsEvents reports whether the machine has to hear of the ends of runs.
func (m *Machine) NeedsEvents() bool { return len(m.delays) > 0 }

// EventSeq returns the sequence of EVT up to which events have had their effect.
func (m *Machine) EventSeq() uint64 { return m.eventSeq }

// SkipEvents says that no event up to seq concerns this shard: while NeedsEvents was
// false they were not read.
func (m *Machine) SkipEvents(seq uint64) { m.eventSeq = max(m.eventSeq, seq) }

// Event tells of an event of this shard. at is when JetStream stored it, in Unix
// milliseconds, the same for every reader. Events come in order; repeats are passed
// over, and so is a second end of a run.
func (m *Machine) Event(e *bus.Event, seq uint64, at int64) {
	if seq <= m.eventSeq {
		return
	}
	m.eventSeq = seq
	if e.Kind != bus.EventFinished {
		return
	}
	id, ok := m.byName[e.Job]
	if !ok {
		return
	}
	if d := m.delays[id]; d != nil && d.run != "" && d.run == e.RunID {
		m.setDelay(id, &delay{since: at})
		m.arm(id)
	}
}
