package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

var kindHandler = jet.Kind[bus.Handler]{
	Bucket: bus.BucketHandler,
	Name: func(key string) string {
		group, handler := bus.HandlerOfKey(key)
		return "handler " + handler + " of group " + group
	},
}

// addresses returns where the instances of a group take requests, as the leader of the
// bucket knows: one that was stored before the call is among them.
func (is Instances) addresses(ctx context.Context, group string) ([]bus.Address, error) {
	var all []bus.Address
	err := is.conn.Scan(ctx, bus.StreamInst, bus.SubjectHeartbeat(group, "*"), func(s *jet.Stored) bool {
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

// Watch follows all heartbeats: what there is, a nil entry, then every one.
func (is Instances) Watch(ctx context.Context) (jetstream.KeyWatcher, error) {
	return is.conn.WatchAll(ctx, bus.BucketInst)
}

// Handler returns what is known of a handler. Errors: job.ErrNotFound,
// job.ErrUnavailable.
func (is Instances) Handler(ctx context.Context, group, name string) (*bus.Handler, error) {
	h, _, err := kindHandler.On(is.conn.Conn).Read(ctx, bus.HandlerKey(group, name))
	if err != nil {
		return nil, err
	}
	return &h, nil
}

// Handlers returns the handlers of a group that have been announced lately, by name.
func (is Instances) Handlers(ctx context.Context, group string) ([]bus.Handler, error) {
	all, err := ofGroup(ctx, kindHandler.On(is.conn.Conn), group)
	all = slices.DeleteFunc(all, func(h bus.Handler) bool { return h.Group != group || h.Handler == "" })
	slices.SortFunc(all, func(a, b bus.Handler) int { return strings.Compare(a.Handler, b.Handler) })
	return all, err
}

// Heartbeat returns the latest heartbeat of an instance, however old. The error is
// [job.ErrNotFound] when it has left, or has been silent for [fleet.InstanceShown].
func (is Instances) Heartbeat(ctx context.Context, group, instance string) (*bus.Heartbeat, error) {
	s, err := is.conn.Last(ctx, bus.StreamInst, bus.SubjectHeartbeat(group, instance))
	if errors.Is(err, jet.ErrNoMessage) {
		return nil, fmt.Errorf("%w: group %s has no instance %s", job.ErrNotFound, group, instance)
	}
	if err != nil {
		return nil, fmt.Errorf("read heartbeat of instance %s/%s: %w", group, instance, err)
	}
	return jet.HeartbeatOf(s)
}
