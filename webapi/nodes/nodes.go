package nodes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/webapi/access"
)

// Nodes returns the scheduler nodes, without roles for groups that the caller does not see.
func (v *View) Nodes(ctx context.Context) (api.NodeList, error) {
	leases, err := v.leases(ctx)
	if err != nil {
		return api.NodeList{}, err
	}
	list := nodesOf(leases, v.conn.Cluster().Shards)
	parked, err := v.conn.Nodes().Parked(ctx, time.Now())
	if err != nil {
		return api.NodeList{}, err
	}
	for _, p := range parked {
		list.Parked = append(list.Parked, api.ParkedShard{Shard: p.Shard, Reason: reason.Text(p.Reason)})
	}
	if visible := access.Seen(ctx); visible != nil {
		list.Roles = slices.DeleteFunc(list.Roles, func(r api.HeldRole) bool {
			group, dispatches := strings.CutPrefix(r.Role, "dispatch-")
			return dispatches && !visible(group)
		})
		for i := range list.Parked { // a reason may name a job of another group
			list.Parked[i].Reason = reason.Text(reason.WhyUnseen.String())
		}
	}
	return list, nil
}

var kindLease = jet.Kind[jet.LeaseRecord]{Bucket: bus.BucketLease, Name: func(key string) string { return "lease " + key }}

// leases returns the leases that are held, by key.
func (v *View) leases(ctx context.Context) (map[string]jet.LeaseRecord, error) {
	list, err := kindLease.On(v.conn.Conn).List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list leases: %w", err)
	}
	held := map[string]jet.LeaseRecord{}
	for _, l := range list {
		held[l.Key] = l.Value
	}
	return held, nil
}

// maxMoves bounds how many of the shards' last moves are told.
const maxMoves = 100

// nodesOf sorts leases by who holds them. A node whose own lease has just ended is
// still listed while it owns a shard.
func nodesOf(leases map[string]jet.LeaseRecord, shards int) api.NodeList {
	byID := map[string]*api.Node{}
	node := func(id string) *api.Node {
		if byID[id] == nil {
			byID[id] = &api.Node{Node: id, Shards: []int{}}
		}
		return byID[id]
	}
	list := api.NodeList{Items: []api.Node{}, Shards: shards, Unowned: []int{}, Moves: []api.ShardMove{}, Roles: []api.HeldRole{}}
	owned := make([]bool, shards)
	for key, lease := range leases {
		kind, rest, _ := strings.Cut(key, ".")
		switch kind {
		case "node":
			node(lease.Node).Info = lease.Info
		case "role":
			list.Roles = append(list.Roles, api.HeldRole{Role: rest, Node: lease.Node, Since: lease.Since})
		case "shard":
			n, err := strconv.Atoi(rest)
			if err != nil || n < 0 || n >= shards {
				continue
			}
			owned[n] = true
			node(lease.Node).Shards = append(node(lease.Node).Shards, n)
			list.Moves = append(list.Moves, api.ShardMove{Shard: n, Node: lease.Node, At: lease.Since})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		slices.Sort(byID[id].Shards)
		list.Items = append(list.Items, *byID[id])
	}
	for n, has := range owned {
		if !has {
			list.Unowned = append(list.Unowned, n)
		}
	}
	slices.SortFunc(list.Roles, func(a, b api.HeldRole) int { return strings.Compare(a.Role, b.Role) })
	slices.SortFunc(list.Moves, func(a, b api.ShardMove) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Shard, b.Shard)) })
	list.Moves = list.Moves[:min(len(list.Moves), maxMoves)]
	return list
}
