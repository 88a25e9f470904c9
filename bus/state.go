package bus

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Durability is what the copies of the streams withstand.
type Durability string

// Durabilities. What a power cut costs where there is one copy is up to the NATS server's
// sync_interval, which it does not tell its clients.
const (
	OneCopy    Durability = "one_copy"   // the death of any process, not that of a disk
	Replicated Durability = "replicated" // that of a minority of the NATS servers, too
	Degraded   Durability = "degraded"   // replicated, but some copies are behind or gone
)

// State is how NATS keeps what Carillon has on it, as it says at one moment.
type State struct {
	// Server is the NATS server that this process is connected to, Cluster empty where it
	// has no others beside it.
	Server  string `json:"server"`
	Version string `json:"version"`
	Cluster string `json:"cluster,omitempty"`

	// Bytes of MaxBytes that the account may have on disk; 0 when that has no bound of its own.
	Bytes    uint64 `json:"bytes"`
	MaxBytes int64  `json:"max_bytes,omitempty"`

	// Durability is that of the stream which has the least, Replicas its copies.
	Durability Durability      `json:"durability"`
	Replicas   int             `json:"replicas"`
	Streams    []StreamState   `json:"streams"`   // streams first, then the buckets, each by name
	Consumers  []ConsumerState `json:"consumers"` // on streams, not on buckets: those with most work first
}

// StreamState is one stream, or the one below a bucket.
type StreamState struct {
	Stream      string    `json:"stream"` // a bucket by its own name
	Bucket      bool      `json:"bucket,omitempty"`
	Description string    `json:"description,omitempty"`
	Messages    uint64    `json:"messages"`
	Bytes       uint64    `json:"bytes"`
	MaxBytes    int64     `json:"max_bytes,omitempty"` // 0: no bound
	Refuses     bool      `json:"refuses"`             // once it is full; the oldest goes otherwise
	LastSeq     uint64    `json:"last_sequence"`       // grows by one with each message
	OldestAt    time.Time `json:"oldest_at,omitzero"`
	Consumers   int       `json:"consumers"`
	Replicas    int       `json:"replicas"`
	Leader      string    `json:"leader,omitempty"`
	// Behind are the servers whose copy is not whole at the moment.
	Behind []string `json:"behind,omitempty"`
}

// ConsumerState is who takes from a stream.
type ConsumerState struct {
	Stream         string `json:"stream"`
	Consumer       string `json:"consumer"`
	Group          string `json:"executor_group,omitempty"` // whose triggers it hands out
	Ephemeral      bool   `json:"ephemeral,omitempty"`      // it follows for one connection, and goes with it
	Waiting        uint64 `json:"waiting"`
	Unacknowledged int    `json:"unacknowledged"`
	Redelivered    int    `json:"redelivered"` // of the unacknowledged, those that were handed out again
	Pulls          int    `json:"pulls"`       // requests for more that wait
}

// bucketPrefix is that of the streams below buckets.
const bucketPrefix = "KV_"

// maxConsumers bounds how many consumers State tells of.
const maxConsumers = 100

// State asks NATS for the state of all streams, and of the consumers on those that are
// no buckets, of which the 100 with most work are told. The error is job.ErrUnavailable.
func (c *Conn) State(ctx context.Context) (*State, error) {
	account, err := c.JS.AccountInfo(ctx)
	if err != nil {
		return nil, fmt.Errorf("look up the account: %w", Unavailable(err))
	}
	s := &State{
		Server: c.NC.ConnectedServerName(), Version: c.NC.ConnectedServerVersion(), Cluster: c.NC.ConnectedClusterName(),
		Bytes: account.Store, MaxBytes: max(account.Limits.MaxStore, 0),
	}
	ours := assetNames()
	streams := c.JS.ListStreams(ctx)
	for info := range streams.Info() {
		if ours[info.Config.Name] {
			s.Streams = append(s.Streams, streamState(info))
		}
	}
	if err := streams.Err(); err != nil {
		return nil, fmt.Errorf("list streams: %w", Unavailable(err))
	}
	slices.SortFunc(s.Streams, func(a, b StreamState) int {
		switch {
		case a.Bucket == b.Bucket:
			return strings.Compare(a.Stream, b.Stream)
		case b.Bucket:
			return -1
		}
		return 1
	})
	s.Durability, s.Replicas = durability(s.Streams)
	for i := range s.Streams {
		if s.Streams[i].Bucket || s.Streams[i].Consumers == 0 {
			continue
		}
		if s.Consumers, err = c.consumersOf(ctx, s.Streams[i].Stream, s.Consumers); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// assetNames are the streams of Carillon, those below buckets among them: the account
// may have others.
func assetNames() map[string]bool {
	a := Assets{}.withDefaults()
	names := map[string]bool{}
	for _, cfg := range a.streams() {
		names[cfg.Name] = true
	}
	for _, cfg := range a.buckets() {
		names[bucketPrefix+cfg.Bucket] = true
	}
	return names
}

func streamState(info *jetstream.StreamInfo) StreamState {
	name, bucket := strings.CutPrefix(info.Config.Name, bucketPrefix)
	s := StreamState{
		Stream: name, Bucket: bucket, Description: info.Config.Description,
		Messages: info.State.Msgs, Bytes: info.State.Bytes, MaxBytes: max(info.Config.MaxBytes, 0),
		Refuses: info.Config.Discard == jetstream.DiscardNew, LastSeq: info.State.LastSeq,
		Consumers: info.State.Consumers, Replicas: info.Config.Replicas,
	}
	if info.State.Msgs > 0 {
		s.OldestAt = info.State.FirstTime.UTC().Truncate(time.Millisecond)
	}
	if info.Cluster == nil {
		return s
	}
	s.Leader = info.Cluster.Leader
	for _, p := range info.Cluster.Replicas {
		if p.Offline || !p.Current {
			s.Behind = append(s.Behind, p.Name)
		}
	}
	return s
}

// durability returns what the stream with the least copies has.
func durability(streams []StreamState) (Durability, int) {
	least, behind := 0, false
	for _, s := range streams {
		if least == 0 || s.Replicas < least {
			least = s.Replicas
		}
		behind = behind || len(s.Behind) > 0
	}
	switch {
	case behind:
		return Degraded, least
	case least > 1:
		return Replicated, least
	}
	return OneCopy, least
}

// consumersOf adds those of a stream to those that have most work.
func (c *Conn) consumersOf(ctx context.Context, name string, all []ConsumerState) ([]ConsumerState, error) {
	stream, err := c.JS.Stream(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("look up stream %s: %w", name, Unavailable(err))
	}
	list := stream.ListConsumers(ctx)
	for info := range list.Info() {
		group := ""
		if name == StreamTrig {
			group = GroupOfConsumer(info.Name)
		}
		all = append(all, ConsumerState{
			Stream: name, Consumer: info.Name, Group: group, Ephemeral: info.Config.Durable == "",
			Waiting: info.NumPending, Unacknowledged: info.NumAckPending, Redelivered: info.NumRedelivered, Pulls: info.NumWaiting,
		})
	}
	if err := list.Err(); err != nil {
		return nil, fmt.Errorf("list consumers of %s: %w", name, Unavailable(err))
	}
	slices.SortStableFunc(all, func(a, b ConsumerState) int {
		return cmp.Or(
			cmp.Compare(b.Waiting+uint64(max(b.Unacknowledged, 0)), a.Waiting+uint64(max(a.Unacknowledged, 0))),
			strings.Compare(a.Stream, b.Stream), strings.Compare(a.Consumer, b.Consumer))
	})
	return all[:min(len(all), maxConsumers)], nil
}
