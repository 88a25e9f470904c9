package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// bucketPrefix is that of the streams below buckets.
const bucketPrefix = "KV_"

// maxConsumers bounds how many consumers State tells of.
const maxConsumers = 100

// consumersWithin is how long State waits for a stream's consumers.
const consumersWithin = 2 * time.Second

// maxKeepers bounds the shares of groups in State.
const maxKeepers = 20

// Streams are the streams of the cluster, and the room that they have.
type Streams struct{ conn *Conn }

// Streams returns the streams of the cluster.
func (c *Conn) Streams() Streams { return Streams{c} }

// State asks NATS for the state of all streams, and of the consumers on streams that are not
// buckets. It returns the 100 consumers with the most work, without those of a stream that does
// not answer, and what groups keep in buckets that have a share for each: of those that have jobs, and of
// the given ones, the 20 with the most. The error is job.ErrUnavailable.
func (ss Streams) State(ctx context.Context, groups []string) (*fleet.State, error) {
	account, err := ss.conn.JS.AccountInfo(ctx)
	if err != nil {
		return nil, fmt.Errorf("look up the account: %w", jet.Unavailable(err))
	}
	s := &fleet.State{
		Server: ss.conn.NC.ConnectedServerName(), Version: ss.conn.NC.ConnectedServerVersion(), Cluster: ss.conn.NC.ConnectedClusterName(),
		Bytes: account.Store, MaxBytes: max(account.Limits.MaxStore, 0),
	}
	ours := ss.assetNames()
	streams := ss.conn.JS.ListStreams(ctx)
	for info := range streams.Info() {
		if ours[info.Config.Name] {
			s.Streams = append(s.Streams, streamState(info))
		}
	}
	if err := streams.Err(); err != nil {
		return nil, fmt.Errorf("list streams: %w", jet.Unavailable(err))
	}
	slices.SortFunc(s.Streams, func(a, b fleet.StreamState) int {
		switch {
		case a.Bucket == b.Bucket:
			return strings.Compare(a.Stream, b.Stream)
		case b.Bucket:
			return -1
		}
		return 1
	})
	s.Durability, s.Replicas = durability(s.Streams)
	found := make([][]fleet.ConsumerState, len(s.Streams))
	var asking errgroup.Group
	for i := range s.Streams {
		if s.Streams[i].Bucket || s.Streams[i].Consumers == 0 {
			continue
		}
		asking.Go(func() (err error) {
			found[i], err = ss.consumersOf(ctx, s.Streams[i].Stream)
			if errors.Is(err, job.ErrUnavailable) && ctx.Err() == nil {
				return nil
			}
			return err
		})
	}
	err = asking.Wait()
	s.Consumers = mostWork(slices.Concat(found...))
	if err == nil {
		s.Kept, err = ss.keepers(ctx, groups)
	}
	return s, err
}

// keepers returns what groups keep, those that have most of their share first.
func (ss Streams) keepers(ctx context.Context, groups []string) ([]fleet.Kept, error) {
	known, err := ss.conn.Groups().All(ctx)
	if err != nil {
		return nil, err
	}
	names := slices.Clone(groups)
	for _, g := range known {
		names = append(names, g.Group)
	}
	slices.Sort(names)
	kept, err := ss.conn.Shares().Kept(ctx, slices.Compact(names))
	if err != nil {
		return nil, err
	}
	all, err := ss.conn.Instances().Fleet(ctx)
	if err != nil {
		return nil, err
	}
	for i := range kept {
		if kept[i].Bucket == bus.BucketInst {
			kept[i].Unreadable = all.Unreadable[kept[i].Group]
		}
	}
	slices.SortStableFunc(kept, func(a, b fleet.Kept) int { return cmp.Compare(b.Used(), a.Used()) })
	return kept[:min(len(kept), maxKeepers)], nil
}

// assetNames are the streams of Carillon, those below buckets among them: the account
// may have others.
func (ss Streams) assetNames() map[string]bool {
	a := Assets{Shards: ss.conn.cluster.Shards, Partitions: ss.conn.cluster.Partitions}.withDefaults()
	names := map[string]bool{}
	for _, cfg := range a.streams() {
		names[cfg.Name] = true
	}
	for _, cfg := range append(a.buckets(), a.executorBuckets()...) {
		names[bucketPrefix+cfg.Bucket] = true
	}
	return names
}

func streamState(info *jetstream.StreamInfo) fleet.StreamState {
	name, bucket := strings.CutPrefix(info.Config.Name, bucketPrefix)
	s := fleet.StreamState{
		Stream: name, Bucket: bucket, Description: info.Config.Description,
		Messages: info.State.Msgs, Bytes: info.State.Bytes, MaxBytes: max(info.Config.MaxBytes, 0),
		Refuses: info.Config.Discard == jetstream.DiscardNew, LastSeq: info.State.LastSeq,
		Consumers: info.State.Consumers, Replicas: info.Config.Replicas,
	}
	if info.State.Msgs > 0 {
		s.OldestAt = info.State.FirstTime.UTC().Truncate(time.Millisecond)
	}
	if info.Cluster != nil {
		s.Leader = info.Cluster.Leader
	}
	s.Behind = CopiesBehind(info)
	return s
}

// CopiesBehind returns the servers whose copy of a stream is not whole at the moment, or away.
func CopiesBehind(info *jetstream.StreamInfo) (servers []string) {
	if info.Cluster == nil {
		return nil
	}
	for _, p := range info.Cluster.Replicas {
		if p.Offline || !p.Current {
			servers = append(servers, p.Name)
		}
	}
	return servers
}

// durability returns what the stream with the least copies has.
func durability(streams []fleet.StreamState) (fleet.Durability, int) {
	least, behind := 0, false
	for _, s := range streams {
		if least == 0 || s.Replicas < least {
			least = s.Replicas
		}
		behind = behind || len(s.Behind) > 0
	}
	switch {
	case behind:
		return fleet.Degraded, least
	case least > 1:
		return fleet.Replicated, least
	}
	return fleet.OneCopy, least
}

// consumersOf returns those of a stream that have most work.
func (ss Streams) consumersOf(ctx context.Context, name string) (all []fleet.ConsumerState, err error) {
	ctx, cancel := context.WithTimeout(ctx, consumersWithin)
	defer cancel()
	stream, err := ss.conn.JS.Stream(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("look up stream %s: %w", name, jet.Unavailable(err))
	}
	list := stream.ListConsumers(ctx)
	for info := range list.Info() {
		all = append(all, fleet.ConsumerState{
			Stream: name, Consumer: info.Name, Group: bus.GroupOfConsumer(name, info.Name), Ephemeral: info.Config.Durable == "",
			Waiting: info.NumPending, Unacknowledged: info.NumAckPending, Redelivered: info.NumRedelivered, Pulls: info.NumWaiting,
		})
	}
	if err := list.Err(); err != nil {
		return nil, fmt.Errorf("list consumers of %s: %w", name, jet.Unavailable(err))
	}
	return mostWork(all), nil
}

// mostWork returns the consumers that have most work.
func mostWork(all []fleet.ConsumerState) []fleet.ConsumerState {
	slices.SortStableFunc(all, func(a, b fleet.ConsumerState) int {
		return cmp.Or(
			cmp.Compare(b.Waiting+uint64(max(b.Unacknowledged, 0)), a.Waiting+uint64(max(a.Unacknowledged, 0))),
			strings.Compare(a.Stream, b.Stream), strings.Compare(a.Consumer, b.Consumer))
	})
	return all[:min(len(all), maxConsumers)]
}
