package shard

import (
	"cmp"
	"maps"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// lateVersion is a version that the machine heard of after its position had passed
// the version's beginning, so that fires behind the position are owed. It may also be
// one that began a fixed delay without an item on the stream yet, or one that wants fires
// early, and owes the runs in their place. Until it is decided, the cursor does not count the
// version as known, and no sweep goes on: a successor then finds the same version
// late, too.
type lateVersion struct {
	id      uint32
	version int32
	rev     uint64
	from    int64  // where it says that its fires begin
	delayed uint64 // revision with which the fixed delay began that it came after; 0: none
	early   []job.Skip
}

// versionName names a version of a job.
type versionName struct {
	job     job.Name
	version int32
}

// loaded notes that the machine has heard of all that there was when it was made. It reports whether that is new.
func (vs *versions) loaded() (first bool) {
	if !vs.loading {
		return false
	}
	vs.loading = false
	maps.DeleteFunc(vs.begins, func(v versionName, _ int64) bool { // of jobs that are gone
		id, ok := vs.jobs.find(v.job)
		return !ok || vs.jobs.at(id).index(v.version) < 0
	})
	return true
}

// begin sets where the fires of plan begin, which is to be the job's newest, and
// reports whether some of them may be behind the job's position: whether it is late.
//
// A new job's begin where it says. An edit's do so too, unless the version before it
// has fired in its time, since nobody knew better: that stands, and the edit's own
// begin after the last such fire.
func (vs *versions) begin(id uint32, plan *job.Plan, rev uint64) (late bool) {
	e := vs.jobs.at(id)
	position := vs.sweep.decided(e)
	known := vs.knows(rev)
	late = !known && plan.From < position
	from, noted := vs.begins[versionName{e.name, plan.Version}]
	if noted && (known || late) {
		plan.From = max(plan.From, from)
		return late
	}
	if !late {
		return false
	}
	switch n := len(e.plans); {
	case n == 0 && plan.Version > 1:
		plan.From = position // an edit of what is no longer in the bucket's history
	case n > 0 && !vs.isLate(id, e.plans[n-1].Version): // else the version before has not fired yet
		plan.From = vs.lastFire(e, plan.From, position)
	}
	return true
}

// isLate reports whether a version of a job is among the late ones.
func (vs *versions) isLate(id uint32, version int32) bool {
	return slices.ContainsFunc(vs.late, func(v lateVersion) bool { return v.id == id && v.version == version })
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
func (vs *versions) lastFire(e *entry, after, position int64) int64 {
	last := len(e.plans) - 1
	if p := &e.plans[last]; p.Shift != "" {
		e.plans.Fires(last, after+p.Offset, position, func(f job.Fire) bool {
			fired := p.Nominal(f.At)
			if !fired && f.At <= vs.fires.moved.since {
				landing, _ := vs.fires.cluster.lands(p, f.At)
				fired = landing != job.LandsNone
			}
			if fired {
				after = f.At
			}
			return true
		})
		return max(after, vs.fires.moved.at[e.name])
	}
	if f, ok := e.plans.LastDue(last, after+e.plans[last].Offset, position); ok {
		return f.At
	}
	return after
}

// decide decides the fires of late versions behind their jobs' positions, version
// by version in the order of their revisions, so that one number in the cursor says
// how far it has come. It returns false when there is no room for all.
func (vs *versions) decide(b *builder, now int64) bool {
	for len(vs.late) > 0 {
		v := vs.late[0]
		if !vs.decideVersion(b, &vs.late[0], now) {
			return false
		}
		e := vs.jobs.at(v.id)
		vs.late = vs.late[1:]
		e.waiting--
		vs.noteBegins(e, v)
		vs.trim(e)
		vs.sweep.arm(v.id)
	}
	return true
}

// noteBegins keeps for a successor what it could not find out: where the fires of the
// late version v, which is decided now, begin; and those of the next one, if that is
// late too, since v has fired no further.
func (vs *versions) noteBegins(e *entry, v lateVersion) {
	i := e.index(v.version)
	if from := e.plans[i].From; from > v.from {
		vs.begins[versionName{e.name, v.version}] = from
	} else {
		delete(vs.begins, versionName{e.name, v.version})
	}
	if i++; i < len(e.plans) && e.plans[i].From <= vs.sweep.decided(e) {
		next := &e.plans[i]
		next.From = max(next.From, e.plans[i-1].From)
		vs.begins[versionName{e.name, next.Version}] = next.From
	}
}

// decideVersion decides the fires of a late version up to the job's position, after the runs that it
// wants early. It returns false when b has no room for all of that; its fires
// are decided in one batch.
func (vs *versions) decideVersion(b *builder, v *lateVersion, now int64) bool {
	if d := vs.delays.byJob[v.id]; d != nil && d.unsettled {
		return false
	}
	e := vs.jobs.at(v.id)
	i := e.index(v.version)
	p := &e.plans[i]
	position := vs.sweep.decided(e)
	if i > 0 {
		p.From = max(p.From, e.plans[i-1].From) // which may have been moved
	}
	if v.delayed != 0 && v.delayed <= vs.written {
		// The fixed delay has fired nobody knows when, but not beyond the position.
		p.From = max(p.From, position)
	}
	if !vs.runEarly(b, v, i) {
		return false
	}
	messages := vs.fires.decide(e.name.Group(), e.plans, i, i+1, p.From+p.Offset, position, now)
	if vs.delays.byJob[v.id] != nil {
		messages++ // the run that it waits for may have to give way
	}
	if !b.fits(messages) {
		return false
	}
	vs.fires.enactAll(b, v.id, messages)
	return true
}

// seal returns the revision up to which versions are decided up to the position.
func (vs *versions) seal() uint64 {
	vs.written = vs.heard
	if len(vs.late) > 0 {
		vs.written = vs.late[0].rev - 1
	}
	return vs.written
}

// listBegins returns for the cursor where fires of versions begin later than these say, in order.
func (vs *versions) listBegins() []journal.Begin {
	var list []journal.Begin
	for name, from := range vs.begins {
		list = append(list, journal.Begin{Job: name.job, Version: int(name.version), After: instant(from)})
	}
	slices.SortFunc(list, func(a, b journal.Begin) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Version, b.Version))
	})
	return list
}

// putDelay starts the wait for the first fire, if plan, at revision rev, is the newest and begins a
// fixed delay. It returns true if the stream must have an item of this before the version
// counts as known.
func (vs *versions) putDelay(id uint32, plan *job.Plan, rev uint64) bool {
	e, since := vs.jobs.at(id), plan.From
	if vs.knows(rev) {
		// Its item will be found, or is lost. It may have fired up to here.
		since = max(since, vs.sweep.decided(e))
	}
	return vs.delays.put(id, rev, since) && !vs.knows(rev)
}
