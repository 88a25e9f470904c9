package nodes

import (
	"context"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// executors is what is known of executors.
type executors struct {
	instances func(context.Context) ([]fleet.Instance, error)
	// announced returns the handlers of a group that have been announced.
	announced func(ctx context.Context, group string) ([]bus.Handler, error)
}

// present is what the bus knows.
func (v *View) present() executors {
	return executors{
		instances: func(ctx context.Context) ([]fleet.Instance, error) {
			known, err := v.conn.Instances().FleetNow(ctx)
			return known.Instances, err
		},
		announced: v.conn.Instances().Handlers,
	}
}

// lately is what was known a second ago, of live instances alone.
func (v *View) lately() executors {
	return executors{
		instances: func(ctx context.Context) ([]fleet.Instance, error) {
			known, err := v.call(ctx)
			return known.Instances, err
		},
		announced: func(context.Context, string) ([]bus.Handler, error) { return nil, nil },
	}
}

// Handlers returns what is known of a group's handlers, by name.
func (v *View) Handlers(ctx context.Context, group string) ([]api.HandlerItem, error) {
	return v.present().handlersOf(ctx, group)
}

// handlersOf returns what is known of a group's handlers, by name: those that have been
// announced, with the instances that have them now, and those of executors that only
// name them in their heartbeats.
func (e executors) handlersOf(ctx context.Context, group string) ([]api.HandlerItem, error) {
	announced, err := e.announced(ctx, group)
	if err != nil {
		return nil, err
	}
	instances, err := e.instances(ctx)
	if err != nil {
		return nil, err
	}
	items := map[string]*api.HandlerItem{}
	for _, a := range announced {
		items[a.Handler] = &api.HandlerItem{
			Handler: a.Handler, Description: a.Description, ParamsSchema: a.Params, Version: a.Version, AnnouncedAt: a.At, Instances: []string{},
		}
	}
	for _, i := range instances {
		if i.Group != group {
			continue
		}
		for _, name := range i.Handlers {
			if name == fleet.AnyHandler { // it does not know the names
				continue
			}
			if items[name] == nil {
				items[name] = &api.HandlerItem{Handler: name}
			}
			items[name].Instances = append(items[name].Instances, i.Instance)
		}
	}
	list := make([]api.HandlerItem, 0, len(items))
	for _, item := range items {
		slices.Sort(item.Instances)
		list = append(list, *item)
	}
	slices.SortFunc(list, func(a, b api.HandlerItem) int { return strings.Compare(a.Handler, b.Handler) })
	return list, nil
}
