package shard

import (
	"cmp"
	"maps"
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// lateVersion is a version of which the machine heard when its position had passed
// the version's beginning already, so that it owes fires behind the position. (Or one
// that began a fixed delay, of which the stream has no item yet; or one that wants fires
// early, and owes the runs in their place.) Until it is decided, the cursor says that the
// version is not known, and no sweep goes on: a successor then finds the same version as
// late as it is here.
type lateVersion struct {
	id      uint32
	version int32
	rev     uint64
	said    int64  // where it says that its fires begin
	delayed uint64 // revision with which the fixed delay began that it came after; 0: none
	early   []job.Skip
	done    int64 // its fires due up to here are decided; 0: none is
}

// versionName names a version of a job.
type versionName struct {
	job     job.Name
	version int32
}

// loaded notes that the machine has heard of all that there was when it was made.
func (m *Machine) loaded() {
	if !m.loading {
		return
	}
	m.loading = false
	clear(m.late.partly)
	maps.DeleteFunc(m.late.unread, func(_ uint64, u *unread) bool { return u.job == "" }) // gone from the bucket
	maps.DeleteFunc(m.late.begins, func(v versionName, _ int64) bool {                    // of jobs that are gone
		id, ok := m.jobs.find(v.job)
		return !ok || m.jobs.at(id).index(v.version) < 0 && !m.needsBegin(v)
	})
}

// begin sets where the fires of plan begin, which is to be the job's newest, and
// reports whether some of them may be behind the job's position: whether it is late.
//
// A new job's begin where it says. An edit's do so too, unless the version before it
// has fired in its time, since nobody knew better: that stands, and the edit's own
// begin after the last such fire.
func (m *Machine) begin(id uint32, plan *job.Plan, rev uint64) (late bool) {
	e := m.jobs.at(id)
	position := m.decided(e)
	known := m.knows(rev)
	late = !known && plan.From < position
	from, noted := m.late.begins[versionName{e.name, plan.Version}]
	if noted && (known || late) {
		plan.From = max(plan.From, from)
		return late
	}
	if !late {
		return false
	}
	switch n := len(e.plans); {
	case m.late.unread[rev] != nil && !m.late.unread[rev].fresh: // the version before has stopped where this one begins
	case n == 0 && plan.Version > 1:
		plan.From = position // an edit of what is no longer in the bucket's history
	case n > 0 && e.plans[n-1].Unreadable: // which may have fired at any instant while somebody could read it
		plan.From = max(plan.From, m.unreadDone(versionName{e.name, e.plans[n-1].Version}))
	case n > 0 && !m.isLate(id, e.plans[n-1].Version): // else the version before has not fired yet
		plan.From = m.lastFire(e, plan.From, position)
	case n > 0:
		if done := m.doneOf(id, e.plans[n-1].Version); done != 0 { // or only up to there
			if from := m.lastFire(e, plan.From, done); from > plan.From {
				plan.From = from
				m.late.begins[versionName{e.name, plan.Version}] = from
			}
		}
	}
	return true
}

// isLate reports whether a version of a job is among the late ones.
func (m *Machine) isLate(id uint32, version int32) bool {
	return slices.ContainsFunc(m.late.versions, func(v lateVersion) bool { return v.id == id && v.version == version })
}

// doneOf returns up to which instant the fires of a late version are decided; 0: none is.
func (m *Machine) doneOf(id uint32, version int32) int64 {
	for i := range m.late.versions {
		if v := &m.late.versions[i]; v.id == id && v.version == version {
			return v.done
		}
	}
	return 0
}

// began returns the revision with which the job's fixed delay began, if it has one.
func (ds *delays) began(id uint32) uint64 {
	if d := ds.byJob[id]; d != nil {
		return d.began
	}
	return 0
}

// lastFire returns the time of the last fire after the given instant that the job's
// newest version had due by position; that instant when there is none. A fixed delay's
// do not count.
func (m *Machine) lastFire(e *entry, after, position int64) int64 {
	last := len(e.plans) - 1
	if p := &e.plans[last]; p.Shift != "" {
		e.plans.Fires(last, after+p.Offset, position, func(f job.Fire) bool {
			fired := p.Nominal(f.At)
			if !fired && f.At <= m.fires.moved.since {
				landing, _ := m.Cluster.lands(p, f.At)
				fired = landing != job.LandsNone
			}
			if fired {
				after = f.At
			}
			return true
		})
		return max(after, m.fires.moved.at[e.name])
	}
	if f, ok := e.plans.LastDue(last, after+e.plans[last].Offset, position); ok {
		return f.At
	}
	return after
}

// decideLate decides the fires of late versions behind their jobs' positions, version
// by version in the order of their revisions, so that one number in the cursor says
// how far it has come. It returns false when there are some left: for want of room, or
// because the position is ahead of the clock. Then no fire is decided before it is due, and
// the cursor says of each such version how far it has come.
func (m *Machine) decideLate(b *builder, now int64) bool {
	waiting := 0 // how many of the first must wait; those behind them must stay, too
	for waiting < len(m.late.versions) {
		v := m.late.versions[waiting]
		if !m.decideVersion(b, &v, now) {
			return false
		}
		m.late.versions[waiting].done, m.late.versions[waiting].early = v.done, v.early
		e := m.jobs.at(v.id)
		if waiting > 0 || m.decided(e) > now {
			waiting++
			if v.done != 0 {
				m.noteBegins(e, v)
				m.late.begins[versionName{e.name, v.version}] = e.plans[e.index(v.version)].From
			}
			continue
		}
		m.late.versions = m.late.versions[1:]
		e.waiting--
		delete(m.late.unread, v.rev)
		m.runs.wake(v.id) // it may have a success that was kept for this version
		m.noteBegins(e, v)
		m.trim(e)
		m.arm(v.id)
	}
	return waiting == 0
}

// noteBegins keeps for a successor what it could not find out: where the fires of the
// late version v, which is decided now, begin; and those of the next one, if that is
// late too, since v has fired no further.
func (m *Machine) noteBegins(e *entry, v lateVersion) {
	i := e.index(v.version)
	if from := e.plans[i].From; from > v.said {
		m.late.begins[versionName{e.name, v.version}] = from
	} else {
		delete(m.late.begins, versionName{e.name, v.version})
	}
	if i++; i < len(e.plans) && e.plans[i].From <= m.decided(e) {
		next := &e.plans[i]
		next.From = max(next.From, e.plans[i-1].From)
		m.late.begins[versionName{e.name, next.Version}] = next.From
	}
}

// decideVersion decides the fires of a late version up to the job's position, or up to now,
// after the runs that it wants early. It returns false when b has no room for all of that; its fires
// are decided in one batch.
func (m *Machine) decideVersion(b *builder, v *lateVersion, now int64) bool {
	if d := m.delays.byJob[v.id]; d != nil && d.unsettled {
		return false
	}
	e := m.jobs.at(v.id)
	i := e.index(v.version)
	p := &e.plans[i]
	position := m.decided(e)
	if i > 0 {
		p.From = max(p.From, e.plans[i-1].From) // which may have been moved
	}
	if v.delayed != 0 && v.delayed <= m.knownSeq && v.done == 0 {
		// The fixed delay has fired nobody knows when, but not beyond the position; and not since
		// somebody has decided fires of this version.
		p.From = max(p.From, position)
	}
	// A version that has to wait makes those runs in the end: what says for long that they are
	// made is the cursor alone, which has to pass the version.
	if position <= now && !m.runEarly(b, v, i) {
		return false
	}
	m.fires.verdicts = m.fires.verdicts[:0]
	messages := 0
	m.fires.decide(e.name.Group(), e.plans, i, i+1, max(p.From+p.Offset, v.done), min(position, now), now, func(v verdict) {
		m.fires.verdicts = append(m.fires.verdicts, v)
		if v.status == job.StatusPending {
			messages++
		}
	})
	if m.delays.byJob[v.id] != nil {
		messages++ // the run that it waits for may have to give way
	}
	if !b.fits(messages) {
		return false
	}
	m.fires.enactAll(b, v.id, messages)
	if len(m.fires.verdicts) > 0 {
		v.done = min(position, now)
	}
	return true
}

// listLate returns for the cursor how far late versions have come.
func (m *Machine) listLate() []bus.Late {
	var list []bus.Late
	for name, done := range m.late.partly { // not heard of yet
		list = append(list, bus.Late{Job: name.job, Version: int(name.version), Done: instant(done)})
	}
	for _, u := range m.late.unread {
		if u.done != 0 {
			list = append(list, bus.Late{Job: u.job, Version: int(u.version), Done: instant(u.done)})
		}
	}
	for _, v := range m.late.versions {
		if v.done != 0 {
			list = append(list, bus.Late{Job: m.jobs.at(v.id).name, Version: int(v.version), Done: instant(v.done)})
		}
	}
	slices.SortFunc(list, func(a, b bus.Late) int { return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Version, b.Version)) })
	return list
}

// sealKnown returns the revision up to which versions are decided up to the position.
func (m *Machine) sealKnown() uint64 {
	m.knownSeq = m.heard
	for i := range m.late.versions {
		if m.late.unread[m.late.versions[i].rev] == nil { // else the cursor lists it by itself
			m.knownSeq = m.late.versions[i].rev - 1
			break
		}
	}
	return m.knownSeq
}

// listBegins returns m.late.begins for the cursor, in order.
func (m *Machine) listBegins() []bus.Begin {
	var list []bus.Begin
	for name, from := range m.late.begins {
		list = append(list, bus.Begin{Job: name.job, Version: int(name.version), After: instant(from)})
	}
	slices.SortFunc(list, func(a, b bus.Begin) int { return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Version, b.Version)) })
	return list
}

// putDelay lets the job wait for its first fire, if plan, at revision rev, is its newest and begins a
// fixed delay. It returns true when the stream is to have an item of this before the version may
// count as known.
func (m *Machine) putDelay(id uint32, plan *job.Plan, rev uint64) bool {
	e, since := m.jobs.at(id), plan.From
	if m.knows(rev) {
		// Its item will be found, or is lost. It may have fired up to here.
		since = max(since, m.decided(e))
	}
	// Up to here somebody has decided its fires before, who could read the version.
	since = max(since, m.late.partly[versionName{e.name, plan.Version}])
	return m.delays.put(id, rev, since) && !m.knows(rev)
}
