package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

// NodeClock is what a live server with the role scheduler says of its clock.
type NodeClock struct {
	Node string `json:"-"`
	// Offset is by how many seconds its clock is ahead of that of NATS.
	Offset float64 `json:"clock_offset_seconds"`
	// Wrong says that its clock is out of line, so that it owns no shards; NATSWrong that most
	// servers agree, and the clock of NATS is out of line.
	Wrong     bool `json:"clock_wrong"`
	NATSWrong bool `json:"nats_clock_wrong"`
}

// Nodes are the servers of the cluster.
type Nodes struct{ conn *Conn }

// Nodes returns the servers of the cluster.
func (c *Conn) Nodes() Nodes { return Nodes{c} }

// Clocks returns the clocks of all live servers that schedule, by their names. The error is
// job.ErrUnavailable.
func (ns Nodes) Clocks(ctx context.Context) ([]NodeClock, error) {
	const prefix = "$KV." + bus.BucketLease + ".node."
	var all []NodeClock
	err := ns.conn.Scan(ctx, bucketPrefix+bus.BucketLease, prefix+"*", func(m *jet.Stored) bool {
		var l jet.LeaseRecord
		clock := NodeClock{Node: strings.TrimPrefix(m.Subject, prefix)}
		if json.Unmarshal(m.Data, &l) == nil && json.Unmarshal(l.Info, &clock) == nil { // else it has ended, or is another version's
			all = append(all, clock)
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("read the clocks of servers: %w", err)
	}
	slices.SortFunc(all, func(a, b NodeClock) int { return strings.Compare(a.Node, b.Node) })
	return all, nil
}

// ShardsOwned returns how many shards have a node, as NATS' leader knows it. The error is
// job.ErrUnavailable.
func (ns Nodes) ShardsOwned(ctx context.Context) (int, error) {
	n := 0
	err := ns.conn.Scan(ctx, bucketPrefix+bus.BucketLease, "$KV."+bus.BucketLease+".shard.*", func(m *jet.Stored) bool {
		if len(m.Data) > 0 { // else the lease has ended
			n++
		}
		return true
	})
	if err != nil {
		return 0, fmt.Errorf("count the shards that have a node: %w", err)
	}
	return n, nil
}

// ServerTime returns the time by the clock of a server of NATS: the one that leads the TRIG
// of the first partition. It is that of when the server answered. The error is
// job.ErrUnavailable.
func (c *Conn) ServerTime(ctx context.Context) (time.Time, error) {
	stream, err := c.JS.Stream(ctx, bus.StreamTrig)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the clock of NATS: %w", jet.Unavailable(err))
	}
	return stream.CachedInfo().TimeStamp.UTC(), nil
}

// ParkedShard is a shard that does not fire because NATS refuses for good what it is to store, a newer
// server has saved one of its jobs, or its position is ahead of the clock.
type ParkedShard struct {
	Shard  int    `json:"shard"`
	Reason string `json:"reason"`
}

// parkedBy is what one node says of its parked shards.
type parkedBy struct {
	At     time.Time     `json:"at"`
	Shards []ParkedShard `json:"shards"`
}

var kindParked = figuresAt[parkedBy]("parked.", "the parked shards")

// parkedFor is how long the list of a node counts. The node repeats it while it has parked shards.
const parkedFor = time.Minute

// PutParked says which shards of a node are parked. It is repeated every some seconds while
// there are any, and said once more when there are none. The error is job.ErrUnavailable.
func (ns Nodes) PutParked(ctx context.Context, node string, shards []ParkedShard) error {
	_, err := kindParked.On(ns.conn.Conn).Put(ctx, node, parkedBy{time.Now().UTC(), shards})
	return err
}

// Parked returns the shards that are parked, as all nodes say it that have lately. The error
// is job.ErrUnavailable.
func (ns Nodes) Parked(ctx context.Context, now time.Time) ([]ParkedShard, error) {
	found, err := newest(ctx, ns.conn, kindParked)
	if err != nil {
		return nil, err
	}
	var all []ParkedShard
	for _, by := range found {
		if now.Sub(by.At) < parkedFor {
			all = append(all, by.Shards...)
		}
	}
	slices.SortFunc(all, func(a, b ParkedShard) int {
		return cmp.Or(cmp.Compare(a.Shard, b.Shard), strings.Compare(a.Reason, b.Reason))
	})
	return slices.CompactFunc(all, func(a, b ParkedShard) bool { return a.Shard == b.Shard }), nil
}
