package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

// findRoutedEvery is how often somebody looks for routed triggers that have no consumer.
const findRoutedEvery = 15 * time.Second

// setupGroups makes the consumers of every group, and makes groups known that an
// instance belongs to, until ctx is done.
func (s *Scheduler) setupGroups(ctx context.Context) {
	groups := s.watch(ctx, s.conn.Groups().Watch)
	if groups == nil {
		return
	}
	defer func() { _ = groups.Stop() }()
	instances := s.watch(ctx, s.conn.Bulk().Instances().Watch)
	if instances == nil {
		return
	}
	defer func() { _ = instances.Stop() }()
	done := map[string]cluster.Group{} // as which each has been set up
	for {
		var e jetstream.KeyValueEntry
		select {
		case <-ctx.Done():
		case e = <-groups.Updates():
		case e = <-instances.Updates():
		case group := <-s.routed:
			s.routeGroup(ctx, group)
		}
		if ctx.Err() != nil {
			return
		}
		if e != nil && e.Operation() == jetstream.KeyValuePut {
			s.setupGroup(ctx, e, done)
		}
	}
}

// setupGroup makes the consumers of the group that e is about. Trouble is logged;
// the group's next sign of life is the next try.
func (s *Scheduler) setupGroup(ctx context.Context, e jetstream.KeyValueEntry, done map[string]cluster.Group) {
	g, err := cluster.DecodeGroup(e.Value()) // a heartbeat names its group as a group does
	if err != nil || job.CheckSlug("executor_group", g.Group) != nil {
		return
	}
	known := true
	if e.Bucket() == bus.BucketInst {
		name := g.Group
		if g, known = s.cluster.group(name); !known {
			g.Group = name
		}
	}
	if was, is := done[g.Group]; is && was.Governed() == g.Governed() && was.Routed() == g.Routed() {
		return
	}
	if known {
		err = s.conn.Groups().Setup(ctx, g)
	} else {
		err = s.conn.Groups().Ensure(ctx, g.Group) // what is stored of it comes
	}
	if err != nil {
		s.log.WarnContext(ctx, "group not set up", "executor_group", g.Group, "error", err)
		return
	}
	if known {
		done[g.Group] = g
	}
}

// noteRouted has a consumer made for each group that has its first routed triggers. A node that
// dies before that leaves it to findRouted.
func (s *Scheduler) noteRouted(groups []string) {
	for _, group := range groups {
		if s.cluster.routed(group) {
			continue
		}
		select {
		case s.routed <- group:
		default:
		}
	}
}

// findRouted has a consumer made for each group that has routed triggers on a stream and is not
// known as such: the node that stored them has died since.
func (s *Scheduler) findRouted(ctx context.Context) error {
	if o := s.shards.get(0); o == nil || !o.ready.Load() || !o.valid(time.Now()) {
		return nil // another node does it; if two did, it would do no harm
	}
	var errs []error
	for _, stream := range s.conn.Trigs() { // one that is away holds up no other one
		groups, err := s.conn.Groups().Routed(ctx, stream)
		errs = append(errs, err)
		for _, group := range groups {
			s.routeGroup(ctx, group)
		}
	}
	return errors.Join(errs...)
}

// routeGroup makes a group known as one with routed triggers. All nodes hear of that, and make its
// consumer. What fails is tried again by findRouted.
func (s *Scheduler) routeGroup(ctx context.Context, group string) {
	if s.cluster.routed(group) {
		return
	}
	if err := s.conn.Groups().Route(ctx, group); err != nil {
		s.log.WarnContext(ctx, "group not known to have routed triggers yet", "executor_group", group, "error", err)
	}
}
