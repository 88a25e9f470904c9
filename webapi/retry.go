package webapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"carillon/bus"
	"carillon/bus/cluster"
	"carillon/job"
	"carillon/job/rights"
	"carillon/job/runlog"
	"carillon/logstore"
)

// RetryRun answers POST /runs/{run_id}/retry.
func (h *handlers) RetryRun(ctx context.Context, r RetryRunRequestObject) (RetryRunResponseObject, error) {
	attempts, err := h.attempts(ctx, r.RunID)
	if err != nil {
		return nil, err
	}
	accepted, err := h.retryRun(ctx, attempts, r.Body)
	if err != nil {
		return nil, err
	}
	return RetryRun202JSONResponse(accepted), nil
}

// mayRetry returns a job.ErrConflict unless a run has ended.
func mayRetry(run *runlog.Run) error {
	if status := run.RunStatus(); !status.Final() {
		return fmt.Errorf("%w: run %s has not ended: it is %s; cancel it first", job.ErrConflict, run.RunID, status)
	}
	return nil
}

// retryRun makes a run that does the run of these attempts again.
func (h *handlers) retryRun(ctx context.Context, attempts []runlog.Run, wish *RetryRequest) (RunAccepted, error) {
	var none RunAccepted
	of := &attempts[0]
	if err := mayRetry(of); err != nil {
		return none, err
	}
	if changes := len(wish.Params) > 0 || len(wish.SetParams) > 0; changes && !whoIs(ctx).Access.Sees(rights.Params, of.Job.Group()) {
		return none, explain(errForbidden, "to give params needs the grant params in group "+of.Job.Group())
	}
	entry, err := h.versionOf(ctx, of, wish.Version == RetryRequestVersionSame)
	if err != nil {
		return none, err
	}
	if wish.Key == "" {
		wish.Key = string(job.NewRunID(time.Now()))
	}
	request := bus.TriggerRequest{
		RunID: job.RetryRunID(of.RunID, wish.Key), Job: of.Job, Cause: job.CauseRetry, RetryOf: of.RunID, By: author(ctx), Labels: wish.Labels,
	}
	if wish.Version == RetryRequestVersionSame {
		body := bus.BodyOf(&entry.Version)
		request.Version, request.Body = entry.Version.Version, &body
	}
	if err := h.giveAgain(ctx, &request, of, &entry.Version, wish); err != nil {
		return none, err
	}
	if wish.Pieces == RetryRequestPiecesFailed {
		if request.Pieces, err = h.failedPieces(ctx, attempts); err != nil {
			return none, err
		}
	}
	if err := h.keepGiven(ctx, &request); err != nil {
		return none, err
	}
	e := entryOfChange(ctx)
	e.Group = of.Job.Group()
	var reply bus.TriggerReply
	if err := h.ask(ctx, of.Job, "trigger", entry.Revision, request, &reply); err != nil {
		return none, err
	}
	e.Note = "run " + string(reply.RunID)
	return RunAccepted{RunID: reply.RunID, Job: of.Job, Version: reply.Version, Status: reply.Status, Reason: reply.Reason}, nil
}

// versionOf returns the entry of the version of the job by which a run is done again: its own, or
// the newest.
func (h *handlers) versionOf(ctx context.Context, of *runlog.Run, same bool) (*bus.JobEntry, error) {
	newest, err := h.conn.GetJob(ctx, of.Job)
	if err != nil || !same || newest.Version.Version == of.Version {
		if err != nil {
			return nil, err
		}
		return newest, nil
	}
	versions, err := h.conn.JobVersions(ctx, of.Job)
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		if v.Version.Version == of.Version && !v.Deleted && v.Unreadable == "" {
			return v, nil
		}
	}
	return nil, fmt.Errorf("%w: version %d of job %s is not kept any more; retry the run with the latest one", job.ErrConflict, of.Version, of.Job)
}

// giveAgain sets what a run is given that does another again: what the caller says, or
// else what that had.
func (h *handlers) giveAgain(ctx context.Context, request *bus.TriggerRequest, of *runlog.Run, version *job.Version, wish *RetryRequest) error {
	given, err := h.given(ctx, of)
	if err != nil {
		return err
	}
	if len(request.Labels) == 0 {
		request.Labels = given.Labels
	}
	switch {
	case len(wish.Params) > 0 && len(wish.SetParams) > 0:
		return invalid("set_params", "changes the run's parameters, and params takes their place: give one of them")
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
		return invalid("params", fmt.Sprintf("has %d bytes; at most %d are passed on", len(request.Params), job.MaxParams))
	}
	if handler := version.Task.Handler; handler != "" {
		if err := h.checkParams(ctx, of.Job.Group(), handler, request.Params); !errors.Is(err, job.ErrNotFound) {
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
		return nil, invalid("set_params", "changes fields of an object, and the run's parameters are none; give params instead")
	}
	maps.Copy(fields, set)
	maps.DeleteFunc(fields, func(_ string, v json.RawMessage) bool { return bytes.Equal(bytes.TrimSpace(v), []byte("null")) })
	data, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("encode params: %w", err)
	}
	return data, nil
}

// given returns what a run was given in the place of its job's own. Of a child that is
// its parent's result, which the parent's row has.
func (h *handlers) given(ctx context.Context, run *runlog.Run) (cluster.Given, error) {
	switch run.Cause { //nolint:exhaustive // the others are given nothing
	case job.CauseManual, job.CauseAPI, job.CauseRetry:
		return h.conn.GetGiven(ctx, run.Job.Group(), run.RunID)
	case job.CauseParent:
		return h.handedDown(ctx, run)
	}
	return cluster.Given{}, nil
}

// handedDown returns what a child got from its parent's run: nothing, when the parent
// passes no result, or is not there any more.
func (h *handlers) handedDown(ctx context.Context, child *runlog.Run) (cluster.Given, error) {
	// The parent decided that its result goes to this child, whoever sees the child.
	parent, err := h.history.Run(ctx, child.Parent)
	if errors.Is(err, job.ErrNotFound) {
		return cluster.Given{}, nil
	}
	if err != nil {
		return cluster.Given{}, storeError(err)
	}
	entry, err := h.conn.GetJob(ctx, parent[0].Job)
	if errors.Is(err, job.ErrNotFound) {
		return cluster.Given{}, nil
	}
	if err != nil {
		return cluster.Given{}, err
	}
	passes := slices.ContainsFunc(entry.Children, func(c job.Child) bool { return c.Job == child.Job && c.PassResult })
	if !passes {
		return cluster.Given{}, nil
	}
	return cluster.Given{Params: parent[0].Result}, nil
}

// keepGiven keeps what a run is given, before it is asked for.
func (h *handlers) keepGiven(ctx context.Context, r *bus.TriggerRequest) error {
	given := cluster.Given{Params: r.Params, Labels: r.Labels}
	if r.Pieces != nil {
		given.States = r.Pieces.States
	}
	if given.Nothing() {
		return nil
	}
	return h.conn.PutGiven(ctx, r.Job.Group(), r.RunID, given)
}

// failedPieces returns the pieces of a run of which those wait that have not succeeded,
// in it or in the runs that it does again.
func (h *handlers) failedPieces(ctx context.Context, attempts []runlog.Run) (*bus.Pieces, error) {
	of := &attempts[0]
	if of.Total == 0 {
		return nil, invalid("pieces", "must be all for a run that is not done in pieces")
	}
	given, err := h.given(ctx, of)
	if err != nil {
		return nil, err
	}
	states := []byte(strings.Repeat(string(bus.PieceWaiting), of.Total))
	copy(states, given.States)
	instances := make([]string, of.Total)
	for from, more := runlog.Whole, true; more; more = from != runlog.Whole {
		page, err := h.store.Pieces(ctx, logstore.PieceFilter{RunID: of.RunID, From: from, Limit: logstore.MaxRuns})
		if err != nil {
			return nil, storeError(err)
		}
		for _, piece := range page.Pieces {
			i := piece.Piece.Index()
			if i >= of.Total {
				continue
			}
			if piece.Status == job.StatusSucceeded {
				states[i] = bus.PieceSucceeded
			}
			instances[i] = piece.Instance
		}
		from = page.Next
	}
	p := &bus.Pieces{States: string(states)}
	if !strings.Contains(p.States, string(bus.PieceWaiting)) {
		return nil, fmt.Errorf("%w: all pieces of run %s have succeeded", job.ErrConflict, of.RunID)
	}
	entry, err := h.versionOf(ctx, of, true)
	if err != nil {
		return nil, err
	}
	switch {
	case entry.Route == job.RouteBroadcast:
		p.Instances = instances
	case entry.Map != nil && entry.Map.Split:
		if p.Items, err = h.itemsOf(ctx, attempts); err != nil {
			return nil, err
		}
		if len(p.Items) != of.Total {
			return nil, fmt.Errorf("%w: what run %s was split into is not kept any more; retry all of it", job.ErrConflict, of.RunID)
		}
	}
	return p, nil
}

// maxRetries bounds how many runs are looked through of which each does the one before
// again.
const maxRetries = 100

// itemsOf returns what the splitting attempt of a run has listed, or of the run that this
// one does again.
func (h *handlers) itemsOf(ctx context.Context, attempts []runlog.Run) (items []json.RawMessage, err error) {
	for range maxRetries {
		for _, a := range attempts {
			if a.Total == 0 && a.Status == job.StatusSucceeded && json.Unmarshal(a.Result, &items) == nil {
				return items, nil
			}
		}
		newest := &attempts[0]
		if newest.Cause != job.CauseRetry {
			break
		}
		if attempts, err = h.store.Run(ctx, newest.Parent); errors.Is(err, job.ErrNotFound) {
			break
		} else if err != nil {
			return nil, storeError(err)
		}
	}
	return nil, nil
}
