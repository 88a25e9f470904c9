package scheduler

import (
	"context"
	"encoding/json"

	"github.com/nats-io/nats.go/jetstream"

	"carillon/job"
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
	known := map[string]bool{}
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
	var g struct {
		Group string `json:"executor_group"`
	}
	if json.Unmarshal(e.Value(), &g) != nil || known[g.Group] || job.CheckSlug("executor_group", g.Group) != nil {
		return
	}
	err := s.conn.EnsureGroup(ctx, g.Group)
	if err == nil {
		err = s.conn.SetupGroup(ctx, g.Group)
	}
	if err != nil {
		s.log.WarnContext(ctx, "group not set up", "executor_group", g.Group, "error", err)
		return
	}
	known[g.Group] = true
}
