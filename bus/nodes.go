package bus

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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

// NodeClocks returns the clocks of all live servers that schedule, by their names. The error is
// job.ErrUnavailable.
func (c *Conn) NodeClocks(ctx context.Context) ([]NodeClock, error) {
	const prefix = "$KV." + BucketLease + ".node."
	var all []NodeClock
	err := c.Scan(ctx, bucketPrefix+BucketLease, prefix+"*", func(m *Stored) bool {
		var l Lease
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
