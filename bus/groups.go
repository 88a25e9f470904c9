package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"carillon/job"
)

// Group is an executor group: a named pool of instances.
type Group struct {
	Group     string    `json:"executor_group"`
	CreatedAt time.Time `json:"created_at"`
}

// EnsureGroup makes the group known, if it is not. The consumer from which its
// executors pull is made by a scheduler node that hears of it.
func (c *Conn) EnsureGroup(ctx context.Context, group string) error {
	kv, err := c.kv(ctx, BucketGroups)
	if err != nil {
		return err
	}
	if _, err := kv.Get(ctx, group); err == nil {
		return nil
	}
	data, err := json.Marshal(Group{Group: group, CreatedAt: time.Now().UTC().Truncate(time.Millisecond)})
	if err != nil {
		return fmt.Errorf("encode group %s: %w", group, err)
	}
	if _, err := kv.Create(ctx, group, data); err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
		return fmt.Errorf("write group %s: %w", group, Unavailable(err))
	}
	return nil
}

// Groups returns the names of all groups.
func (c *Conn) Groups(ctx context.Context) ([]string, error) {
	kv, err := c.kv(ctx, BucketGroups)
	if err != nil {
		return nil, err
	}
	lister, err := kv.ListKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", Unavailable(err))
	}
	var names []string
	for name := range lister.Keys() {
		names = append(names, name)
	}
	return names, nil
}

// SetupGroup makes the group's consumers on TRIG, if there are none: one for its
// executors and one for the dispatchers. Only scheduler
// nodes call it: executors' credentials do not allow it.
func (c *Conn) SetupGroup(ctx context.Context, group string) error {
	if err := job.CheckSlug("executor_group", group); err != nil {
		return err
	}
	stream, err := c.JS.Stream(ctx, StreamTrig)
	if err != nil {
		return fmt.Errorf("look up stream %s: %w", StreamTrig, Unavailable(err))
	}
	for consumer, filter := range map[string]string{
		ConsumerAny(group):   "trig.*.any." + group,
		ConsumerRoute(group): "trig.*.route." + group,
	} {
		_, err = stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable:       consumer,
			FilterSubject: filter,
			AckPolicy:     jetstream.AckExplicitPolicy,
			AckWait:       AckWait,
			MaxDeliver:    -1,
			MaxAckPending: 50000,
			MaxWaiting:    8192, // pull requests; an executor has up to four at a time
			Replicas:      stream.CachedInfo().Config.Replicas,
		})
		if err != nil {
			return fmt.Errorf("set up consumer %s: %w", consumer, Unavailable(err))
		}
	}
	return nil
}

// Instances returns the instances of all groups, those lost lately included; see
// [Instance.Judge] for their states.
func (c *Conn) Instances(ctx context.Context) ([]Instance, error) {
	w, err := c.WatchInstances(ctx)
	if err != nil {
		return nil, fmt.Errorf("list instances: %w", err)
	}
	defer func() { _ = w.Stop() }()
	var all []Instance
	var written []time.Time
	// Heartbeats carry the server's time. One that is ahead of this clock tells more
	// about what time it is.
	now := time.Now()
	for e := range w.Updates() {
		if e == nil {
			for i := range all {
				all[i].Judge(now.Sub(written[i]))
			}
			return all, nil
		}
		if e.Operation() != jetstream.KeyValuePut {
			continue
		}
		var i Instance
		if json.Unmarshal(e.Value(), &i) != nil || i.Key() != e.Key() {
			continue // not one of ours: nothing to show, and nothing to fail for
		}
		all, written = append(all, i), append(written, e.Created())
		if e.Created().After(now) {
			now = e.Created()
		}
	}
	return nil, fmt.Errorf("%w: list instances", job.ErrUnavailable)
}

// WatchGroups follows all groups: what there is, a nil entry, then every change.
func (c *Conn) WatchGroups(ctx context.Context) (jetstream.KeyWatcher, error) {
	return c.watchAll(ctx, BucketGroups)
}

// WatchInstances follows all heartbeats: what there is, a nil entry, then every one.
func (c *Conn) WatchInstances(ctx context.Context) (jetstream.KeyWatcher, error) {
	return c.watchAll(ctx, BucketInst)
}

// WatchAccess follows what package auth keeps: what there is, a nil entry, then every
// change. Bucket is [BucketAccess] or [BucketSession].
func (c *Conn) WatchAccess(ctx context.Context, bucket string) (jetstream.KeyWatcher, error) {
	return c.watchAll(ctx, bucket)
}

func (c *Conn) watchAll(ctx context.Context, bucket string) (jetstream.KeyWatcher, error) {
	return c.watch(ctx, bucket, []string{">"}, false, 0)
}

// WatchAlerts follows the keys of [BucketAlert] that match one of filters: what there is, a
// nil entry, then every change.
func (c *Conn) WatchAlerts(ctx context.Context, filters ...string) (jetstream.KeyWatcher, error) {
	return c.watch(ctx, BucketAlert, filters, false, 0)
}
