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

// keyHold is the key of the switch for everything. That for a group has its name in a second part.
const keyHold = "hold"

// kindPause has the switch for a group at "." and its name, and the one for everything at "".
var kindPause = jet.Kind[job.Pause]{
	Bucket: bus.BucketCluster, Prefix: keyHold,
	Name: func(key string) string {
		if key == "" {
			return "the pause of everything"
		}
		return "the pause of group " + key[1:]
	},
	Decode: func(_ string, data []byte) (job.Pause, error) { return DecodePause(data) },
}

// pauseKey returns the key of a group's switch among those of [kindPause].
func pauseKey(group string) string {
	if group == "" {
		return ""
	}
	return "." + group
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
	_, err = kindPause.On(ps.conn.Conn).Edit(ctx, pauseKey(group), func(p *job.Pause, _ uint64) (bool, error) {
		was = p.At(e.At)
		if now = was; was.Paused == paused && was.Until.Equal(until) {
			return false, nil
		}
		now = job.Pause{Paused: paused, EffectiveFrom: e.after(was.EffectiveFrom), Until: until, Author: e.Author, Note: e.Note}
		if paused && was.Paused && now.Note == "" { // only its end is another one
			now.Note = was.Note
		}
		*p = now
		return true, nil
	})
	return was, now, err
}

// Get returns the present state of the switch for an executor group, or with "" of that
// for everything.
func (ps Pauses) Get(ctx context.Context, group string) (job.Pause, error) {
	p, _, err := kindPause.On(ps.conn.Conn).Read(ctx, pauseKey(group))
	if errors.Is(err, job.ErrNotFound) {
		return job.Pause{}, nil
	}
	return p, err
}

// OfGroups returns the switches of those executor groups for which somebody has used one,
// without those that are damaged.
func (ps Pauses) OfGroups(ctx context.Context) (map[string]job.Pause, error) {
	list, err := kindPause.On(ps.conn.Conn).Match(ctx, ".*")
	if err != nil {
		return nil, fmt.Errorf("list paused groups: %w", err)
	}
	all := map[string]job.Pause{}
	for _, p := range list {
		all[GroupOfHold(p.Key)] = p.Value
	}
	return all, nil
}

// Watch follows all switches, their history included; see [Jobs.Watch] and
// [GroupOfHold].
func (ps Pauses) Watch(ctx context.Context) (jetstream.KeyWatcher, error) {
	return ps.conn.Watch(ctx, bus.BucketCluster, []string{keyHold, keyHold + ".*"}, true, 0)
}

// DecodePause reads what the bucket holds. The error is an *InvalidError.
func DecodePause(data []byte) (job.Pause, error) {
	var h job.Pause
	if err := json.Unmarshal(data, &h); err != nil {
		return h, &job.InvalidError{Field: "hold", Reason: fmt.Sprintf("is damaged: %v", err)}
	}
	return h, nil
}
