package scheduler

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

// setupGroups makes the consumer of every group, and makes groups known that an
// instance belongs to, until ctx is done.
func (s *Scheduler) setupGroups(ctx context.Context) {
	groups := s.watch(ctx, s.conn.WatchGroups)
	if groups == nil {
		return
	}
	defer func() { _ = groups.Stop() }()
	instances := s.watch(ctx, s.conn.WatchInstances)
	if instances == nil {
		return
	}
	defer func() { _ = instances.Stop() }()
	known := map[string]bool{} // by group, whether it was set up as a governed one
	for {
		var e jetstream.KeyValueEntry
		select {
		case <-ctx.Done():
		case e = <-groups.Updates():
		case e = <-instances.Updates():
		}
		if ctx.Err() != nil {
			return
		}
		if e != nil && e.Operation() == jetstream.KeyValuePut {
			s.setupGroup(ctx, e, known)
		}
	}
}

// setupGroup makes the consumer of the group that e is about. Trouble is logged;
// the group's next sign of life is the next try.
func (s *Scheduler) setupGroup(ctx context.Context, e jetstream.KeyValueEntry, known map[string]bool) {
	g, err := cluster.DecodeGroup(e.Value()) // a heartbeat names its group as a group does
	if err != nil || job.CheckSlug("executor_group", g.Group) != nil {
		return
	}
	if governed, done := known[g.Group]; done && (governed || !g.Governed()) {
		return
	}
	if err = s.conn.EnsureGroup(ctx, g.Group); err == nil {
		err = s.conn.SetupGroup(ctx, g.Group, g.Governed())
	}
	if err != nil {
		s.log.WarnContext(ctx, "group not set up", "executor_group", g.Group, "error", err)
		return
	}
	known[g.Group] = g.Governed()
}
