package nodes

import (
	"context"
	"errors"
	"slices"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// countWaiting counts the runs of a group that wait on the stream, if a dispatcher has to
// hand them out.
func (v *View) countWaiting(ctx context.Context, g *api.Group) error {
	if !g.Dispatched {
		return nil
	}
	b, err := v.conn.BacklogOf(ctx, g.ExecutorGroup)
	g.Waiting = b.Waiting
	if g.Limit > 0 { // what the dispatcher has in hand
		g.Waiting += max(b.Delivered-g.Limit, 0)
	}
	return err
}

// MarkWaiting says of pending runs for which nothing else is said what they wait for: an
// executor of their group, or its limits. It says nothing while the bus is away.
func (v *View) MarkWaiting(ctx context.Context, runs []runlog.Run) error {
	reasons := map[string]reason.Text{}
	asking, cancel := context.WithTimeout(ctx, CompletionTimeout)
	defer cancel()
	for i := range runs {
		r := &runs[i]
		if r.Status != job.StatusPending || r.Reason != "" {
			continue
		}
		group := r.Job.Group()
		why, known := reasons[group]
		if !known {
			there, err := v.call(asking)
			if err != nil {
				return v.WithoutBus(ctx, err)
			}
			if !manned(there.instances, group) {
				reasons[group] = noExecutor(group)
				r.Reason = reasons[group]
				continue
			}
			g, err := v.conn.Group(asking, group)
			if err != nil && !errors.Is(err, job.ErrNotFound) {
				return v.WithoutBus(ctx, err)
			}
			why = waitingReason(&g)
			reasons[group] = why
		}
		r.Reason = why
	}
	return nil
}

// manned reports whether an instance of a group is alive.
func manned(instances []fleet.Instance, group string) bool {
	return slices.ContainsFunc(instances, func(i fleet.Instance) bool { return i.Group == group && i.Alive() })
}

// noExecutor says why nothing of a group runs.
func noExecutor(group string) reason.Text { return reason.Text(reason.GroupEmpty.With(group)) }

// waitingReason says what may hold the runs of a group back, "" if nothing does.
func waitingReason(g *cluster.Group) reason.Text {
	switch {
	case g.Limit > 0 && g.Rate > 0:
		return reason.Text(reason.WaitsForLimits.With(g.Group, g.Limit, g.Rate))
	case g.Limit > 0:
		return reason.Text(reason.WaitsForLimit.With(g.Group, g.Limit))
	case g.Rate > 0:
		return reason.Text(reason.WaitsForRate.With(g.Group, g.Rate))
	}
	return ""
}
