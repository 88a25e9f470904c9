package webapi

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"carillon/bus"
	"carillon/job"
	"carillon/job/outcome"
	"carillon/ledger"
)

// BackfillJob answers POST /jobs/{group}/{name}/backfills.
func (h *handlers) BackfillJob(ctx context.Context, r BackfillJobRequestObject) (BackfillJobResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	entry, err := h.conn.GetJob(ctx, name)
	if err != nil {
		return nil, err
	}
	b := r.Body
	_, to, err := rangeBehind(time.Time{}, b.To)
	if err != nil {
		return nil, err
	}
	if b.From.IsZero() {
		return nil, invalid("from", "is missing")
	}
	only := b.Only
	if only == "" {
		only = outcome.OnlyMissed
	}
	taken, err := h.fillsLeft(ctx, name, entry.Revision)
	if err != nil {
		return nil, err
	}
	plan, err := h.ledger.Repeat(ctx, name, ledger.RepeatRequest{From: b.From.UTC(), To: to, Only: only, Again: b.Again}, taken)
	if err != nil {
		return nil, err
	}
	result := BackfillResult{Fires: plan.Fires, LeftOut: plan.LeftOut}
	if b.DryRun || len(plan.Fires) == 0 {
		return BackfillJob200JSONResponse(result), nil
	}
	request := bus.BackfillRequest{ID: b.ID, Job: name, AtOnce: orDefault(b.AtOnce, 1), By: author(ctx), Note: b.Note}
	if request.ID == "" {
		request.ID = strings.ToLower(rand.Text()[:10])
	}
	for i := range plan.Fires {
		request.Fires = append(request.Fires, plan.Fires[i].FireTime.UnixMilli())
	}
	if err := request.Validate(); err != nil {
		return nil, err
	}
	var begun job.Backfill
	if err := h.ask(ctx, name, bus.VerbBackfill, entry.Revision, request, &begun); err != nil {
		return nil, err
	}
	result.Backfill = &begun
	return BackfillJob200JSONResponse(result), nil
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
	entry, err := h.conn.GetJob(ctx, name)
	if err != nil {
		return nil, err
	}
	var list bus.BackfillList
	if err := h.ask(ctx, name, bus.VerbBackfills, entry.Revision, bus.BackfillsRequest{Job: name}, &list); err != nil {
		return nil, err
	}
	return ListBackfills200JSONResponse{Items: append([]Backfill{}, list.Backfills...)}, nil
}

// CancelBackfill answers POST /jobs/{group}/{name}/backfills/{backfill}/cancel.
func (h *handlers) CancelBackfill(ctx context.Context, r CancelBackfillRequestObject) (CancelBackfillResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	if err := job.CheckSlug("backfill", r.Backfill); err != nil {
		return nil, err
	}
	entry, err := h.conn.GetJob(ctx, name)
	if err != nil {
		return nil, err
	}
	request := bus.BackfillCancel{ID: r.Backfill, Job: name, By: author(ctx)}
	if r.Body != nil {
		request.Reason = r.Body.Note
	}
	var state job.Backfill
	if err := h.ask(ctx, name, bus.VerbCancelBackfill, entry.Revision, request, &state); err != nil {
		return nil, err
	}
	return CancelBackfill200JSONResponse(state), nil
}
