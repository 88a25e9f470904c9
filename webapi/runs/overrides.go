package runs

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// giveAgain sets what a run is given that does another again: what the caller says, or
// else what that had.
func (rs *Runs) giveAgain(ctx context.Context, request *bus.TriggerRequest, of *runlog.Run, version *job.Version, wish *api.RerunRequest) error {
	given, err := rs.overrides(ctx, of)
	if err != nil {
		return err
	}
	if of.Cause == job.CauseParent && !isStarted(of) { // a parent's result is not a text with variables
		if given.Params, err = job.LiteralParams(given.Params); err != nil {
			return err
		}
	}
	if len(request.Labels) == 0 {
		request.Labels = given.Labels
	}
	switch {
	case len(wish.Params) > 0 && len(wish.SetParams) > 0:
		return job.Invalid("set_params", "changes the run's parameters, and params takes their place: give one of them")
	case len(wish.Params) > 0:
		request.Params = wish.Params
	case len(wish.SetParams) > 0:
		base := given.Params
		if len(base) == 0 {
			base = version.Params
		}
		var ok bool
		if request.Params, ok = job.ChangeParams(base, wish.SetParams); !ok {
			return job.Invalid("set_params", "changes fields of an object, and the run's parameters are none; give params instead")
		}
	default:
		request.Params = given.Params
		return nil
	}
	if len(request.Params) > job.MaxParams {
		return &job.InvalidError{Field: "params", Reason: reason.TooManyBytes.With(len(request.Params), job.MaxParams)}
	}
	return rs.view.CheckGiven(ctx, &version.Job, request.Params)
}

// overrides returns what a run was given in the place of its job's own. Of a child that is
// its parent's result, which the parent's row has.
func (rs *Runs) overrides(ctx context.Context, run *runlog.Run) (cluster.Overrides, error) {
	switch run.Cause { //nolint:exhaustive // the others are given nothing
	case job.CauseManual, job.CauseAPI, job.CauseTest, job.CauseRerun:
		return rs.conn.Overrides().Get(ctx, run.Job.Group(), run.RunID)
	case job.CauseParent:
		if isStarted(run) {
			return rs.conn.Overrides().Get(ctx, run.Job.Group(), run.RunID)
		}
		result, err := rs.passedOn(ctx, run)
		return cluster.Overrides{Params: result}, err
	}
	return cluster.Overrides{}, nil
}

// isStarted reports whether the code of its parent has started a run, which then has the name of the parent's job.
func isStarted(run *runlog.Run) bool { return run.Cause == job.CauseParent && run.By != "" }

// passedOn returns the result that a child got from its parent's run; nothing when the parent passes none,
// or is there no more. The parent decided that its result goes to this child, whoever sees the child.
func (rs *Runs) passedOn(ctx context.Context, child *runlog.Run) (json.RawMessage, error) {
	parent, err := rs.history.Run(ctx, child.Parent)
	if errors.Is(err, job.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	entry, err := rs.conn.Jobs().Get(ctx, parent[0].Job)
	if errors.Is(err, job.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(entry.Children, func(c job.Child) bool { return c.Job == child.Job && c.PassResult }) {
		return nil, nil
	}
	return parent[0].Result, nil
}

// keepGiven keeps what a run is given, before it is asked for.
func (rs *Runs) keepGiven(ctx context.Context, r *bus.TriggerRequest) error {
	given := cluster.Overrides{Params: r.Params, Labels: r.Labels}
	if r.Pieces != nil {
		given.States = r.Pieces.States
	}
	if given.Nothing() {
		return nil
	}
	if isLater(r) {
		id := job.LaterRunID(r.RunID, r.Due.UnixMilli())
		if err := rs.conn.Overrides().Put(ctx, r.Job.Group(), id, given); err != nil || time.Until(r.Due) > time.Minute {
			return err
		} // else the run may be due when its owner hears of it, and has the id of the request
	}
	return rs.conn.Overrides().Put(ctx, r.Job.Group(), r.RunID, given)
}
