package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// addresses returns where the instances of a group take requests, as the leader of the
// bucket knows: one that was stored before the call is among them.
func (c *Conn) addresses(ctx context.Context, group string) ([]bus.Address, error) {
	var all []bus.Address
	err := c.Scan(ctx, bus.StreamInst, bus.SubjectHeartbeat(group, "*"), func(s *jet.Stored) bool {
		h, err := jet.HeartbeatOf(s)
		if err != nil || h.ControlSecret == "" {
			return true // it has left, is not one of ours, or takes no requests
		}
		if all = append(all, h.Address()); len(all) > maxAsked {
			all = all[1:]
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("list instances of group %s: %w", group, err)
	}
	return all, nil
}

// Fleet is the instances of all groups.
type Fleet struct {
	// Instances are at most [fleet.MaxInstances] of a group: those heard of last.
	Instances []fleet.Instance
	// More is how many instances groups have beyond that, Unreadable how many keys that no instance
	// would write.
	More, Unreadable map[string]int
}

// Instances returns the instances of a [Fleet].
func (c *Conn) Instances(ctx context.Context) ([]fleet.Instance, error) {
	f, err := c.Fleet(ctx)
	return f.Instances, err
}

// heard is a heartbeat, and when it was written.
type heard struct {
	fleet.Instance
	at time.Time
}

// Fleet returns the instances of all groups, those lost lately included; see
// [fleet.Instance.Judge] for their states.
func (c *Conn) Fleet(ctx context.Context) (Fleet, error) {
	f := Fleet{More: map[string]int{}, Unreadable: map[string]int{}}
	groups := map[string][]heard{} // each in the order in which they were written
	// Heartbeats carry the server's time. One that is ahead of this clock tells more
	// about what time it is.
	now := time.Now()
	err := c.Entries(ctx, bus.BucketInst, ">", false, func(e jetstream.KeyValueEntry) error {
		if e.Operation() != jetstream.KeyValuePut {
			return nil
		}
		group, _, _ := strings.Cut(e.Key(), ".")
		h, err := bus.ParseHeartbeat(e.Key(), e.Value())
		if err != nil {
			f.Unreadable[group]++
			return nil //nolint:nilerr // not one of ours: nothing to show, and nothing to fail for
		}
		if groups[group] = append(groups[group], heard{h.Instance, e.Created()}); len(groups[group]) > fleet.MaxInstances {
			groups[group] = groups[group][1:]
			f.More[group]++
		}
		if e.Created().After(now) {
			now = e.Created()
		}
		return nil
	})
	if err != nil {
		return Fleet{}, fmt.Errorf("list instances: %w", err)
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		for _, h := range groups[group] {
			h.Judge(now.Sub(h.at))
			h.JudgeClock(h.at)
			f.Instances = append(f.Instances, h.Instance)
		}
	}
	return f, nil
}

// WatchInstances follows all heartbeats: what there is, a nil entry, then every one.
func (c *Conn) WatchInstances(ctx context.Context) (jetstream.KeyWatcher, error) {
	return c.WatchAll(ctx, bus.BucketInst)
}

// Handler returns what is known of a handler. Errors: job.ErrNotFound,
// job.ErrUnavailable.
func (c *Conn) Handler(ctx context.Context, group, name string) (*bus.Handler, error) {
	h := &bus.Handler{Group: group, Handler: name}
	m, err := c.Last(ctx, "KV_"+bus.BucketHandler, h.Subject())
	if errors.Is(err, jet.ErrNoMessage) {
		return nil, fmt.Errorf("%w: handler %s of group %s", job.ErrNotFound, name, group)
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(m.Data, h); err != nil {
		return nil, &job.InvalidError{Field: "handler", Reason: fmt.Sprintf("%s of group %s is damaged: %v", name, group, err)}
	}
	return h, nil
}

// Handlers returns the handlers of a group that have been announced lately, by name.
func (c *Conn) Handlers(ctx context.Context, group string) ([]bus.Handler, error) {
	all, err := collect[bus.Handler](ctx, c, bus.BucketHandler, group)
	all = slices.DeleteFunc(all, func(h bus.Handler) bool { return h.Group != group || h.Handler == "" })
	slices.SortFunc(all, func(a, b bus.Handler) int { return strings.Compare(a.Handler, b.Handler) })
	return all, err
}

// Heartbeat returns the latest heartbeat of an instance, however old. The error is
// [job.ErrNotFound] when it has left, or has been silent for [fleet.InstanceShown].
func (c *Conn) Heartbeat(ctx context.Context, group, instance string) (*bus.Heartbeat, error) {
	s, err := c.Last(ctx, bus.StreamInst, bus.SubjectHeartbeat(group, instance))
	if errors.Is(err, jet.ErrNoMessage) {
		return nil, fmt.Errorf("%w: group %s has no instance %s", job.ErrNotFound, group, instance)
	}
	if err != nil {
		return nil, fmt.Errorf("read heartbeat of instance %s/%s: %w", group, instance, err)
	}
	return jet.HeartbeatOf(s)
}
