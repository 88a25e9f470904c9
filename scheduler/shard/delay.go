package shard

import (
	"slices"

	"carillon/bus"
	"carillon/job"
)

// delay is the state of a fixed-delay job: it waits either for an instant or for the
// end of a run. A deferred item on the stream says the same, so that a successor
// knows; while the item has yet to be written, unsettled is true.
type delay struct {
	seq       uint64 // of the item; 0: not stored yet
	unsettled bool
	old       uint64    // while unsettled, the item to release when this one is written
	event     uint64    // sequence of the event that made it, if one did
	began     uint64    // revision of the version with which the job began to wait
	run       job.RunID // waits for its end; "": waits for since + the job's delay
	since     int64
}

// PutDeferred tells of a deferred item that was found on the stream at seq. All are
// told before the first Step, after the jobs, in the order of their sequences. An item
// that nobody needs any more is released: where a job has several, because the owner
// died before it could release the earlier ones, the last one holds.
func (m *Machine) PutDeferred(d *bus.Deferred, seq uint64) {
	if slices.Contains(m.released, seq) {
		return
	}
	id, ok := m.byName[d.Job]
	if !ok {
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
	m.replaceDelay(id, state)
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

// putDelay begins, keeps or ends the waiting of a job of which plan, at revision rev, is
// the newest. It returns true when the stream is to have an item of this before the
// version may count as known.
func (m *Machine) putDelay(id uint32, plan *job.Plan, rev uint64) bool {
	if !m.hasDelay(id) {
		m.dropDelay(id)
		return false
	}
	if m.delays[id] != nil {
		return false
	}
	since := plan.From
	if rev <= m.jobsSeq {
		// Its item will be found, or is lost. It may have fired up to here.
		since = max(since, m.decided(&m.jobs[id]))
	}
	m.setDelay(id, &delay{since: since, began: rev})
	return rev > m.jobsSeq
}

// item returns the sequence of the item on the stream that stands for d or for what
// d is to replace; 0: there is none.
func (d *delay) item() uint64 {
	if d == nil {
		return 0
	}
	return max(d.seq, d.old) // one of them is 0
}

// setDelay replaces what the job waits for, and owes the stream an item. The item
// before it is released with the batch that has the new one, not earlier: between
// two batches the job must not be without.
func (m *Machine) setDelay(id uint32, d *delay) {
	if before := m.delays[id]; before != nil {
		d.old, d.began = before.item(), before.began
	}
	d.unsettled = true
	m.delays[id] = d
	m.unsettled = append(m.unsettled, id)
}

// replaceDelay replaces what the job waits for; the caller writes the item.
func (m *Machine) replaceDelay(id uint32, d *delay) {
	if before := m.delays[id]; before != nil {
		m.releaseItem(before.item())
		d.began = before.began
	}
	m.delays[id] = d
}

func (m *Machine) dropDelay(id uint32) {
	m.releaseItem(m.delays[id].item())
	delete(m.delays, id)
}

func (m *Machine) releaseItem(seq uint64) {
	if seq != 0 {
		m.release = append(m.release, seq)
	}
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
		m.releaseItem(d.old)
		d.unsettled, d.old = false, 0
	}
	m.unsettled = rest
}

// settledSeq returns the sequence up to which events have had their effect, given
// that what is unsettled is not in the batch: its events are for a successor to read.
func (m *Machine) settledSeq() uint64 {
	seq := m.eventSeq
	for _, id := range m.unsettled {
		if d := m.delays[id]; d != nil && d.unsettled && d.event != 0 {
			seq = min(seq, d.event-1)
		}
	}
	return seq
}

// delayFire returns the fire for which the job waits, if it waits for one.
func (m *Machine) delayFire(id uint32) (job.Fire, bool) {
	d := m.delays[id]
	if d == nil || d.run != "" {
		return job.Fire{}, false
	}
	plans := m.jobs[id].plans
	return plans[len(plans)-1].DelayFire(d.since)
}

// decideDelay returns what becomes of the fire of a fixed-delay job that is due in
// the sweep, and what the job waits for afterwards; nil when none is due.
func (m *Machine) decideDelay(id uint32, now int64) (verdict, *delay) {
	fire, ok := m.delayFire(id)
	if !ok || fire.Due > m.sweepTo {
		return verdict{}, nil
	}
	e := &m.jobs[id]
	last := len(e.plans) - 1
	p := &e.plans[last]
	v := verdict{plan: last, status: job.StatusPending, cause: job.CauseSchedule, first: fire, last: fire, count: 1}
	late := now-fire.Due > p.Misfire.Grace.Milliseconds()
	switch why := m.excluded(p, fire.At); {
	case why != "":
		v.status, v.reason = job.StatusSkipped, why
	case late && (p.Misfire.Policy == job.MisfireSkip || m.held(now)):
		v.status, v.reason = job.StatusMissed, m.missedReason(p, now)
	case late:
		v.cause, v.reason = job.CauseMisfire, lateReason(fire.Due, now)
	}
	switch {
	case v.status == job.StatusPending:
		return v, &delay{run: job.FireRunID(e.name, fire.At, v.cause)}
	case late:
		return v, &delay{since: max(now, fire.At)} // the time of being away is not caught up
	default:
		return v, &delay{since: fire.At}
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
		// Not before the run's own fire, whatever the clocks say: the next one must be later.
		m.setDelay(id, &delay{since: max(at, d.run.Time().UnixMilli()), event: seq})
		m.arm(id)
	}
}
