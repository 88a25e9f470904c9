package bus

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// ParkedShard is a shard that does not fire because NATS refuses for good what it is to
// store.
type ParkedShard struct {
	Shard  int    `json:"shard"`
	Reason string `json:"reason"`
}

// parkedBy is what one node says of its parked shards.
type parkedBy struct {
	At     time.Time     `json:"at"`
	Shards []ParkedShard `json:"shards"`
}

const (
	parkedPrefix = "parked."
	// parkedFor is how long the word of a node counts: it repeats it while it holds.
	parkedFor = time.Minute
)

// PutParked says which shards of a node are parked. It is repeated every some seconds while
// there are any, and said once more when there are none. The error is job.ErrUnavailable.
func (c *Conn) PutParked(ctx context.Context, node string, shards []ParkedShard) error {
	return c.putMeasured(ctx, measured{parkedPrefix + node, "the parked shards"}, parkedBy{time.Now().UTC(), shards})
}

// Parked returns the shards that are parked, as all nodes say it that have lately. The error
// is job.ErrUnavailable.
func (c *Conn) Parked(ctx context.Context, now time.Time) ([]ParkedShard, error) {
	newest, err := newestMeasured[parkedBy](ctx, c, parkedPrefix, "parked shards")
	if err != nil {
		return nil, err
	}
	var all []ParkedShard
	for _, by := range newest {
		if now.Sub(by.At) < parkedFor {
			all = append(all, by.Shards...)
		}
	}
	slices.SortFunc(all, func(a, b ParkedShard) int {
		return cmp.Or(cmp.Compare(a.Shard, b.Shard), strings.Compare(a.Reason, b.Reason))
	})
	return slices.CompactFunc(all, func(a, b ParkedShard) bool { return a.Shard == b.Shard }), nil
}
