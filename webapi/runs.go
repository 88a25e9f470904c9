package webapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"carillon/bus"
	"carillon/job"
	"carillon/job/runlog"
	"carillon/logstore"
	"carillon/webapi/access"
	"carillon/webapi/auditlog"
	"carillon/webapi/cluster"
	"carillon/webapi/problem"
)

// ListRuns answers GET /runs.
func (h *handlers) ListRuns(ctx context.Context, r ListRunsRequestObject) (ListRunsResponseObject, error) {
	found, err := h.listRuns(ctx, &r.Params)
	return ListRuns200JSONResponse(found), err
}

// listRuns returns a page of the runs that a request selects.
func (h *handlers) listRuns(ctx context.Context, p *ListRunsParams) (RunPage, error) {
	filter, err := runFilter(p)
	if err != nil {
		return RunPage{}, err
	}
	found, err := h.store.Runs(ctx, filter)
	if err != nil {
		return RunPage{}, problem.StoreAway(err)
	}
	if err := h.view.MarkSilent(ctx, found.Runs); err != nil {
		return RunPage{}, err
	}
	if err := h.view.MarkWaiting(ctx, found.Runs); err != nil {
		return RunPage{}, err
	}
	return RunPage{Items: append([]Run{}, found.Runs...), Next: found.Next}, nil
}

// runFilter returns what runs a request selects.
func runFilter(p *ListRunsParams) (logstore.RunFilter, error) {
	filter := logstore.RunFilter{
		Group: p.Group, Statuses: p.Status, Causes: p.Cause, Instance: p.Instance, Version: p.Version,
		From: p.From.UTC(), To: p.To.UTC(), Limit: cmp.Or(p.Limit, PageSize), Cursor: p.Cursor,
		Parent: job.RunID(p.Parent), AllAttempts: p.Attempts == ListRunsParamsAttemptsAll, MinAttempt: p.MinAttempt,
	}
	if p.Sort != "" {
		by, falling := strings.CutPrefix(string(p.Sort), "-")
		if by == "fire_time" {
			by = string(logstore.SortFire)
		}
		filter.Sort = logstore.RunOrder{By: logstore.SortKey(by), Rising: !falling}
	}
	if !filter.Sort.Default() && filter.To.IsZero() {
		filter.To = time.Now().UTC()
	}
	if p.RetryOf != "" {
		if p.Parent != "" || len(p.Cause) > 0 {
			return filter, problem.Invalid("retry_of", "leaves no room for parent and cause: leave them out")
		}
		filter.Parent, filter.Causes = job.RunID(p.RetryOf), []job.Cause{job.CauseRetry}
	}
	for _, name := range p.Job {
		filter.Jobs = append(filter.Jobs, job.Name(name))
	}
	return filter, filter.Validate()
}

// GetRun answers GET /runs/{run_id}.
func (h *handlers) GetRun(ctx context.Context, r GetRunRequestObject) (GetRunResponseObject, error) {
	detail, err := h.runDetail(ctx, r.RunID)
	return GetRun200JSONResponse(detail), err
}

// runDetail returns a run with its attempts, its timeline and what it was given.
func (h *handlers) runDetail(ctx context.Context, id string) (RunDetail, error) {
	attempts, err := h.attempts(ctx, id)
	if err != nil {
		return RunDetail{}, err
	}
	changes, err := h.store.Changes(ctx, attempts[0].RunID, runlog.Whole)
	if err != nil {
		return RunDetail{}, problem.StoreAway(err)
	}
	if err := h.view.MarkSilent(ctx, attempts); err != nil {
		return RunDetail{}, err
	}
	if err := h.view.MarkWaiting(ctx, attempts[:1]); err != nil {
		return RunDetail{}, err
	}
	newest := attempts[0]
	asking, cancel := context.WithTimeout(ctx, cluster.CompletionTimeout)
	defer cancel()
	given, err := h.given(asking, &newest)
	if err != nil && h.view.WithoutBus(ctx, err) != nil {
		return RunDetail{}, err
	}
	detail := RunDetail{
		RunID: newest.RunID, Job: newest.Job, Status: newest.RunStatus(), Params: given.Params, Labels: given.Labels,
		Attempts: attempts, Changes: append([]Change{}, changes...), Mark: markOf(changes),
	}
	if newest.Cause == job.CauseRetry {
		detail.RetryOf = newest.Parent
	}
	return detail, nil
}

// attempts returns what the history has of a run, the newest attempt first.
func (h *handlers) attempts(ctx context.Context, text string) ([]runlog.Run, error) {
	id, err := job.ParseRunID(text)
	if err != nil {
		return nil, err
	}
	attempts, err := h.store.Run(ctx, id)
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	return attempts, nil
}

// CancelRun answers POST /runs/{run_id}/cancel.
func (h *handlers) CancelRun(ctx context.Context, r CancelRunRequestObject) (CancelRunResponseObject, error) {
	accepted, err := h.cancelNamed(ctx, r.RunID, r.Body)
	return CancelRun202JSONResponse(accepted), err
}

// cancelNamed cancels a run of the job that the request names, or else of the one that the
// history has it of.
func (h *handlers) cancelNamed(ctx context.Context, text string, r *CancelRequest) (CancelAccepted, error) {
	id, err := job.ParseRunID(text)
	if err != nil {
		return CancelAccepted{}, err
	}
	name := r.Job
	if name != "" {
		if _, err := job.ParseName(string(name)); err != nil {
			return CancelAccepted{}, err
		}
	} else {
		attempts, err := h.attempts(ctx, text)
		if err != nil {
			return CancelAccepted{}, err
		}
		if err := mayCancel(&attempts[0]); err != nil {
			return CancelAccepted{}, err
		}
		name = attempts[0].Job
	}
	if err := access.MayDo(ctx, "cancelRun", name.Group()); err != nil {
		return CancelAccepted{}, err
	}
	found, err := h.cancelRun(ctx, id, name, r.Reason)
	return CancelAccepted{RunID: id, Found: found}, err
}

// mayCancel returns a job.ErrConflict if a run has ended.
func mayCancel(run *runlog.Run) error {
	if run.RunStatus().Final() {
		return fmt.Errorf("%w: run %s has ended already, as %s", job.ErrConflict, run.RunID, run.Status)
	}
	return nil
}

// cancelRun has the owner of its job's shard end a run, and returns what it was.
func (h *handlers) cancelRun(ctx context.Context, id job.RunID, name job.Name, reason string) (job.Status, error) {
	e := auditlog.Entry(ctx)
	e.Group, e.Note = name.Group(), reason
	var reply bus.CancelReply
	request := bus.CancelRequest{RunID: id, Job: name, By: access.Author(ctx), Reason: reason}
	err := h.ask(ctx, name, "cancel", 0, request, &reply)
	if errors.Is(err, job.ErrNotFound) {
		return h.cancelOrphan(ctx, id, name, request, err)
	}
	return reply.Found, err
}

// cancelOrphan ends a run that the history has as alive and that nobody else knows of.
func (h *handlers) cancelOrphan(ctx context.Context, id job.RunID, name job.Name, request bus.CancelRequest, unknown error) (job.Status, error) {
	attempts, err := h.attempts(ctx, string(id))
	if errors.Is(err, job.ErrNotFound) {
		return "", unknown
	}
	if err != nil {
		return "", err
	}
	r := &attempts[0]
	if r.Job != name {
		return "", unknown
	}
	if err := mayCancel(r); err != nil {
		return "", err
	}
	return r.RunStatus(), h.conn.EndRun(ctx, &bus.Trigger{
		RunID: id, Job: name, Version: r.Version, Shard: name.Shard(h.conn.Cluster().Shards), Attempt: r.Attempt,
		Cause: r.Cause, FireTime: r.FireTime, CommittedAt: r.CommittedAt, ParentRun: r.Parent,
	}, job.StatusCancelled, request.Text())
}
