package nodes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/webapi/access"
)

// Group returns a group with its instances.
func (v *View) Group(ctx context.Context, name string) (api.Group, error) {
	known, err := v.conn.Groups().Get(ctx, name)
	if err != nil {
		return api.Group{}, err
	}
	all, err := v.conn.Instances().FleetNow(ctx)
	if err != nil {
		return api.Group{}, err
	}
	for _, g := range groupsOf([]cluster.Group{known}, all) {
		if g.ExecutorGroup == name {
			hold, err := v.conn.Pauses().Get(ctx, name)
			g.Pause = Paused(hold, time.Now())
			return g, err
		}
	}
	return api.Group{}, fmt.Errorf("%w: group %s", job.ErrNotFound, name)
}

// Groups returns the groups that the caller sees, with their instances.
func (v *View) Groups(ctx context.Context) ([]api.Group, error) {
	known, err := v.conn.Groups().All(ctx)
	if err != nil {
		return nil, err
	}
	all, err := v.conn.Instances().FleetNow(ctx)
	if err != nil {
		return nil, err
	}
	groups := groupsOf(known, all)
	pauses, err := v.conn.Pauses().OfGroups(ctx)
	if err != nil {
		return nil, err
	}
	for i := range groups {
		groups[i].Pause = Paused(pauses[groups[i].ExecutorGroup], time.Now())
	}
	if visible := access.Seen(ctx); visible != nil {
		groups = slices.DeleteFunc(groups, func(g api.Group) bool { return !visible(g.ExecutorGroup) })
	}
	return groups, v.countWaiting(ctx, groups)
}

// Knows returns job.ErrNotFound for a group that no job and no executor has named.
func (v *View) Knows(ctx context.Context, name string) error {
	_, unknown := v.conn.Groups().Get(ctx, name)
	if !errors.Is(unknown, job.ErrNotFound) {
		return unknown
	}
	there, err := v.call(ctx)
	if err == nil && !slices.ContainsFunc(there.Instances, func(i fleet.Instance) bool { return i.Group == name }) {
		err = unknown
	}
	return err
}

// Known returns the groups that a job or an executor has named.
func (v *View) Known(ctx context.Context) (map[string]bool, error) {
	groups, err := v.conn.Groups().All(ctx)
	if err != nil {
		return nil, err
	}
	there, err := v.call(ctx)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, g := range groups {
		known[g.Group] = true
	}
	for _, i := range there.Instances {
		known[i.Group] = true
	}
	return known, nil
}

// Paused returns a switch if it is on at an instant, or nil.
func Paused(hold job.Pause, now time.Time) *job.Pause {
	if hold = hold.At(now); !hold.Paused {
		return nil
	}
	return &hold
}

// groupsOf puts instances under their groups, both in order of name.
func groupsOf(known []cluster.Group, all cluster.Fleet) []api.Group {
	instances := slices.Clone(all.Instances)
	groups := map[string]*api.Group{}
	for _, k := range known {
		groups[k.Group] = &api.Group{
			ExecutorGroup: k.Group, Limit: k.Limit, Rate: k.Rate, StartedBy: k.StartedBy, Dispatched: k.Dispatched, State: api.GroupStateEmpty, Instances: []api.Instance{},
		}
	}
	slices.SortFunc(instances, func(a, b fleet.Instance) int { return strings.Compare(a.Instance, b.Instance) })
	for _, i := range instances {
		g := groups[i.Group]
		if g == nil { // made known by its heartbeat, before its first job
			g = &api.Group{ExecutorGroup: i.Group, State: api.GroupStateEmpty}
			groups[i.Group] = g
		}
		g.Instances = append(g.Instances, i)
		switch i.State {
		case fleet.InstanceOnline, fleet.InstanceIncompatible: // the latter takes what any instance may
			g.State = api.GroupStateOnline
		case fleet.InstanceDraining, fleet.InstanceCordoned:
			if g.State == api.GroupStateEmpty {
				g.State = api.GroupStateDraining
			}
		case fleet.InstanceLost:
		}
	}
	list := make([]api.Group, 0, len(groups))
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		groups[name].MoreInstances = all.More[name]
		list = append(list, *groups[name])
	}
	return list
}
