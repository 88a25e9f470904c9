package scheduler

import (
	"context"
	"slices"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// clusterState is what concerns all shards alike: calendars, the switches that pause everything or
// a group, which instances are online, and the entries of groups. It keeps what it has heard, for
// machines that come later.
type clusterState struct {
	s     *Scheduler
	ready chan struct{} // closed when what was stored at the start is known

	mu        sync.Mutex
	calendars map[string][]*job.CalendarVersion // by name; as many of each as the bucket keeps
	pauses    map[string][]job.Pause            // by group, "" for everything; as many of each as the bucket keeps
	rosters   map[string]*roster                // by group
	groups    map[string]cluster.Group
}

func newClusterState(s *Scheduler) *clusterState {
	return &clusterState{s: s, ready: make(chan struct{}), calendars: map[string][]*job.CalendarVersion{}, pauses: map[string][]job.Pause{}, rosters: map[string]*roster{}, groups: map[string]cluster.Group{}}
}

// follow passes changes to all machines until ctx is done.
func (t *clusterState) follow(ctx context.Context) {
	calendars := t.s.watch(ctx, t.s.conn.Calendars().Watch)
	if calendars == nil {
		return
	}
	defer func() { _ = calendars.Stop() }()
	holds := t.s.watch(ctx, t.s.conn.Pauses().Watch)
	if holds == nil {
		return
	}
	defer func() { _ = holds.Stop() }()
	instances := t.s.watch(ctx, t.s.conn.Bulk().Instances().Watch)
	if instances == nil {
		return
	}
	defer func() { _ = instances.Stop() }()
	groups := t.s.watch(ctx, t.s.conn.Groups().Watch)
	if groups == nil {
		return
	}
	defer func() { _ = groups.Stop() }()
	var started, watches sync.WaitGroup
	started.Add(4)
	watches.Go(func() { t.watch(ctx, groups, started.Done, t.putGroup) })
	watches.Go(func() { t.watch(ctx, calendars, started.Done, t.putCalendar) })
	watches.Go(func() { t.watch(ctx, holds, started.Done, t.putPause) })
	watches.Go(func() { t.watchInstances(ctx, instances, started.Done) })
	started.Wait()
	close(t.ready)
	watches.Wait()
}

// await waits until the state that was stored at the node's start is read: a shard that fired earlier
// would ignore a calendar, or miss an instance of a broadcast. It returns false when ctx is done.
func (t *clusterState) await(ctx context.Context) bool {
	select {
	case <-t.ready:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// watch calls put with each entry, and started once: when all that was stored before
// has been put, or the watch ended before that.
func (t *clusterState) watch(ctx context.Context, w jetstream.KeyWatcher, started func(), put func(context.Context, jetstream.KeyValueEntry)) {
	start := sync.OnceFunc(started)
	defer start()
	for e := range w.Updates() { // until ctx is done
		switch {
		case e == nil:
			start()
		case e.Operation() == jetstream.KeyValuePut:
			put(ctx, e)
		}
	}
}

func (t *clusterState) putCalendar(ctx context.Context, e jetstream.KeyValueEntry) {
	v, err := cluster.DecodeCalendarVersion(e.Value())
	if err == nil {
		_, err = v.Compile()
	}
	if err != nil {
		t.s.log.ErrorContext(ctx, "calendar unusable", "calendar", e.Key(), "error", err)
		return
	}
	t.mu.Lock()
	versions := t.calendars[e.Key()]
	versions = append(versions, v)
	t.calendars[e.Key()] = slices.Delete(versions, 0, max(len(versions)-bus.CalendarHistory, 0))
	t.mu.Unlock()
	t.broadcast(ctx, func(m *shard.Machine) { _ = m.Cluster.PutCalendar(v) }) // it compiled above
}

func (t *clusterState) putPause(ctx context.Context, e jetstream.KeyValueEntry) {
	h, err := cluster.DecodePause(e.Value())
	if err != nil {
		t.s.log.ErrorContext(ctx, "pause unusable", "key", e.Key(), "error", err)
		return
	}
	group := cluster.GroupOfHold(e.Key())
	t.mu.Lock()
	holds := t.pauses[group]
	holds = append(holds, h)
	t.pauses[group] = slices.Delete(holds, 0, max(len(holds)-bus.HoldHistory, 0))
	t.mu.Unlock()
	t.broadcast(ctx, func(m *shard.Machine) { m.Cluster.PutHold(group, h) })
}

func (t *clusterState) putGroup(ctx context.Context, e jetstream.KeyValueEntry) {
	g, err := cluster.DecodeGroup(e.Value())
	if err != nil {
		t.s.log.ErrorContext(ctx, "group unusable", "executor_group", e.Key(), "error", err)
		return
	}
	t.mu.Lock()
	was := t.groups[e.Key()]
	t.groups[e.Key()] = g
	t.mu.Unlock()
	if was.Governed() != g.Governed() {
		t.broadcast(ctx, func(m *shard.Machine) { m.Cluster.PutGroup(e.Key(), g.Governed()) })
	}
}

// group returns the entry of a group, and false while none has been heard of.
func (t *clusterState) group(name string) (g cluster.Group, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	g, known = t.groups[name]
	return g, known
}

// routed reports whether dispatchers are known to pull triggers of a group.
func (t *clusterState) routed(group string) bool {
	g, known := t.group(group)
	return known && g.Routed()
}

// broadcast passes a change to every machine.
func (t *clusterState) broadcast(ctx context.Context, put func(*shard.Machine)) {
	for _, l := range t.s.lanes {
		l.post(ctx, func() {
			for _, sh := range l.shards {
				put(sh.machine)
			}
		})
	}
}

// apply passes all that is known to a machine. Machines ignore what they have.
func (t *clusterState) apply(m *shard.Machine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, versions := range t.calendars {
		for _, v := range versions {
			_ = m.Cluster.PutCalendar(v) // it compiled when it was heard of
		}
	}
	for group, holds := range t.pauses {
		for _, h := range holds {
			m.Cluster.PutHold(group, h)
		}
	}
	for group, g := range t.groups {
		m.Cluster.PutGroup(group, g.Governed())
	}
	for group, r := range t.rosters {
		m.PutInstances(group, r.online)
	}
}
