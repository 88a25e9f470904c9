package scheduler

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

// findRoutedEvery is how often somebody looks for routed triggers that have no consumer.
const findRoutedEvery = 15 * time.Second

// groups makes the consumers of executor groups.
type groups struct {
	*node
	cluster *clusterState
	first   chan string // groups with routed triggers whose consumer may not have been made
}

// setup makes the consumers of every group, and makes groups known that an
// instance belongs to, until ctx is done.
func (g *groups) setup(ctx context.Context) {
	entries := g.watch(ctx, g.conn.Groups().Watch)
	if entries == nil {
		return
	}
	defer func() { _ = entries.Stop() }()
	instances := g.watch(ctx, g.conn.Bulk().Instances().Watch)
	if instances == nil {
		return
	}
	defer func() { _ = instances.Stop() }()
	done := map[string]cluster.Group{} // as which each has been set up
	for {
		var e jetstream.KeyValueEntry
		select {
		case <-ctx.Done():
		case e = <-entries.Updates():
		case e = <-instances.Updates():
		case group := <-g.first:
			g.route(ctx, group)
		}
		if ctx.Err() != nil {
			return
		}
		if e != nil && e.Operation() == jetstream.KeyValuePut {
			g.setupOne(ctx, e, done)
		}
	}
}

// setupOne makes the consumers of the group that e is about. Trouble is logged;
// the group's next sign of life is the next try.
func (g *groups) setupOne(ctx context.Context, e jetstream.KeyValueEntry, done map[string]cluster.Group) {
	group, err := cluster.DecodeGroup(e.Value()) // a heartbeat names its group as a group does
	if err != nil || job.CheckSlug("executor_group", group.Group) != nil {
		return
	}
	known := true
	if e.Bucket() == bus.BucketInst {
		name := group.Group
		if group, known = g.cluster.group(name); !known {
			group.Group = name
		}
	}
	if was, is := done[group.Group]; is && was.Governed() == group.Governed() && was.Routed() == group.Routed() {
		return
	}
	if known {
		err = g.conn.Groups().Setup(ctx, group)
	} else {
		err = g.conn.Groups().Ensure(ctx, group.Group) // what is stored of it comes
	}
	if err != nil {
		g.log.WarnContext(ctx, "group not set up", "executor_group", group.Group, "error", err)
		return
	}
	if known {
		done[group.Group] = group
	}
}

// noteRouted has a consumer made for each group that has its first routed triggers. A node that
// dies before that leaves it to findRouted.
func (g *groups) noteRouted(names []string) {
	for _, group := range names {
		if g.cluster.routed(group) {
			continue
		}
		select {
		case g.first <- group:
		default:
		}
	}
}

// route makes a group known as one with routed triggers. All nodes hear of that, and make its
// consumer. What fails is tried again by findRouted.
func (g *groups) route(ctx context.Context, group string) {
	if g.cluster.routed(group) {
		return
	}
	if err := g.conn.Groups().Route(ctx, group); err != nil {
		g.log.WarnContext(ctx, "group not known to have routed triggers yet", "executor_group", group, "error", err)
	}
}
