package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

func floorKey(shard int) string { return "floor." + strconv.Itoa(shard) }

// Shards are the shards of the job space: their owners, and how far they have come.
type Shards struct{ conn *Conn }

// Shards returns the shards of the job space.
func (c *Conn) Shards() Shards { return Shards{c} }

// PutFloor keeps a copy of a shard's cursor outside of the stream. It is read only
// when the stream has none, because it was deleted or restored from nothing: fires
// from the floor on are then decided again.
func (ss Shards) PutFloor(ctx context.Context, cursor *bus.Cursor) error {
	kv, err := ss.conn.Bucket(ctx, bus.BucketCluster)
	if err != nil {
		return err
	}
	data, err := json.Marshal(cursor)
	if err != nil {
		return fmt.Errorf("encode floor of shard %d: %w", cursor.Shard, err)
	}
	if _, err := kv.Put(ctx, floorKey(cursor.Shard), data); err != nil {
		return fmt.Errorf("write floor of shard %d: %w", cursor.Shard, jet.Unavailable(err))
	}
	return nil
}

// Floor returns the copy of a shard's cursor, or nil when there is none.
func (ss Shards) Floor(ctx context.Context, shard int) (*bus.Cursor, error) {
	e, err := ss.conn.Entry(ctx, bus.BucketCluster, floorKey(shard))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read floor of shard %d: %w", shard, err)
	}
	floor := &bus.Cursor{}
	if err := json.Unmarshal(e.Value(), floor); err != nil {
		return nil, fmt.Errorf("%w: floor of shard %d is damaged: %w", job.ErrInvalid, shard, err)
	}
	return floor, nil
}

// cursor returns a shard's cursor, or its floor if that is gone, or nil when it never had one.
func (ss Shards) cursor(ctx context.Context, shard int) (*bus.Cursor, error) {
	m, err := ss.conn.Last(ctx, ss.conn.TrigOf(shard), bus.SubjectCursor(shard))
	if errors.Is(err, jet.ErrNoMessage) {
		return ss.Floor(ctx, shard)
	}
	if err != nil {
		return nil, err
	}
	return bus.DecodeCursor(m.Header, m.Data)
}
