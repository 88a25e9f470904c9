package webapi

import (
	"context"
	"errors"
	"time"

	"carillon/bus"
	"carillon/job"
	"carillon/webapi/access"
	"carillon/webapi/auditlog"
	"carillon/webapi/problem"
)

// SkipFire answers POST /jobs/{group}/{name}/skip.
func (h *handlers) SkipFire(ctx context.Context, r SkipFireRequestObject) (SkipFireResponseObject, error) {
	item, err := h.skipsChanged(ctx, r.Group, r.Name, *r.Body, h.catalog.Skip)
	if err != nil {
		return nil, err
	}
	return SkipFire200JSONResponse{Body: item, Headers: SkipFire200ResponseHeaders{ETag: etag(item.Revision)}}, nil
}

// UnskipFire answers POST /jobs/{group}/{name}/unskip.
func (h *handlers) UnskipFire(ctx context.Context, r UnskipFireRequestObject) (UnskipFireResponseObject, error) {
	item, err := h.skipsChanged(ctx, r.Group, r.Name, *r.Body, h.catalog.Unskip)
	if err != nil {
		return nil, err
	}
	return UnskipFire200JSONResponse{Body: item, Headers: UnskipFire200ResponseHeaders{ETag: etag(item.Revision)}}, nil
}

// skipsChanged makes a change to the fires that are called off, and returns the job as it is then.
func (h *handlers) skipsChanged(ctx context.Context, group, short string, r SkipRequest, change func(context.Context, job.Name, *SkipRequest) (*bus.JobEntry, error)) (JobItem, error) {
	name, err := nameOf(group, short)
	if err != nil {
		return JobItem{}, err
	}
	entry, err := change(ctx, name, &r)
	if err != nil {
		return JobItem{}, err
	}
	return h.catalog.Item(ctx, entry, shownFires, shownRuns)
}

// RunFireEarly answers POST /jobs/{group}/{name}/run-early.
func (h *handlers) RunFireEarly(ctx context.Context, r RunFireEarlyRequestObject) (RunFireEarlyResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	accepted, err := h.startEarly(ctx, name, r.Body)
	return RunFireEarly202JSONResponse(accepted), err
}

// startEarly runs a fire of a job now. One write calls the fire off
// and names the run in its place, which the owner of the job's shard makes when it hears
// of that; it is asked only what became of it. Asked again, the same run is meant.
func (h *handlers) startEarly(ctx context.Context, name job.Name, r *SkipRequest) (accepted RunAccepted, err error) {
	fireTime := r.FireTime.UTC().Truncate(time.Millisecond)
	id, again := job.NewRunID(time.Now()), false
	entry, err := h.catalog.ChangeSkips(ctx, name, fireTime, r.Reason, func(v *job.Version, s job.Skip) error {
		if was := v.SkipOf(s.FireTime); was != nil && was.RunID != "" {
			id, again = was.RunID, true
			return nil
		}
		s.RunID = id
		v.Skip(s)
		return nil
	})
	if err != nil {
		return accepted, err
	}
	if again {
		// The owner remembers a few minutes long what it has made, the history longer.
		known, found, err := h.acceptedBefore(ctx, id)
		if err != nil || found {
			return known, err
		}
	}
	request := bus.TriggerRequest{RunID: id, Job: name, Cause: job.CauseManual, By: access.Author(ctx), InsteadOf: fireTime}
	var reply bus.TriggerReply
	if err := h.ask(ctx, name, "trigger", entry.Revision, request, &reply); err != nil {
		return accepted, err
	}
	auditlog.Entry(ctx).Note = "run " + string(reply.RunID)
	return RunAccepted{RunID: reply.RunID, Job: name, Version: reply.Version, Status: reply.Status, Reason: reply.Reason}, nil
}

// acceptedBefore returns a run as it was accepted, if the history has it.
func (h *handlers) acceptedBefore(ctx context.Context, id job.RunID) (accepted RunAccepted, found bool, err error) {
	attempts, err := h.store.Run(ctx, id)
	if errors.Is(err, job.ErrNotFound) {
		return accepted, false, nil
	}
	if err != nil {
		return accepted, false, problem.StoreAway(err)
	}
	newest := &attempts[0]
	return RunAccepted{RunID: id, Job: newest.Job, Version: newest.Version, Status: newest.RunStatus(), Reason: newest.Reason}, true, nil
}
