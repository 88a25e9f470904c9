package scheduler

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// expireEvery is how often heartbeats that have ceased are looked for.
const expireEvery = time.Second

// roster is the instances of one group whose heartbeat is fresh. A broadcast goes to
// those that are online; which instance a run is handed to is package dispatch's
// business, which hears the same heartbeats.
type roster struct {
	members map[string]*rosterMember // used by watchInstances alone
	// online is in the order of the names. It is replaced, not changed; the mutex of clusterState
	// guards it.
	online []*fleet.Instance
}

type rosterMember struct {
	fleet.Instance
	heard time.Time
}

// watchInstances follows heartbeats until ctx is done, and calls started once: when
// those that were stored before are known.
func (t *clusterState) watchInstances(ctx context.Context, w jetstream.KeyWatcher, started func()) {
	known := false
	defer func() {
		if !known {
			started()
		}
	}()
	tick := time.NewTicker(expireEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e, open := <-w.Updates():
			switch {
			case !open:
				return
			case e != nil:
				t.putInstance(ctx, e, known)
			case !known:
				known = true
				started()
			}
		case now := <-tick.C:
			t.expireInstances(ctx, now)
		}
	}
}

// putInstance takes in a heartbeat, or that an instance has left.
func (t *clusterState) putInstance(ctx context.Context, e jetstream.KeyValueEntry, live bool) {
	group, name, ok := strings.Cut(e.Key(), ".")
	if !ok || job.CheckSlug("instance", name) != nil {
		return
	}
	t.mu.Lock()
	r := t.rosters[group]
	if r == nil {
		r = &roster{members: map[string]*rosterMember{}}
		t.rosters[group] = r
	}
	t.mu.Unlock()
	was := r.members[name]
	if e.Operation() != jetstream.KeyValuePut {
		delete(r.members, name)
		if was != nil {
			t.publishOnline(ctx, group, r)
		}
		return
	}
	h, err := bus.ParseHeartbeat(e.Key(), e.Value())
	if err != nil {
		return // not one of ours
	}
	is := &rosterMember{Instance: h.Instance, heard: time.Now()}
	if !live && e.Created().Before(is.heard) {
		is.heard = e.Created() // perhaps long ago
	}
	if time.Since(is.heard) > fleet.InstanceTTL {
		return
	}
	r.members[name] = is
	if was == nil || !was.SameUse(&is.Instance) {
		t.publishOnline(ctx, group, r)
	}
}

// expireInstances drops instances whose heartbeat has ceased.
func (t *clusterState) expireInstances(ctx context.Context, now time.Time) {
	t.mu.Lock()
	rosters := maps.Clone(t.rosters)
	t.mu.Unlock()
	for group, r := range rosters {
		lost := false
		for name, m := range r.members {
			if now.Sub(m.heard) > fleet.InstanceTTL {
				delete(r.members, name)
				lost = true
			}
		}
		if lost {
			t.publishOnline(ctx, group, r)
		}
	}
}

// publishOnline passes the online instances of a group to every machine.
func (t *clusterState) publishOnline(ctx context.Context, group string, r *roster) {
	online := []*fleet.Instance{}
	for _, m := range r.members {
		if m.Routable() {
			online = append(online, &m.Instance)
		}
	}
	slices.SortFunc(online, func(a, b *fleet.Instance) int { return cmp.Compare(a.Instance, b.Instance) })
	t.mu.Lock()
	r.online = online
	t.mu.Unlock()
	t.broadcast(ctx, func(m *shard.Machine) { m.PutInstances(group, online) })
}
