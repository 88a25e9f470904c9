package shard

import (
	"github.com/carillon-scheduler/carillon/job"
)

// This program may be unable to read a version that a newer one has saved, except for when it
// begins. The version before it ends there, and the job waits:
// it has no fires until the shard has an owner that can read the version. Time does not wait
// for that, so the cursor lists such versions, and an owner that can read one finds it as late as if
// it had just heard of it. The job's active runs follow the rules of the
// version before, if there is one; queued runs, backfills, and ends of its parents wait.

// unreadable is a version that no owner has been able to read yet.
type unreadable struct {
	job     job.Name // "": it has not been heard of since the machine was made
	version int32
	fresh   bool  // no cursor says so yet
	done    int64 // up to which an owner that could read it has decided its fires; 0: none has
}

// knows reports whether the fires of a version are decided up to the position.
func (vs *versions) knows(rev uint64) bool { return rev <= vs.inherited && vs.unreadable[rev] == nil }

// noteUnreadable enters that p is, or was so far, a version that no owner has been able to read.
func (vs *versions) noteUnreadable(e *entry, p *Prepared) {
	u := vs.unreadable[p.rev]
	if u == nil && p.plan.Unreadable {
		u = &unreadable{fresh: p.rev > vs.inherited}
		if !u.fresh { // a newer program had the shard before
			u.done = vs.sweep.decided(e)
		}
		vs.unreadable[p.rev] = u
	}
	if u == nil {
		return
	}
	u.job, u.version = e.name, p.plan.Version
	if name := (versionName{e.name, u.version}); p.plan.Unreadable && vs.partly[name] != 0 {
		u.done = vs.partly[name]
		delete(vs.partly, name)
	}
}

// putUnreadable enters a version that cannot be read.
func (vs *versions) putUnreadable(id uint32, p *Prepared) {
	e := vs.jobs.at(id)
	plan, body := p.plan, p.body
	if n := len(e.plans); n > 0 {
		plan.Rules, body = e.plans[n-1].Rules, e.bodies[n-1]
	}
	from, position := plan.From, vs.sweep.decided(e)
	late := vs.begin(id, &plan, p.rev)
	if began := vs.delays.began(id); late && vs.unreadable[p.rev].fresh && began != 0 && began <= vs.written {
		plan.From = max(plan.From, position) // a fixed delay may have fired up to there
	}
	noted := plan.From
	if n := len(e.plans); n > 0 { // it may have been moved, and for good only if the cursor is to say so
		noted = max(noted, vs.begins[versionName{e.name, e.plans[n-1].Version}])
		plan.From = max(plan.From, e.plans[n-1].From)
	}
	if late && noted > from {
		vs.begins[versionName{e.name, plan.Version}] = noted
	}
	e.plans = append(e.plans, plan)
	e.bodies = append(e.bodies, body)
	vs.trim(e)
}

// isUnreadable reports whether nobody has been able to read a version yet.
func (vs *versions) isUnreadable(v versionName) bool {
	for _, u := range vs.unreadable {
		if u.job == v.job && u.version == v.version {
			return true
		}
	}
	return false
}

// hasUnreadable reports whether a job has a version that no owner could read so far. The fires of such
// a version are decided later than those of the versions after it.
func (vs *versions) hasUnreadable(name job.Name) bool {
	for _, u := range vs.unreadable {
		if u.job == name {
			return true
		}
	}
	return false
}

// unreadableDone returns up to when somebody has decided the fires of a version who could read it; 0:
// nobody has.
func (vs *versions) unreadableDone(v versionName) int64 {
	for _, u := range vs.unreadable {
		if u.job == v.job && u.version == v.version {
			return u.done
		}
	}
	return 0
}

// forgetBegin forgets where the fires of a version begin that are all decided: not those of
// one that somebody will read later, nor of the one behind it, where it ends.
func (vs *versions) forgetBegin(v versionName) {
	if !vs.needsBegin(v) {
		delete(vs.begins, v)
	}
}

// needsBegin reports whether somebody will have to know where a version begins, though its own
// fires may be decided.
func (vs *versions) needsBegin(v versionName) bool {
	return vs.isUnreadable(v) || vs.isUnreadable(versionName{v.job, v.version - 1})
}
