package shard

import (
	"github.com/carillon-scheduler/carillon/job"
)

// delay is the state of a fixed-delay job: it waits either for an instant or for the
// end of a run. A deferred item on the stream says the same, so that a successor
// knows; while the item has yet to be written, unsettled is true.
type delay struct {
	item      *item
	unsettled bool
	before    *item     // while unsettled, the item to release when this one is written
	began     uint64    // revision of the version with which the job began to wait
	run       job.RunID // waits for its end; "": waits for since + the job's delay
	since     int64
}

// hasDelay reports whether the job's newest version is a fixed-delay one.
func (m *Machine) hasDelay(id uint32) bool {
	e := m.jobs.at(id)
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
	if m.delays.byJob[id] != nil {
		return false
	}
	since := plan.From
	if m.knows(rev) {
		// Its item will be found, or is lost. It may have fired up to here.
		since = max(since, m.decided(m.jobs.at(id)))
	}
	// Up to here somebody has decided its fires before, who could read the version.
	since = max(since, m.late.partly[versionName{m.jobs.at(id).name, plan.Version}])
	m.setDelay(id, &delay{since: since, began: rev})
	return !m.knows(rev)
}

// setDelay replaces what the job waits for, and owes the stream an item. The item
// before it is released with the batch that has the new one, not earlier: between
// two batches the job must not be without.
func (m *Machine) setDelay(id uint32, d *delay) {
	if was := m.delays.byJob[id]; was != nil {
		d.began = was.began
		if d.before = was.item; was.unsettled {
			d.before = was.before
		}
	}
	d.unsettled = true
	m.delays.byJob[id] = d
	m.delays.unsettled = append(m.delays.unsettled, id)
}

// replaceDelay replaces what the job waits for; the caller writes the item.
func (m *Machine) replaceDelay(id uint32, d *delay) {
	if was := m.delays.byJob[id]; was != nil {
		d.began = was.began
	}
	m.dropDelay(id)
	m.delays.byJob[id] = d
}

func (m *Machine) dropDelay(id uint32) {
	if d := m.delays.byJob[id]; d != nil {
		m.items.release(d.item)
		m.items.release(d.before)
		delete(m.delays.byJob, id)
	}
}

// waitsFor reports whether a fixed-delay job waits for the end of this run.
func (m *Machine) waitsFor(id uint32, run job.RunID) bool {
	d := m.delays.byJob[id]
	return d != nil && d.run != "" && d.run == run
}

// endDelay lets the job wait for its next fire, if it waits for the end of this run. The
// caller has found room for a message.
func (m *Machine) endDelay(b *builder, id uint32, ended job.RunID, at int64) {
	if !m.waitsFor(id, ended) {
		return
	}
	// Not before the run's own fire, whatever the clocks say: the next one must be later.
	next := &delay{since: max(at, ended.Time().UnixMilli())}
	m.replaceDelay(id, next)
	b.waitItem(m.jobs.at(id).name, next)
	m.arm(id)
}

// settle writes the items that are owed.
func (m *Machine) settle(b *builder) {
	var rest []uint32
	for _, id := range m.delays.unsettled {
		d := m.delays.byJob[id]
		if d == nil || !d.unsettled {
			continue
		}
		if !b.fits(1) {
			rest = append(rest, id)
			continue
		}
		b.waitItem(m.jobs.at(id).name, d)
		m.items.release(d.before)
		d.unsettled, d.before = false, nil
	}
	m.delays.unsettled = rest
}

// delayFire returns the fire for which the job waits, if it waits for one.
func (m *Machine) delayFire(id uint32) (job.Fire, bool) {
	d := m.delays.byJob[id]
	plans := m.jobs.at(id).plans
	if d == nil || d.run != "" || plans[len(plans)-1].Unreadable {
		return job.Fire{}, false
	}
	return plans[len(plans)-1].DelayFire(d.since)
}

// decideDelay returns what becomes of the fire of a fixed-delay job that is due in
// upto, and what the job waits for afterwards; nil when none is due.
func (m *Machine) decideDelay(id uint32, upto, now int64) (verdict, *delay) {
	fire, ok := m.delayFire(id)
	if !ok || fire.Due > upto {
		return verdict{}, nil
	}
	e := m.jobs.at(id)
	last := len(e.plans) - 1
	p, group := &e.plans[last], e.name.Group()
	v := verdict{plan: last, status: job.StatusPending, cause: job.CauseSchedule, first: fire, last: fire, count: 1}
	late := now-fire.Due > p.Misfire.Grace.Milliseconds()
	switch why := m.Cluster.excluded(group, p, fire.At); {
	case why != "":
		v.status, v.reason = job.StatusSkipped, why
	case late && (p.Misfire.Policy == job.MisfireSkip || m.Cluster.pausedBy(group, now) != nonePaused):
		v.status, v.reason = job.StatusMissed, m.missedReason(group, p, fire.Due, fire.Due, now)
	case late:
		v.cause, v.reason = job.CauseMisfire, m.lateReason(fire.Due, now)
	default:
		v.reason = m.withinGrace(fire.Due, now)
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

// roomDelay is the most messages that a fire of a fixed delay takes: a trigger and two items.
const roomDelay = 3

// enactDelay adds to b the fire of a fixed-delay job, and what the job waits for next.
func (m *Machine) enactDelay(b *builder, id uint32, fire verdict, next *delay, now int64) {
	if s := m.apply(b, id, fire); s == job.StatusSkipped || s == job.StatusMissed && next.run != "" {
		next = &delay{since: max(now, fire.first.At)}
	}
	m.replaceDelay(id, next)
	b.waitItem(m.jobs.at(id).name, next)
}
