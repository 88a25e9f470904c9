package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

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
	if of.Cause == job.CauseParent { // a parent's result is not a text with variables
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
		if request.Params, err = changeParams(base, wish.SetParams); err != nil {
			return err
		}
	default:
		request.Params = given.Params
		return nil
	}
	if len(request.Params) > job.MaxParams {
		return &job.InvalidError{Field: "params", Reason: reason.TooManyBytes.With(len(request.Params), job.MaxParams)}
	}
	if handler := version.Task.Handler; handler != "" {
		if err := rs.view.CheckParams(ctx, of.Job.Group(), handler, request.Params); !errors.Is(err, job.ErrNotFound) {
			return err
		}
	}
	return nil
}

// changeParams returns an object with some of its fields changed, and those without
// that are to be null.
func changeParams(params json.RawMessage, set map[string]json.RawMessage) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if len(params) > 0 && json.Unmarshal(params, &fields) != nil || fields == nil {
		return nil, job.Invalid("set_params", "changes fields of an object, and the run's parameters are none; give params instead")
	}
	maps.Copy(fields, set)
	maps.DeleteFunc(fields, func(_ string, v json.RawMessage) bool { return bytes.Equal(bytes.TrimSpace(v), []byte("null")) })
	data, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("encode params: %w", err)
	}
	return data, nil
}

// overrides returns what a run was given in the place of its job's own. Of a child that is
// its parent's result, which the parent's row has.
func (rs *Runs) overrides(ctx context.Context, run *runlog.Run) (cluster.Overrides, error) {
	switch run.Cause { //nolint:exhaustive // the others are given nothing
	case job.CauseManual, job.CauseAPI, job.CauseTest, job.CauseRerun:
		return rs.conn.Overrides().Get(ctx, run.Job.Group(), run.RunID)
	case job.CauseParent:
		return rs.handedDown(ctx, run)
	}
	return cluster.Overrides{}, nil
}

// handedDown returns what a child got from the runs of its parents: the result of the only one, or an
// object of the results of several by the names of their jobs. It is nothing when no parent passes a
// result, or is there any more.
func (rs *Runs) handedDown(ctx context.Context, child *runlog.Run) (cluster.Overrides, error) {
	changes, err := rs.history.Changes(ctx, child.RunID, runlog.Whole)
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return cluster.Overrides{}, problem.StoreAway(err)
	}
	parents, results := parentsOf(child, changes), map[job.Name]json.RawMessage{}
	for _, id := range parents {
		parent, result, err := rs.passedOn(ctx, id, child.Job)
		if err != nil {
			return cluster.Overrides{}, err
		}
		if len(parents) == 1 {
			return cluster.Overrides{Params: result}, nil
		}
		if len(result) > 0 {
			results[parent] = result
		}
	}
	if len(results) == 0 {
		return cluster.Overrides{}, nil
	}
	params, err := json.Marshal(results)
	if err != nil {
		return cluster.Overrides{}, fmt.Errorf("encode results of parents: %w", err)
	}
	return cluster.Overrides{Params: params}, nil
}

// passedOn returns the result that a parent's run passes to a child, with the parent's job. The parent
// decided that its result goes to this child, whoever sees the child.
func (rs *Runs) passedOn(ctx context.Context, id job.RunID, child job.Name) (job.Name, json.RawMessage, error) {
	parent, err := rs.history.Run(ctx, id)
	if errors.Is(err, job.ErrNotFound) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, problem.StoreAway(err)
	}
	name := parent[0].Job
	entry, err := rs.conn.Jobs().Get(ctx, name)
	if errors.Is(err, job.ErrNotFound) {
		return name, nil, nil
	}
	if err != nil {
		return name, nil, err
	}
	if !slices.ContainsFunc(entry.Children, func(c job.Child) bool { return c.Job == child && c.PassResult }) {
		return name, nil, nil
	}
	return name, parent[0].Result, nil
}

// parentsOf returns the runs that a run with such a timeline follows, the last to end first.
func parentsOf(run *runlog.Run, changes []runlog.Change) []job.RunID {
	if run.Cause != job.CauseParent || run.Parent == "" {
		return nil
	}
	parents := []job.RunID{run.Parent}
	for i := range changes {
		if c := &changes[i]; c.Kind == runlog.KindJoined && c.Parent != run.Parent {
			parents = append(parents, c.Parent)
		}
	}
	return parents
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
	return rs.conn.Overrides().Put(ctx, r.Job.Group(), r.RunID, given)
}
