package nodes

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// countAtOnce is of how many groups the waiting runs are counted at the same time.
const countAtOnce = 8

// countWaiting counts the runs of groups that wait on the streams that answer, if a dispatcher
// has to hand them out.
func (v *View) countWaiting(ctx context.Context, groups []api.Group) error {
	asking, cancel := context.WithTimeout(ctx, CompletionTimeout)
	defer cancel()
	var counts errgroup.Group
	counts.SetLimit(countAtOnce)
	for i := range groups {
		g := &groups[i]
		if !g.Dispatched {
			continue
		}
		counts.Go(func() error {
			b, err := v.conn.Groups().Backlog(asking, g.ExecutorGroup)
			g.Waiting = b.Waiting
			if g.Limit > 0 { // what the dispatcher has in hand
				g.Waiting += max(b.Delivered-g.Limit, 0)
			}
			return v.WithoutBus(ctx, err)
		})
	}
	return counts.Wait()
}

// MarkWaiting says of pending runs for which nothing else is said what they wait for: an
// executor of their group, one that takes work, a free slot, or the group's limits. It says
// nothing while the bus is away.
func (v *View) MarkWaiting(ctx context.Context, lists ...[]runlog.Run) error {
	reasons := map[string]reason.Text{}
	asking, cancel := context.WithTimeout(ctx, CompletionTimeout)
	defer cancel()
	for _, runs := range lists {
		for i := range runs {
			r := &runs[i]
			if r.Status != job.StatusPending || r.Reason != "" {
				continue
			}
			group := r.Job.Group()
			why, known := reasons[group]
			if !known {
				var err error
				if why, err = v.whyWaiting(asking, group); err != nil {
					return v.WithoutBus(ctx, err)
				}
				reasons[group] = why
			}
			r.Reason = why
		}
	}
	return nil
}

// whyWaiting returns why runs of a group may wait, "" if nothing holds them back.
func (v *View) whyWaiting(ctx context.Context, group string) (reason.Text, error) {
	there, err := v.call(ctx)
	if err != nil {
		return "", err
	}
	if !manned(there.Instances, group) {
		return noExecutor(group), nil
	}
	g, err := v.conn.Groups().Get(ctx, group)
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return "", err
	}
	return waitingReason(group, &g, there.Instances), nil
}

// manned reports whether an instance of a group is alive.
func manned(instances []fleet.Instance, group string) bool {
	return slices.ContainsFunc(instances, func(i fleet.Instance) bool { return i.Group == group && i.Alive() })
}

// noExecutor says why nothing of a group runs.
func noExecutor(group string) reason.Text { return reason.Text(reason.GroupEmpty.With(group)) }

// waitingReason says what may hold the runs of a group back that has an executor, "" if
// nothing does.
func waitingReason(group string, g *cluster.Group, instances []fleet.Instance) reason.Text {
	online, slots, running := false, 0, 0
	for _, i := range instances {
		if i.Group == group && (i.State == fleet.InstanceOnline || i.State == fleet.InstanceIncompatible) { // which pulls
			online, slots, running = true, slots+i.Slots, running+i.Running
		}
	}
	switch {
	case !online:
		return reason.Text(reason.NobodyTakesWork.With(group))
	case g.Limit > 0 && g.Rate > 0:
		return reason.Text(reason.WaitsForLimits.With(group, g.Limit, g.Rate))
	case g.Limit > 0:
		return reason.Text(reason.WaitsForLimit.With(group, g.Limit))
	case g.Rate > 0:
		return reason.Text(reason.WaitsForRate.With(group, g.Rate))
	case slots > 0 && running >= slots:
		return reason.Text(reason.AllSlotsBusy.With(slots, group))
	}
	return ""
}
