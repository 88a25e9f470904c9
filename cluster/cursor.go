package cluster

import (
	"context"
	"errors"
	"strconv"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// kindFloor has the floors of shards, by their numbers.
var kindFloor = jet.Kind[journal.Cursor]{Bucket: bus.BucketCluster, Prefix: "floor.", Name: func(key string) string { return "the floor of shard " + key }}

// Shards are the shards of the job space: their owners, and how far they have come.
type Shards struct{ conn *Conn }

// Shards returns the shards of the job space.
func (c *Conn) Shards() Shards { return Shards{c} }

// PutFloor keeps a copy of a shard's cursor outside of the stream. It is read only
// when the stream has none, because it was deleted or restored from nothing: fires
// from the floor on are then decided again.
func (ss Shards) PutFloor(ctx context.Context, cursor *journal.Cursor) error {
	_, err := kindFloor.On(ss.conn.Conn).Put(ctx, strconv.Itoa(cursor.Shard), *cursor)
	return err
}

// Floor returns the copy of a shard's cursor, or nil when there is none.
func (ss Shards) Floor(ctx context.Context, shard int) (*journal.Cursor, error) {
	floor, _, err := kindFloor.On(ss.conn.Conn).Read(ctx, strconv.Itoa(shard))
	switch {
	case errors.Is(err, job.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &floor, nil
}

// cursor returns a shard's cursor, or its floor if that is gone, or nil when it never had one.
func (ss Shards) cursor(ctx context.Context, shard int) (*journal.Cursor, error) {
	m, err := ss.conn.Last(ctx, ss.conn.TrigOf(shard), bus.SubjectCursor(shard))
	if errors.Is(err, jet.ErrNoMessage) {
		return ss.Floor(ctx, shard)
	}
	if err != nil {
		return nil, err
	}
	return journal.DecodeCursor(m.Header, m.Data)
}
