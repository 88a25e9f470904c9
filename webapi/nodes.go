package webapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"carillon/bus"
	"carillon/bus/cluster"
	"carillon/bus/jet"
	"carillon/job"
	"carillon/job/fleet"
)

// ListNodes answers GET /nodes.
func (h *handlers) ListNodes(ctx context.Context, _ ListNodesRequestObject) (ListNodesResponseObject, error) {
	leases, err := h.leases(ctx)
	if err != nil {
		return nil, err
	}
	list := nodesOf(leases, h.conn.Cluster().Shards)
	if visible := seen(ctx); visible != nil {
		list.Roles = slices.DeleteFunc(list.Roles, func(r HeldRole) bool {
			group, dispatches := strings.CutPrefix(r.Role, "dispatch-")
			return dispatches && !visible[group]
		})
	}
	return ListNodes200JSONResponse(list), nil
}

// leases returns the leases that are held, by key.
func (h *handlers) leases(ctx context.Context) (map[string]jet.Lease, error) {
	kv, err := h.conn.JS.KeyValue(ctx, bus.BucketLease)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", bus.BucketLease, jet.Unavailable(err))
	}
	w, err := kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("list leases: %w", jet.Unavailable(err))
	}
	defer func() { _ = w.Stop() }()
	held := map[string]jet.Lease{}
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: list leases", job.ErrUnavailable)
		case e, ok := <-w.Updates():
			if !ok {
				return nil, fmt.Errorf("%w: list leases", job.ErrUnavailable)
			}
			if e == nil {
				return held, nil
			}
			var lease jet.Lease
			if err := json.Unmarshal(e.Value(), &lease); err != nil {
				return nil, fmt.Errorf("decode lease %s: %w", e.Key(), err)
			}
			held[e.Key()] = lease
		}
	}
}

// maxMoves bounds how many of the shards' last moves are told.
const maxMoves = 100

// nodesOf sorts leases by who holds them. A node whose own lease has just ended is
// still listed while it owns a shard.
func nodesOf(leases map[string]jet.Lease, shards int) NodeList {
	nodes := map[string]*Node{}
	node := func(id string) *Node {
		if nodes[id] == nil {
			nodes[id] = &Node{Node: id, Shards: []int{}}
		}
		return nodes[id]
	}
	list := NodeList{Items: []Node{}, Shards: shards, Unowned: []int{}, Moves: []ShardMove{}, Roles: []HeldRole{}}
	owned := make([]bool, shards)
	for key, lease := range leases {
		kind, rest, _ := strings.Cut(key, ".")
		switch kind {
		case "node":
			node(lease.Node).Info = lease.Info
		case "role":
			list.Roles = append(list.Roles, HeldRole{Role: rest, Node: lease.Node, Since: lease.Since})
		case "shard":
			n, err := strconv.Atoi(rest)
			if err != nil || n < 0 || n >= shards {
				continue
			}
			owned[n] = true
			node(lease.Node).Shards = append(node(lease.Node).Shards, n)
			if !lease.Since.IsZero() { // a node of an older version does not say
				list.Moves = append(list.Moves, ShardMove{Shard: n, Node: lease.Node, At: lease.Since})
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(nodes)) {
		slices.Sort(nodes[id].Shards)
		list.Items = append(list.Items, *nodes[id])
	}
	for n, has := range owned {
		if !has {
			list.Unowned = append(list.Unowned, n)
		}
	}
	slices.SortFunc(list.Roles, func(a, b HeldRole) int { return strings.Compare(a.Role, b.Role) })
	slices.SortFunc(list.Moves, func(a, b ShardMove) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Shard, b.Shard)) })
	list.Moves = list.Moves[:min(len(list.Moves), maxMoves)]
	return list
}

// GetBus answers GET /bus.
func (h *handlers) GetBus(ctx context.Context, _ GetBusRequestObject) (GetBusResponseObject, error) {
	state, err := h.conn.State(ctx)
	if err != nil {
		return nil, err
	}
	if visible := seen(ctx); visible != nil {
		state.Consumers = slices.DeleteFunc(state.Consumers, func(c fleet.ConsumerState) bool { return c.Group != "" && !visible[c.Group] })
	}
	return GetBus200JSONResponse(*state), nil
}

// ListGroups answers GET /groups.
func (h *handlers) ListGroups(ctx context.Context, _ ListGroupsRequestObject) (ListGroupsResponseObject, error) {
	known, err := h.conn.Groups(ctx)
	if err != nil {
		return nil, err
	}
	instances, err := h.conn.Instances(ctx)
	if err != nil {
		return nil, err
	}
	groups := groupsOf(known, instances)
	suspended, err := h.conn.Suspensions(ctx, time.Now())
	if err != nil {
		return nil, err
	}
	for i := range groups {
		for _, s := range suspended {
			if s.Group == groups[i].ExecutorGroup && s.Instance == "" {
				groups[i].Suspended = s.Text()
			}
		}
	}
	if visible := seen(ctx); visible != nil {
		groups = slices.DeleteFunc(groups, func(g Group) bool { return !visible[g.ExecutorGroup] })
	}
	for i := range groups {
		if err := h.countWaiting(ctx, &groups[i]); err != nil {
			return nil, err
		}
	}
	return ListGroups200JSONResponse{Items: groups}, nil
}

// groupsOf puts instances under their groups, both in order of name.
func groupsOf(known []cluster.Group, instances []fleet.Instance) []Group {
	groups := map[string]*Group{}
	for _, k := range known {
		groups[k.Group] = &Group{
			ExecutorGroup: k.Group, Limit: k.Limit, Rate: k.Rate, Dispatched: k.Dispatched, State: GroupStateEmpty, Instances: []Instance{},
		}
	}
	slices.SortFunc(instances, func(a, b fleet.Instance) int { return strings.Compare(a.Instance, b.Instance) })
	for _, i := range instances {
		g := groups[i.Group]
		if g == nil { // made known by its heartbeat, before its first job
			g = &Group{ExecutorGroup: i.Group, State: GroupStateEmpty}
			groups[i.Group] = g
		}
		g.Instances = append(g.Instances, i)
		switch i.State {
		case fleet.InstanceOnline, fleet.InstanceIncompatible: // the latter takes what any instance may
			g.State = GroupStateOnline
		case fleet.InstanceDraining, fleet.InstanceCordoned, fleet.InstanceSuspended:
			if g.State == GroupStateEmpty {
				g.State = GroupStateDraining
			}
		case fleet.InstanceLost:
		}
	}
	list := make([]Group, 0, len(groups))
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		list = append(list, *groups[name])
	}
	return list
}
