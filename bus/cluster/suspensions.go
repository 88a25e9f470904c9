package cluster

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// suspendedBy is what one node says of the instances that it has suspended.
type suspendedBy struct {
	At          time.Time        `json:"at"`
	Suspensions []bus.Suspension `json:"suspensions"`
}

const suspendedPrefix = "suspended."

// PutSuspensions says what a node has suspended. It is repeated every some seconds while
// there is any, and said once more when there is none. The error is job.ErrUnavailable.
func (c *Conn) PutSuspensions(ctx context.Context, node string, list []bus.Suspension) error {
	return c.putMeasured(ctx, measured{suspendedPrefix + node, "the suspended instances"}, suspendedBy{time.Now().UTC(), list})
}

// Suspensions returns what is suspended, as all nodes say it that have lately, in the order
// of groups and instances. The error is job.ErrUnavailable.
func (c *Conn) Suspensions(ctx context.Context, now time.Time) ([]bus.Suspension, error) {
	newest, err := newestMeasured[suspendedBy](ctx, c, suspendedPrefix, "suspended instances")
	if err != nil {
		return nil, err
	}
	all := map[[2]string]bus.Suspension{}
	for _, by := range newest {
		for _, s := range by.Suspensions {
			key := [2]string{s.Group, s.Instance}
			if now.Sub(by.At) < parkedFor && now.Before(s.Until) && all[key].Until.Before(s.Until) {
				all[key] = s
			}
		}
	}
	return slices.SortedFunc(maps.Values(all), compareSuspensions), nil
}

// suspend sets the state of an instance that takes work but is suspended.
func suspend(i *fleet.Instance, all []bus.Suspension) {
	for _, s := range all {
		if s.Group == i.Group && s.Instance == i.Instance && (i.State == fleet.InstanceOnline || i.State == fleet.InstanceIncompatible) {
			i.State, i.Reason = fleet.InstanceSuspended, reason.Text(s.Text())
		}
	}
}

func compareSuspensions(a, b bus.Suspension) int {
	return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Instance, b.Instance))
}
