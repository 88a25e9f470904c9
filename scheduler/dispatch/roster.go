package dispatch

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/scheduler/route"
)

// busyFor is how long an instance that had no free slot is not asked again.
const busyFor = 200 * time.Millisecond

// maxPools bounds how many pools are remembered.
const maxPools = 1000

// roster is what is known of a group's instances. It is safe for concurrent use.
type roster struct {
	mu      sync.Mutex
	members map[string]*member
	pools   map[poolKey]*pool // emptied when what they are made of changes
	memory  route.Memory
	closed  time.Time // until then all members are known to be busy
}

// member is an instance that is live, or was not long ago. The roster's mutex guards
// all but its name.
type member struct {
	name  string
	hash  uint64
	info  fleet.Instance
	to    bus.Address
	heard time.Time
	// Why it is not asked, and until when; without an instant, until its next heartbeat.
	shun      string
	shunUntil time.Time
	bridge    string
	// Which start of it was told last from which consumers to pull, and whether it is being told.
	directed  incarnation
	directing bool
}

// incarnation is an instance from when it starts, or another bridge begins to serve it.
type incarnation struct {
	to     bus.Address
	bridge string
}

// pool is the instances, by name, that may get runs of one kind. Its members do not change.
type pool struct {
	members   []*member
	instances []route.Instance // them as strategies see them; the roster's mutex guards it
	matched   int              // how many have the labels, and take work, whatever they can do
}

type poolKey struct{ kind, handler, labels string }

// poolOf returns the key of the pool for runs of t.
func poolOf(t *bus.Trigger) poolKey {
	return poolKey{kind: t.Task.Kind(), handler: t.Task.Handler, labels: t.Labels.String()}
}

// applyHeartbeat applies a heartbeat.
func (r *roster) applyHeartbeat(beat *bus.Heartbeat, heard time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := &beat.Instance
	m := r.members[i.Instance]
	if m == nil {
		m = &member{name: i.Instance, hash: route.HashOf(i.Instance)}
		r.members[i.Instance] = m
	}
	if !m.info.SameUse(i) {
		r.pools = nil
	}
	if m.info.Slots < i.Slots {
		r.reopenLocked(m, heard)
	}
	m.info, m.to, m.bridge, m.heard = *i, beat.Address(), beat.Bridge, heard
	if m.shunUntil.IsZero() {
		m.shun = ""
	}
}

// forget drops an instance that has left.
func (r *roster) forget(instance string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.members, instance)
	r.pools = nil
}

// expire drops instances whose heartbeat has ceased, which would have been heard of since
// an instant.
func (r *roster) expire(now, since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, m := range r.members {
		if now.Sub(later(m.heard, since)) > fleet.InstanceTTL {
			delete(r.members, name)
			r.pools = nil
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// addresses returns where the instances are asked that are not known to be gone.
func (r *roster) addresses() []bus.Address {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]bus.Address, 0, len(r.members))
	for _, m := range r.members {
		all = append(all, m.to)
	}
	return all
}

// count returns how many instances are known, and how many of those take routed runs.
func (r *roster) count() (known, open int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.members {
		if m.open() {
			open++
		}
	}
	return len(r.members), open
}

// open reports whether the instance takes routed runs.
func (m *member) open() bool {
	return m.info.Routable()
}

// rank returns the instances that may get the run, and the order in which to try them.
func (r *roster) rank(o *offer) (*pool, iter.Seq[int]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rankLocked(o)
}

func (r *roster) rankLocked(o *offer) (*pool, iter.Seq[int]) {
	t := o.t
	p := r.poolLocked(t)
	run := route.Run{Route: t.Route, Job: t.Work(), ID: t.RunID, Delivery: o.delivery, Prefer: cmp.Or(o.from, t.Prefer)}
	return p, route.Order(p.instancesLocked(), run, &r.memory)
}

// first returns the instance that comes first for the run, nil when there is none or it is
// not to be asked now.
func (r *roster) first(o *offer, now time.Time) *member {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, order := r.rankLocked(o)
	var m *member
	order(func(i int) bool { m = p.members[i]; return false })
	if m == nil || m.shunnedAt(now) != "" {
		return nil
	}
	return m
}

func (r *roster) poolLocked(t *bus.Trigger) *pool {
	key := poolOf(t)
	if p := r.pools[key]; p != nil {
		return p
	}
	p := &pool{}
	for _, name := range slices.Sorted(maps.Keys(r.members)) {
		m := r.members[name]
		if !m.open() || !m.info.Suits(t.Labels) {
			continue
		}
		p.matched++
		if m.info.Can(&t.Task) {
			p.members = append(p.members, m)
		}
	}
	if r.pools == nil || len(r.pools) >= maxPools {
		r.pools = map[poolKey]*pool{}
	}
	r.pools[key] = p
	return p
}

// instancesLocked returns the pool as strategies see it, until it is called again.
func (p *pool) instancesLocked() []route.Instance {
	if p.instances == nil {
		p.instances = make([]route.Instance, len(p.members))
		for i, m := range p.members {
			p.instances[i] = route.Instance{Name: m.name, Hash: m.hash}
		}
	}
	for i, m := range p.members {
		p.instances[i].Slots, p.instances[i].Running = m.info.Slots, m.info.Running
	}
	return p.instances
}

// shunned returns why a member is not to be asked now, "" when it is.
func (r *roster) shunned(m *member, now time.Time) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return m.shunnedAt(now)
}

// shunnedAt is shunned with the roster's mutex held.
func (m *member) shunnedAt(now time.Time) string {
	if !m.shunUntil.IsZero() && !now.Before(m.shunUntil) {
		m.shun, m.shunUntil = "", time.Time{}
	}
	return m.shun
}

// busy reports whether a member is there, but was not asked, or refused, for want of a slot.
func (r *roster) busy(m *member) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return m.shun != "" && !m.shunUntil.IsZero()
}

// freed has an instance asked at the given instant that was busy: a run of it has ended.
func (r *roster) freed(instance string, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.members[instance]
	if m == nil {
		return
	}
	m.info.Running = max(m.info.Running-1, 0)
	r.reopenLocked(m, at)
}

// reopenLocked has a member that was busy asked from an instant on.
func (r *roster) reopenLocked(m *member, at time.Time) {
	if m.shunUntil.After(at) {
		m.shunUntil = at
	}
	if r.closed.After(at) {
		r.closed = at
	}
}

// closedUntil returns until when all instances that take routed runs are known to be busy;
// it is past when one may be free. One that is gone or does not answer counts as free:
// nobody knows.
func (r *roster) closedUntil() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// closeLocked finds out until when all are busy.
func (r *roster) closeLocked(now time.Time) {
	r.closed = time.Time{}
	var until time.Time
	for _, m := range r.members {
		switch {
		case !m.open():
		case !m.shunUntil.After(now):
			return
		case until.IsZero() || m.shunUntil.Before(until):
			until = m.shunUntil
		}
	}
	r.closed = until
}

// free returns how many slots for runs of t are free, as far as is known.
func (r *roster) free(t *bus.Trigger) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.poolLocked(t).members {
		n += max(m.info.Slots-m.info.Running, 0)
	}
	return n
}

// avoid has a member not asked until its next heartbeat.
func (r *roster) avoid(m *member, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m.shun, m.shunUntil = why, time.Time{}
}

// learn applies what an instance says of itself in an answer.
func (r *roster) learn(m *member, reply *fleet.InstanceReply, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.info.State != reply.State {
		m.info.State = reply.State
		r.pools = nil
	}
	m.info.Running, m.info.Slots = reply.Running, reply.Slots
	if reply.Answer == fleet.AnswerBusy && reply.Running >= reply.Slots {
		m.shun, m.shunUntil = reason.InstanceBusy.With(m.name, reply.Running, reply.Slots), now.Add(busyFor)
		r.closeLocked(now)
	}
}

// note remembers who got a run.
func (r *roster) note(name job.Name, instance string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	live := make([]route.Instance, 0, len(r.members))
	for _, member := range slices.Sorted(maps.Keys(r.members)) {
		live = append(live, route.Instance{Name: member})
	}
	r.memory.Note(name, instance, live)
}

// address returns where a member takes requests, by its latest heartbeat.
func (r *roster) address(m *member) bus.Address {
	r.mu.Lock()
	defer r.mu.Unlock()
	return m.to
}

// toDirect returns whom to tell from which consumers to pull, if that start of the member has
// not been told, and nobody is about to.
func (r *roster) toDirect(instance string) (one incarnation, is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.members[instance]
	if m == nil {
		return one, false
	}
	if one = (incarnation{m.to, m.bridge}); m.directing || m.directed == one {
		return one, false
	}
	m.directing = true
	return one, true
}

// noteDirected notes whether a member has been told from which consumers to pull.
func (r *roster) noteDirected(instance string, one incarnation, told bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.members[instance]
	if m == nil {
		return
	}
	m.directing = false
	if told {
		m.directed = one
	}
}

// find returns the member of that name, nil if there is none.
func (r *roster) find(instance string) *member {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.members[instance]
}
