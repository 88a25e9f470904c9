package webapi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carillon/bus"
	"carillon/job"
	"carillon/job/rights"
	"carillon/webapi/access"
	"carillon/webapi/auditlog"
	"carillon/webapi/problem"
)

// RunJob answers POST /jobs/{group}/{name}/run.
func (h *handlers) RunJob(ctx context.Context, r RunJobRequestObject) (RunJobResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	accepted, err := h.startJob(ctx, name, r.Body)
	return RunJob202JSONResponse(accepted), err
}

// startJob makes a run of a job as somebody wishes.
func (h *handlers) startJob(ctx context.Context, name job.Name, wish *RunRequest) (RunAccepted, error) {
	var none RunAccepted
	request := bus.TriggerRequest{Job: name, Cause: wish.Cause, Params: wish.Params, Labels: wish.Labels, By: access.Author(ctx)}
	wanted := wish.RunID
	if wanted == "" {
		wanted = job.NewRunID(time.Now())
	} else if _, err := job.ParseRunID(string(wanted)); err != nil {
		return none, err
	}
	// Never the wish itself: it may be the id of a fire of another group, which is still
	// to come.
	request.RunID = job.WantedRunID(name, wanted)
	if request.Cause == "" {
		request.Cause = job.CauseAPI
	}
	if len(request.Params) > 0 && !access.Who(ctx).Access.Sees(rights.Params, name.Group()) {
		return none, problem.Explain(problem.ErrForbidden, "to give params needs the grant params in group "+name.Group())
	}
	if len(request.Params) > job.MaxParams {
		return none, problem.Invalid("params", fmt.Sprintf("has %d bytes; at most %d are passed on", len(request.Params), job.MaxParams))
	}
	// The owner of the shard knows too, but answers only while there is one.
	entry, err := h.conn.GetJob(ctx, name)
	if err != nil {
		return none, err
	}
	if handler := entry.Task.Handler; handler != "" && len(request.Params) > 0 {
		if err := h.view.CheckParams(ctx, name.Group(), handler, request.Params); err != nil && !errors.Is(err, job.ErrNotFound) {
			return none, err
		}
	}
	if err := h.keepGiven(ctx, &request); err != nil {
		return none, err
	}
	var reply bus.TriggerReply
	if err := h.ask(ctx, name, "trigger", entry.Revision, request, &reply); err != nil {
		return none, err
	}
	auditlog.Entry(ctx).Note = "run " + string(reply.RunID)
	return RunAccepted{RunID: reply.RunID, Job: name, Version: reply.Version, Status: reply.Status, Reason: reply.Reason}, nil
}

// askTimeout is how long the owner of a shard may take to answer.
const askTimeout = 5 * time.Second

// ask sends a request to the owner of the job's shard, which answers it when it has heard
// of the given revision of the job.
func (h *handlers) ask(ctx context.Context, name job.Name, verb string, revision uint64, request, reply any) error {
	err := h.conn.AskOwner(ctx, name, verb, revision, request, reply, askTimeout)
	if errors.Is(err, job.ErrUnavailable) {
		shard := name.Shard(h.conn.Cluster().Shards)
		return problem.Explain(err, fmt.Sprintf("the scheduler node that owns shard %d, where job %s is, does not answer; whether the request had its effect is not known", shard, name))
	}
	return err
}
