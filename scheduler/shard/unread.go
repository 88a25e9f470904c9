package shard

import (
	"carillon/job"
)

// A version that a newer program has saved may say what this one does not know. All that can
// be read of it then is when it begins. The version before it ends there, and the job is held:
// it has no fires until somebody owns the shard who can read the version. Time does not wait
// for that, so the cursor lists such versions, and whoever can read one finds it as late as if
// it had just been heard of. The runs of the job that are alive go on by the rules of the
// version before.

// unread is a version that no owner could read yet.
type unread struct {
	job     job.Name // "": it has not been heard of since the machine was made
	version int32
	fresh   bool  // no cursor says so yet
	done    int64 // up to which somebody has decided its fires who could read it; 0: nobody has
}

// knows reports whether the fires of a version are decided up to the position.
func (m *Machine) knows(rev uint64) bool { return rev <= m.jobsSeq && m.unread[rev] == nil }

// noteUnread notes of which job an unread version is.
func (m *Machine) noteUnread(e *entry, p *Prepared) {
	u := m.unread[p.rev]
	if u == nil && p.plan.Unreadable {
		u = &unread{fresh: p.rev > m.jobsSeq}
		if !u.fresh { // a newer program had the shard before
			u.done = m.decided(e)
		}
		m.unread[p.rev] = u
	}
	if u == nil {
		return
	}
	u.job, u.version = e.name, p.plan.Version
	if name := (versionName{e.name, u.version}); p.plan.Unreadable && m.partly[name] != 0 {
		u.done = m.partly[name]
		delete(m.partly, name)
	}
}

// putUnreadable enters a version that cannot be read.
func (m *Machine) putUnreadable(id uint32, p *Prepared) {
	e := &m.jobs[id]
	plan, body := p.plan, p.body
	if n := len(e.plans); n > 0 {
		plan.Rules, body = e.plans[n-1].Rules, e.bodies[n-1]
	}
	if said := plan.From; m.begin(id, &plan, p.rev) && plan.From > said {
		m.begins[versionName{e.name, plan.Version}] = plan.From
	}
	e.plans = append(e.plans, plan)
	e.bodies = append(e.bodies, body)
	m.trim(e)
	m.arm(id)
	m.wake(id)
}
