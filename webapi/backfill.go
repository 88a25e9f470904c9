package webapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"strings"
	"time"

	"carillon/bus"
	"carillon/job"
	"carillon/job/outcome"
	"carillon/ledger"
	"carillon/webapi/access"
	"carillon/webapi/problem"
)

// BackfillJob answers POST /jobs/{group}/{name}/backfills.
func (h *handlers) BackfillJob(ctx context.Context, r BackfillJobRequestObject) (BackfillJobResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	result, err := h.backfill(ctx, name, r.Body)
	return BackfillJob200JSONResponse(result), err
}

// backfill runs fires of a job's past, or with DryRun tells which these are.
func (h *handlers) backfill(ctx context.Context, name job.Name, b *BackfillRequest) (BackfillResult, error) {
	entry, err := h.conn.GetJob(ctx, name)
	if err != nil {
		return BackfillResult{}, err
	}
	_, to, err := rangeBehind(time.Time{}, b.To)
	if err != nil {
		return BackfillResult{}, err
	}
	if b.From.IsZero() {
		return BackfillResult{}, problem.Invalid("from", "is missing")
	}
	only := b.Only
	if only == "" {
		only = outcome.OnlyMissed
	}
	taken, err := h.fillsLeft(ctx, name, entry.Revision)
	if err != nil {
		return BackfillResult{}, err
	}
	plan, err := h.ledger.Repeat(ctx, name, ledger.RepeatRequest{From: b.From.UTC(), To: to, Only: only, Again: b.Again}, taken)
	if err != nil {
		return BackfillResult{}, err
	}
	result := BackfillResult{Fires: plan.Fires, LeftOut: plan.LeftOut}
	if b.DryRun || len(plan.Fires) == 0 {
		return result, nil
	}
	request := bus.BackfillRequest{ID: b.ID, Job: name, AtOnce: cmp.Or(b.AtOnce, 1), By: access.Author(ctx), Note: b.Note}
	if request.ID == "" {
		request.ID = strings.ToLower(rand.Text()[:10])
	}
	for i := range plan.Fires {
		request.Fires = append(request.Fires, plan.Fires[i].FireTime.UnixMilli())
	}
	if err := request.Validate(); err != nil {
		return BackfillResult{}, err
	}
	var begun job.Backfill
	if err := h.ask(ctx, name, bus.VerbBackfill, entry.Revision, request, &begun); err != nil {
		return BackfillResult{}, err
	}
	result.Backfill = &begun
	return result, nil
}

// fillsLeft returns the fires that backfills of a job have yet to run.
func (h *handlers) fillsLeft(ctx context.Context, name job.Name, revision uint64) (map[int64]bool, error) {
	var list bus.BackfillList
	if err := h.ask(ctx, name, bus.VerbBackfills, revision, bus.BackfillsRequest{Job: name, Fires: true}, &list); err != nil {
		return nil, err
	}
	left := map[int64]bool{}
	for _, b := range list.Backfills {
		if b.Cancelled == "" && b.EndedAt.IsZero() && len(b.Fires) == b.Total {
			for _, at := range b.Fires[b.Begun:] {
				left[at] = true
			}
		}
	}
	return left, nil
}

// ListBackfills answers GET /jobs/{group}/{name}/backfills.
func (h *handlers) ListBackfills(ctx context.Context, r ListBackfillsRequestObject) (ListBackfillsResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	list, err := h.backfills(ctx, name)
	return ListBackfills200JSONResponse(list), err
}

// backfills returns the backfills of a job.
func (h *handlers) backfills(ctx context.Context, name job.Name) (BackfillList, error) {
	entry, err := h.conn.GetJob(ctx, name)
	if err != nil {
		return BackfillList{}, err
	}
	var list bus.BackfillList
	if err := h.ask(ctx, name, bus.VerbBackfills, entry.Revision, bus.BackfillsRequest{Job: name}, &list); err != nil {
		return BackfillList{}, err
	}
	return BackfillList{Items: append([]Backfill{}, list.Backfills...)}, nil
}

// CancelBackfill answers POST /jobs/{group}/{name}/backfills/{backfill}/cancel.
func (h *handlers) CancelBackfill(ctx context.Context, r CancelBackfillRequestObject) (CancelBackfillResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	reason := ""
	if r.Body != nil {
		reason = r.Body.Note
	}
	state, err := h.cancelBackfill(ctx, name, r.Backfill, reason)
	return CancelBackfill200JSONResponse(state), err
}

// cancelBackfill ends a backfill of a job: none of its fires begins any more.
func (h *handlers) cancelBackfill(ctx context.Context, name job.Name, id, reason string) (state job.Backfill, err error) {
	if err := job.CheckSlug("backfill", id); err != nil {
		return state, err
	}
	entry, err := h.conn.GetJob(ctx, name)
	if err != nil {
		return state, err
	}
	request := bus.BackfillCancel{ID: id, Job: name, By: access.Author(ctx), Reason: reason}
	err = h.ask(ctx, name, bus.VerbCancelBackfill, entry.Revision, request, &state)
	return state, err
}
