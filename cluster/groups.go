package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// Bounds of a group's limits.
const (
	MaxGroupLimit = 40_000
	MaxGroupRate  = 10_000
	// MaxStartedBy is how many other groups may start a group's jobs.
	MaxStartedBy = 100
)

// Group is an executor group: a named pool of instances.
type Group struct {
	Group     string    `json:"executor_group"`
	CreatedAt time.Time `json:"created_at"`
	GroupLimits
	// StartedBy are the other groups whose handlers may start jobs of this one, in order.
	StartedBy []string `json:"started_by,omitempty"`
	// Dispatched says that its runs go through a dispatcher, which a job with a priority
	// needs, and limits do. It stays so: some of them may wait there.
	Dispatched bool `json:"dispatched,omitempty"`
	// HasRouted says that it has had a run with a route or labels. It stays so.
	HasRouted bool `json:"routed,omitempty"`
}

// GroupLimits is how much a group does at most, whatever its instances could. Zero is
// no limit.
type GroupLimits struct {
	Limit int     `json:"limit,omitempty"` // runs alive at once
	Rate  float64 `json:"rate,omitempty"`  // runs begun per second
}

// GroupSettings changes those settings of a group that are not nil.
type GroupSettings struct {
	Limit     *int      `json:"limit,omitempty"`
	Rate      *float64  `json:"rate,omitempty"`
	StartedBy *[]string `json:"started_by,omitempty"`
}

// Validate returns an *InvalidError for each setting that is wrong, joined.
func (s GroupSettings) Validate() error {
	g := s.Of(Group{})
	errs := []error{g.Validate()}
	if len(g.StartedBy) > MaxStartedBy {
		errs = append(errs, job.Invalid("started_by", "has %d groups; at most %d are allowed", len(g.StartedBy), MaxStartedBy))
	}
	for _, other := range g.StartedBy {
		errs = append(errs, job.CheckSlug("started_by", other))
	}
	return errors.Join(errs...)
}

// Of returns a group with these settings.
func (s GroupSettings) Of(g Group) Group {
	if s.Limit != nil {
		g.Limit = *s.Limit
	}
	if s.Rate != nil {
		g.Rate = *s.Rate
	}
	if s.StartedBy != nil {
		g.StartedBy = slices.Compact(slices.Sorted(slices.Values(*s.StartedBy)))
	}
	return g
}

// Settings returns the settings of the group that are not zero.
func (g *Group) Settings() (s GroupSettings) {
	if g.Limit != 0 {
		s.Limit = &g.Limit
	}
	if g.Rate != 0 {
		s.Rate = &g.Rate
	}
	if len(g.StartedBy) > 0 {
		s.StartedBy = &g.StartedBy
	}
	return s
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

// MayBeStartedBy reports whether handlers of a group may start jobs of this one.
func (g *Group) MayBeStartedBy(group string) bool {
	return group == g.Group || slices.Contains(g.StartedBy, group)
}

// Governed reports whether one dispatcher decides when the group's runs begin, and
// which of them are first.
func (g *Group) Governed() bool { return g.Dispatched }

// Routed reports whether triggers of the group may wait where dispatchers pull them.
func (g *Group) Routed() bool { return g.Governed() || g.HasRouted }

var kindGroup = jet.Kind[Group]{
	Bucket: bus.BucketGroups,
	Name:   func(key string) string { return "group " + key },
	Decode: func(_ string, data []byte) (Group, error) { return DecodeGroup(data) },
}

// Groups are the executor groups that the cluster knows, and their consumers.
type Groups struct{ conn *Conn }

// Groups returns the groups that the cluster knows.
func (c *Conn) Groups() Groups { return Groups{c} }

// Ensure makes the group known, if it is not. Its consumers are made by a scheduler
// node that hears of it.
func (gs Groups) Ensure(ctx context.Context, group string) error {
	_, err := gs.edit(ctx, group, func(*Group) {})
	return err
}

// Set makes the group known, if it is not, and changes its settings. It returns what it was before.
func (gs Groups) Set(ctx context.Context, group string, s GroupSettings) (was Group, err error) {
	if err := s.Validate(); err != nil {
		return was, err
	}
	return gs.edit(ctx, group, func(g *Group) {
		*g = s.Of(*g)
		g.Dispatched = g.Dispatched || g.GroupLimits != GroupLimits{}
	})
}

// Govern has the group's runs begin by the priorities of their jobs.
func (gs Groups) Govern(ctx context.Context, group string) error {
	_, err := gs.edit(ctx, group, func(g *Group) { g.Dispatched = true })
	return err
}

// Route makes the group known as one that has runs with a route or labels.
func (gs Groups) Route(ctx context.Context, group string) error {
	_, err := gs.edit(ctx, group, func(g *Group) { g.HasRouted = true })
	return err
}

// edit changes what is kept of a group, and makes it known if it is not.
func (gs Groups) edit(ctx context.Context, group string, change func(*Group)) (was Group, err error) {
	_, err = kindGroup.On(gs.conn.Conn).Edit(ctx, group, func(g *Group, revision uint64) (bool, error) {
		was = *g
		if revision == 0 {
			*g = Group{Group: group, CreatedAt: time.Now().UTC().Truncate(time.Millisecond)}
		}
		change(g)
		return !reflect.DeepEqual(*g, was), nil
	})
	return was, err
}

// DecodeGroup reads what the bucket holds. The error is an *InvalidError.
func DecodeGroup(data []byte) (Group, error) {
	var g Group
	if err := json.Unmarshal(data, &g); err != nil {
		return g, &job.InvalidError{Field: "executor_group", Reason: fmt.Sprintf("is damaged: %v", err)}
	}
	return g, nil
}

// Get returns what is kept of a group. The error is job.ErrNotFound when it is not
// known.
func (gs Groups) Get(ctx context.Context, group string) (Group, error) {
	g, _, err := kindGroup.On(gs.conn.Conn).Read(ctx, group)
	return g, err
}

// All returns all groups.
func (gs Groups) All(ctx context.Context) ([]Group, error) {
	list, err := kindGroup.On(gs.conn.Conn).List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	var all []Group
	for _, g := range list {
		if g.Value.Group == g.Key {
			all = append(all, g.Value)
		}
	}
	return all, nil
}

// Setup makes the group's consumers on each stream of triggers, if there are none: one for its
// executors, one for the dispatchers when it is routed, and two more for the other priorities when
// it is governed. Only scheduler nodes call it: executors' credentials do not allow it.
func (gs Groups) Setup(ctx context.Context, g Group) error {
	group := g.Group
	if err := job.CheckSlug("executor_group", group); err != nil {
		return err
	}
	// Each consumer on a stream of triggers makes every acknowledgement dearer, of all groups.
	consumers := map[string]string{bus.ConsumerAny(group): "trig.*.any." + group}
	if g.Routed() {
		consumers[bus.ConsumerRoute(group)] = routedTriggers(group)
	}
	if g.Governed() {
		consumers[bus.ConsumerPriority(job.PriorityHigh, group)] = "trig.*.high." + group
		consumers[bus.ConsumerPriority(job.PriorityLow, group)] = "trig.*.low." + group
	}
	var errs []error
	for _, stream := range gs.conn.Trigs() { // one that is away holds up no other one
		errs = append(errs, gs.setupConsumers(ctx, stream, consumers))
	}
	return errors.Join(errs...)
}

// setupConsumers makes consumers of triggers, by their names and filters, on one stream.
func (gs Groups) setupConsumers(ctx context.Context, name string, consumers map[string]string) error {
	stream, err := gs.conn.JS.Stream(ctx, name)
	if err != nil {
		return fmt.Errorf("look up stream %s: %w", name, jet.Unavailable(err))
	}
	for consumer, filter := range consumers {
		_, err = stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable:       consumer,
			FilterSubject: filter,
			AckPolicy:     jetstream.AckExplicitPolicy,
			AckWait:       bus.AckWait,
			MaxDeliver:    -1,
			MaxAckPending: 50000,
			MaxWaiting:    8192, // pull requests; an executor has up to four at a time
			Replicas:      stream.CachedInfo().Config.Replicas,
		})
		if err != nil {
			return fmt.Errorf("set up consumer %s on %s: %w", consumer, name, jet.Unavailable(err))
		}
	}
	return nil
}

// Routed returns the groups that have routed triggers on a stream, whether or not there is a
// consumer for them. The error is job.ErrUnavailable.
func (gs Groups) Routed(ctx context.Context, name string) ([]string, error) {
	stream, err := gs.conn.JS.Stream(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("look up stream %s: %w", name, jet.Unavailable(err))
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(routedTriggers("*")))
	if err != nil {
		return nil, fmt.Errorf("list routed triggers on %s: %w", name, jet.Unavailable(err))
	}
	found := map[string]bool{}
	for subject := range info.State.Subjects {
		found[subject[strings.LastIndexByte(subject, '.')+1:]] = true
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// routedTriggers matches the routed triggers of a group; it may be "*".
func routedTriggers(group string) string { return "trig.*.route." + group }

// Backlog is how many triggers of a governed group wait on its streams, and how many have
// been delivered and are not acknowledged.
type Backlog struct{ Waiting, Delivered int }

// Backlog returns the backlog of a governed group, whatever the priority, on the streams that
// answer. The error is about the others.
func (gs Groups) Backlog(ctx context.Context, group string) (sum Backlog, err error) {
	found, errs := gs.Backlogs(ctx, group, gs.conn.Trigs())
	for _, b := range found {
		sum.Waiting += b.Waiting
		sum.Delivered += b.Delivered
	}
	return sum, errors.Join(errs...)
}

// Backlogs returns the backlog of a governed group on each of streams, or why it is not known.
func (gs Groups) Backlogs(ctx context.Context, group string, streams []string) (found []Backlog, errs []error) {
	found, errs = make([]Backlog, len(streams)), make([]error, len(streams))
	var asking errgroup.Group
	for i, stream := range streams {
		asking.Go(func() error { found[i], errs[i] = gs.backlogOn(ctx, stream, group); return nil })
	}
	_ = asking.Wait() // they return none
	return found, errs
}

// backlogOn returns the backlog of a governed group on one stream.
func (gs Groups) backlogOn(ctx context.Context, stream, group string) (sum Backlog, err error) {
	consumers := []string{bus.ConsumerAny(group)}
	for _, p := range job.Priorities {
		consumers = append(consumers, bus.ConsumerPriority(p, group))
	}
	found := make([]*jetstream.ConsumerInfo, len(consumers))
	asking, ctx := errgroup.WithContext(ctx)
	for i, consumer := range consumers {
		asking.Go(func() error {
			var err error
			found[i], err = gs.conn.ConsumerInfo(ctx, stream, consumer)
			if errors.Is(err, jetstream.ErrConsumerNotFound) { // no node has set the group up yet
				return nil
			}
			return err
		})
	}
	if err := asking.Wait(); err != nil {
		return Backlog{}, err
	}
	for _, info := range found {
		if info != nil {
			sum.Waiting += int(info.NumPending) //nolint:gosec // a count of messages
			sum.Delivered += info.NumAckPending
		}
	}
	return sum, nil
}

// Watch follows all groups: what there is, a nil entry, then every change.
func (gs Groups) Watch(ctx context.Context) (jetstream.KeyWatcher, error) {
	return gs.conn.WatchAll(ctx, bus.BucketGroups)
}
