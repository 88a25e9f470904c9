package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// OverridesFor is how long the overrides of a run are kept.
const OverridesFor = 90 * 24 * time.Hour

// Overrides is what somebody gave a run in the place of its job's own, or of a run's that it
// does again. The history does not have it, and who does the run again wants the same.
type Overrides struct {
	Params json.RawMessage `json:"params,omitempty"`
	Labels job.Labels      `json:"labels,omitempty"`
	// States is with which of its pieces done it began: see [bus.Pieces.States].
	States string `json:"states,omitempty"`
}

// Nothing reports whether the run has all of it from its job.
func (g *Overrides) Nothing() bool { return len(g.Params) == 0 && len(g.Labels) == 0 && g.States == "" }

var kindOverrides = jet.Kind[Overrides]{Bucket: bus.BucketOverrides, Name: func(key string) string {
	_, id, _ := strings.Cut(key, ".")
	return "the overrides of run " + id
}}

func overridesKey(group string, id job.RunID) string { return group + "." + string(id) }

// Overridden are the overrides that runs were given.
type Overridden struct{ conn *Conn }

// Overrides returns the overrides that runs were given.
func (c *Conn) Overrides() Overridden { return Overridden{c} }

// Put keeps what a run of a group is given, before it is asked for. What was kept
// of the run before stays. The error is an *InvalidError when the group keeps as many overrides as it
// may, see [bus.ShareOfOverrides].
func (os Overridden) Put(ctx context.Context, group string, id job.RunID, g Overrides) error {
	if err := os.CheckRoom(ctx, group); err != nil {
		return err
	}
	_, err := kindOverrides.On(os.conn.Conn).Write(ctx, overridesKey(group, id), g, 0)
	if errors.Is(err, job.ErrConflict) {
		return nil
	}
	return err
}

// CheckRoom returns an *InvalidError when a group keeps as many overrides as it may, as Put does.
func (os Overridden) CheckRoom(ctx context.Context, group string) error {
	return os.check(ctx, bus.ShareOfOverrides(), group)
}

// check is CheckRoom for a share: an *InvalidError when a group keeps as many overrides as it may. The answer may be 5 s
// old. A group whose overrides cannot be counted has room.
func (os Overridden) check(ctx context.Context, share bus.Share, group string) error {
	kept, full := os.conn.rooms.used(ctx, os.conn, share, group)
	if !full {
		return nil
	}
	return &job.InvalidError{Field: "params", Reason: refusal.GroupKeepsOverrides.With(group, int(kept.Keys), int(kept.Bytes>>20))} //nolint:gosec // at most some 100,000
}

// Get returns what a run was given: nothing, if that was nothing or is long ago.
func (os Overridden) Get(ctx context.Context, group string, id job.RunID) (Overrides, error) {
	g, _, err := kindOverrides.On(os.conn.Conn).Read(ctx, overridesKey(group, id))
	if errors.Is(err, job.ErrNotFound) {
		return Overrides{}, nil
	}
	return g, err
}
