package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

const keyHold = "hold"

// SetPause turns the switch, until an instant or, if that is zero, for good. It returns
// what holds afterwards.
func (c *Conn) SetPause(ctx context.Context, paused bool, until time.Time, e Edit) (job.GlobalPause, error) {
	until = until.UTC().Truncate(time.Millisecond)
	kv, err := c.Bucket(ctx, bus.BucketCluster)
	if err != nil {
		return job.GlobalPause{}, err
	}
	for {
		was, rev, err := c.getPause(ctx, kv)
		if was = was.At(e.At); err != nil || was.Paused == paused && was.Until.Equal(until) {
			return was, err
		}
		next := job.GlobalPause{Paused: paused, EffectiveFrom: e.At.UTC().Truncate(time.Millisecond), Until: until, Author: e.Author, Note: e.Note}
		if !next.EffectiveFrom.After(was.EffectiveFrom) {
			next.EffectiveFrom = was.EffectiveFrom.Add(time.Millisecond)
		}
		data, err := json.Marshal(next)
		if err != nil {
			return job.GlobalPause{}, fmt.Errorf("encode hold: %w", err)
		}
		if rev == 0 {
			_, err = kv.Create(ctx, keyHold, data)
		} else {
			_, err = kv.Update(ctx, keyHold, data, rev)
		}
		switch {
		case err == nil:
			return next, nil
		case !errors.Is(err, jetstream.ErrKeyExists) && !jet.WrongLast(err):
			return job.GlobalPause{}, fmt.Errorf("write hold: %w", jet.Unavailable(err))
		}
	}
}

// GetPause returns the present state of the switch.
func (c *Conn) GetPause(ctx context.Context) (job.GlobalPause, error) {
	kv, err := c.Bucket(ctx, bus.BucketCluster)
	if err != nil {
		return job.GlobalPause{}, err
	}
	h, _, err := c.getPause(ctx, kv)
	return h, err
}

func (c *Conn) getPause(ctx context.Context, kv jetstream.KeyValue) (job.GlobalPause, uint64, error) {
	e, err := kv.Get(ctx, keyHold)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return job.GlobalPause{}, 0, nil
	}
	if err != nil {
		return job.GlobalPause{}, 0, fmt.Errorf("read hold: %w", jet.Unavailable(err))
	}
	h, err := DecodeGlobalPause(e.Value())
	return h, e.Revision(), err
}

// WatchHold follows the switch, its history included; see [Conn.WatchJobs].
func (c *Conn) WatchHold(ctx context.Context) (jetstream.KeyWatcher, error) {
	return c.Watch(ctx, bus.BucketCluster, []string{keyHold}, true, 0)
}

// DecodeGlobalPause reads what the bucket holds. The error is an *InvalidError.
func DecodeGlobalPause(data []byte) (job.GlobalPause, error) {
	var h job.GlobalPause
	if err := json.Unmarshal(data, &h); err != nil {
		return h, &job.InvalidError{Field: "hold", Reason: fmt.Sprintf("is damaged: %v", err)}
	}
	return h, nil
}
