package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// keyHold is the key of the switch for everything; keyHoldGroup and a group are that of the
// switch for the group.
const (
	keyHold      = "hold"
	keyHoldGroup = "hold."
)

func holdKey(group string) string {
	if group == "" {
		return keyHold
	}
	return keyHoldGroup + group
}

// GroupOfHold returns whose switch is at a key of [Pauses.Watch]: an executor group's, or
// with "" that for everything.
func GroupOfHold(key string) string { return strings.TrimPrefix(strings.TrimPrefix(key, keyHold), ".") }

// Pauses are the switches that pause an executor group, or everything.
type Pauses struct{ conn *Conn }

// Pauses returns the switches that pause groups.
func (c *Conn) Pauses() Pauses { return Pauses{c} }

// Set turns the switch for an executor group, or with "" that for everything, until an
// instant or, if that is zero, for good. It returns what held before and what holds afterwards.
func (ps Pauses) Set(ctx context.Context, group string, paused bool, until time.Time, e Edit) (was, now job.Pause, err error) {
	until = until.UTC().Truncate(time.Millisecond)
	kv, err := ps.conn.Bucket(ctx, bus.BucketCluster)
	if err != nil {
		return was, now, err
	}
	for {
		var rev uint64
		was, rev, err = ps.get(ctx, group)
		if was = was.At(e.At); err != nil || was.Paused == paused && was.Until.Equal(until) {
			return was, was, err
		}
		now = job.Pause{Paused: paused, EffectiveFrom: e.At.UTC().Truncate(time.Millisecond), Until: until, Author: e.Author, Note: e.Note}
		if !now.EffectiveFrom.After(was.EffectiveFrom) {
			now.EffectiveFrom = was.EffectiveFrom.Add(time.Millisecond)
		}
		data, err := json.Marshal(now)
		if err != nil {
			return was, now, fmt.Errorf("encode hold: %w", err)
		}
		if rev == 0 {
			_, err = kv.Create(ctx, holdKey(group), data)
		} else {
			_, err = kv.Update(ctx, holdKey(group), data, rev)
		}
		switch {
		case err == nil:
			return was, now, nil
		case !jet.LostRace(err):
			return was, now, fmt.Errorf("write hold: %w", jet.Unavailable(err))
		}
	}
}

// Get returns the present state of the switch for an executor group, or with "" of that
// for everything.
func (ps Pauses) Get(ctx context.Context, group string) (job.Pause, error) {
	h, _, err := ps.get(ctx, group)
	return h, err
}

// OfGroups returns the switches of those executor groups for which somebody has used one,
// without those that are damaged.
func (ps Pauses) OfGroups(ctx context.Context) (map[string]job.Pause, error) {
	all := map[string]job.Pause{}
	err := ps.conn.Entries(ctx, bus.BucketCluster, keyHoldGroup+"*", false, func(e jetstream.KeyValueEntry) error {
		if e.Operation() != jetstream.KeyValuePut {
			return nil
		}
		if h, err := DecodePause(e.Value()); err == nil { // else those that go by it say so in their logs
			all[GroupOfHold(e.Key())] = h
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list paused groups: %w", err)
	}
	return all, nil
}

func (ps Pauses) get(ctx context.Context, group string) (job.Pause, uint64, error) {
	e, err := ps.conn.Entry(ctx, bus.BucketCluster, holdKey(group))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return job.Pause{}, 0, nil
	}
	if err != nil {
		return job.Pause{}, 0, fmt.Errorf("read hold: %w", err)
	}
	h, err := DecodePause(e.Value())
	return h, e.Revision(), err
}

// Watch follows all switches, their history included; see [Jobs.Watch] and
// [GroupOfHold].
func (ps Pauses) Watch(ctx context.Context) (jetstream.KeyWatcher, error) {
	return ps.conn.Watch(ctx, bus.BucketCluster, []string{keyHold, keyHoldGroup + "*"}, true, 0)
}

// DecodePause reads what the bucket holds. The error is an *InvalidError.
func DecodePause(data []byte) (job.Pause, error) {
	var h job.Pause
	if err := json.Unmarshal(data, &h); err != nil {
		return h, &job.InvalidError{Field: "hold", Reason: fmt.Sprintf("is damaged: %v", err)}
	}
	return h, nil
}
