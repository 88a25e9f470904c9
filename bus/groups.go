package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"carillon/job"
	"carillon/job/fleet"
)

// Bounds of a group's limits.
const (
	MaxGroupLimit = 40_000
	MaxGroupRate  = 10_000
)

// Group is an executor group: a named pool of instances.
type Group struct {
	Group     string    `json:"executor_group"`
	CreatedAt time.Time `json:"created_at"`
	GroupLimits
	// Dispatched says that its runs go through a dispatcher, which a job with a priority
	// needs, and limits do. It stays so: some of them may wait there.
	Dispatched bool `json:"dispatched,omitempty"`
}

// GroupLimits is how much a group does at most, whatever its instances could. Zero is
// no limit.
type GroupLimits struct {
	Limit int     `json:"limit,omitempty"` // runs alive at once
	Rate  float64 `json:"rate,omitempty"`  // runs begun per second
}

// Validate returns an *InvalidError for each limit that is wrong, joined.
func (l GroupLimits) Validate() error {
	var errs []error
	if l.Limit < 0 || l.Limit > MaxGroupLimit {
		errs = append(errs, &job.InvalidError{Field: "limit", Reason: fmt.Sprintf("%d must be between 0 (no limit) and %d runs alive at once", l.Limit, MaxGroupLimit)})
	}
	if !(l.Rate == 0 || l.Rate >= 1e-4 && l.Rate <= MaxGroupRate) {
		errs = append(errs, &job.InvalidError{Field: "rate", Reason: fmt.Sprintf("%v must be 0 (no limit), or between 0.0001 and %d runs begun per second", l.Rate, MaxGroupRate)})
	}
	return errors.Join(errs...)
}

// Governed reports whether one dispatcher decides when the group's runs begin, and
// which of them are first.
func (g *Group) Governed() bool { return g.Dispatched }

// EnsureGroup makes the group known, if it is not. The consumer from which its
// executors pull is made by a scheduler node that hears of it.
func (c *Conn) EnsureGroup(ctx context.Context, group string) error {
	_, err := c.editGroup(ctx, group, func(*Group) {})
	return err
}

// SetGroupLimits makes the group known, if it is not, and sets its limits. It returns
// what it was before.
func (c *Conn) SetGroupLimits(ctx context.Context, group string, l GroupLimits) (was Group, err error) {
	if err := l.Validate(); err != nil {
		return was, err
	}
	return c.editGroup(ctx, group, func(g *Group) {
		g.GroupLimits = l
		g.Dispatched = g.Dispatched || l != GroupLimits{}
	})
}

// GovernGroup has the group's runs begin by the priorities of their jobs.
func (c *Conn) GovernGroup(ctx context.Context, group string) error {
	_, err := c.editGroup(ctx, group, func(g *Group) { g.Dispatched = true })
	return err
}

// editGroup changes what is kept of a group, and makes it known if it is not.
func (c *Conn) editGroup(ctx context.Context, group string, change func(*Group)) (was Group, err error) {
	kv, err := c.kv(ctx, BucketGroups)
	if err != nil {
		return was, err
	}
	for {
		var revision uint64
		e, err := kv.Get(ctx, group)
		switch {
		case err == nil:
			revision = e.Revision()
			if was, err = DecodeGroup(e.Value()); err != nil {
				return was, err
			}
		case errors.Is(err, jetstream.ErrKeyNotFound):
			was = Group{}
		default:
			return was, fmt.Errorf("read group %s: %w", group, Unavailable(err))
		}
		next := was
		if revision == 0 {
			next = Group{Group: group, CreatedAt: time.Now().UTC().Truncate(time.Millisecond)}
		}
		change(&next)
		if next == was {
			return was, nil
		}
		data, err := json.Marshal(next)
		if err != nil {
			return was, fmt.Errorf("encode group %s: %w", group, err)
		}
		if _, err = kv.Update(ctx, group, data, revision); LostRace(err) {
			continue
		}
		if err != nil {
			return was, fmt.Errorf("write group %s: %w", group, Unavailable(err))
		}
		return was, nil
	}
}

// DecodeGroup reads what the bucket holds. The error is an *InvalidError.
func DecodeGroup(data []byte) (Group, error) {
	var g Group
	if err := json.Unmarshal(data, &g); err != nil {
		return g, &job.InvalidError{Field: "executor_group", Reason: fmt.Sprintf("is damaged: %v", err)}
	}
	return g, nil
}

// Group returns what is kept of a group. The error is job.ErrNotFound when it is not
// known.
func (c *Conn) Group(ctx context.Context, group string) (Group, error) {
	kv, err := c.kv(ctx, BucketGroups)
	if err != nil {
		return Group{}, err
	}
	e, err := kv.Get(ctx, group)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return Group{}, fmt.Errorf("%w: group %s", job.ErrNotFound, group)
	}
	if err != nil {
		return Group{}, fmt.Errorf("read group %s: %w", group, Unavailable(err))
	}
	return DecodeGroup(e.Value())
}

// Groups returns all groups.
func (c *Conn) Groups(ctx context.Context) ([]Group, error) {
	w, err := c.WatchGroups(ctx)
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	defer func() { _ = w.Stop() }()
	var all []Group
	for e := range w.Updates() {
		if e == nil {
			return all, nil
		}
		if g, err := DecodeGroup(e.Value()); err == nil && e.Operation() == jetstream.KeyValuePut && g.Group == e.Key() {
			all = append(all, g)
		}
	}
	return nil, fmt.Errorf("%w: list groups", job.ErrUnavailable)
}

// SetupGroup makes the group's consumers on TRIG, if there are none: one for its
// executors and one for the dispatchers, and two more for the other priorities when it is
// governed. Only scheduler nodes call it: executors' credentials do not allow it.
func (c *Conn) SetupGroup(ctx context.Context, group string, governed bool) error {
	if err := job.CheckSlug("executor_group", group); err != nil {
		return err
	}
	stream, err := c.JS.Stream(ctx, StreamTrig)
	if err != nil {
		return fmt.Errorf("look up stream %s: %w", StreamTrig, Unavailable(err))
	}
	consumers := map[string]string{
		ConsumerAny(group):   "trig.*.any." + group,
		ConsumerRoute(group): "trig.*.route." + group,
	}
	if governed { // each consumer on TRIG makes every acknowledgement dearer
		consumers[ConsumerPriority(job.PriorityHigh, group)] = "trig.*.high." + group
		consumers[ConsumerPriority(job.PriorityLow, group)] = "trig.*.low." + group
	}
	for consumer, filter := range consumers {
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

// Backlog is how many triggers of a governed group wait on the stream, and how many have
// been delivered and are not acknowledged.
type Backlog struct{ Waiting, Delivered int }

// BacklogOf returns the backlog of a governed group, whatever the priority.
func (c *Conn) BacklogOf(ctx context.Context, group string) (Backlog, error) {
	names := []string{ConsumerAny(group)}
	for _, p := range job.Priorities {
		names = append(names, ConsumerPriority(p, group))
	}
	found := make([]Backlog, len(names))
	g, ctx := errgroup.WithContext(ctx)
	for i, name := range names {
		g.Go(func() error {
			consumer, err := c.JS.Consumer(ctx, StreamTrig, name) // which asks for its state
			if errors.Is(err, jetstream.ErrConsumerNotFound) {    // no node has set the group up yet
				return nil
			}
			if err != nil {
				return fmt.Errorf("look up consumer %s: %w", name, Unavailable(err))
			}
			info := consumer.CachedInfo()
			found[i] = Backlog{Waiting: int(info.NumPending), Delivered: info.NumAckPending} //nolint:gosec // a count of messages
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return Backlog{}, err
	}
	var sum Backlog
	for _, b := range found {
		sum.Waiting += b.Waiting
		sum.Delivered += b.Delivered
	}
	return sum, nil
}

// Instances returns the instances of all groups, those lost lately included; see
// [fleet.Instance.Judge] for their states.
func (c *Conn) Instances(ctx context.Context) ([]fleet.Instance, error) {
	w, err := c.WatchInstances(ctx)
	if err != nil {
		return nil, fmt.Errorf("list instances: %w", err)
	}
	defer func() { _ = w.Stop() }()
	var all []fleet.Instance
	var written []time.Time
	// Heartbeats carry the server's time. One that is ahead of this clock tells more
	// about what time it is.
	now := time.Now()
	for e := range w.Updates() {
		if e == nil {
			for i := range all {
				all[i].Judge(now.Sub(written[i]))
			}
			suspended, err := c.Suspensions(ctx, now)
			for i := range all {
				suspend(&all[i], suspended)
			}
			return all, err
		}
		if e.Operation() != jetstream.KeyValuePut {
			continue
		}
		h, err := ParseHeartbeat(e.Key(), e.Value())
		if err != nil {
			continue // not one of ours: nothing to show, and nothing to fail for
		}
		all, written = append(all, h.Instance), append(written, e.Created())
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
