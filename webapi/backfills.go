package webapi

import (
	"context"

	"github.com/carillon-scheduler/carillon/job/backfill"
	"github.com/carillon-scheduler/carillon/webapi/bulk"
)

// backfillHandlers answer requests about backfills of many jobs.
type backfillHandlers struct{ backfills bulk.Backfills }

// ListBulkBackfills answers GET /backfills.
func (h *backfillHandlers) ListBulkBackfills(ctx context.Context, _ ListBulkBackfillsRequestObject) (*BulkBackfillList, error) {
	list, err := h.backfills.List(ctx)
	return &list, err
}

// CreateBulkBackfill answers POST /backfills.
func (h *backfillHandlers) CreateBulkBackfill(ctx context.Context, r CreateBulkBackfillRequestObject) (*BulkBackfillResult, error) {
	result, err := h.backfills.Create(ctx, r.Body, r.Params.DryRun)
	return &result, err
}

// GetBulkBackfill answers GET /backfills/{backfill}.
func (h *backfillHandlers) GetBulkBackfill(ctx context.Context, r GetBulkBackfillRequestObject) (*BulkBackfill, error) {
	return h.backfills.Get(ctx, r.Backfill)
}

// PauseBulkBackfill answers POST /backfills/{backfill}/pause.
func (h *backfillHandlers) PauseBulkBackfill(ctx context.Context, r PauseBulkBackfillRequestObject) (*BulkBackfill, error) {
	return h.change(ctx, r.Backfill, r.Body, (*backfill.Bulk).Pause)
}

// ResumeBulkBackfill answers POST /backfills/{backfill}/resume.
func (h *backfillHandlers) ResumeBulkBackfill(ctx context.Context, r ResumeBulkBackfillRequestObject) (*BulkBackfill, error) {
	return h.change(ctx, r.Backfill, r.Body, (*backfill.Bulk).Resume)
}

// CancelBulkBackfill answers POST /backfills/{backfill}/cancel.
func (h *backfillHandlers) CancelBulkBackfill(ctx context.Context, r CancelBulkBackfillRequestObject) (*BulkBackfill, error) {
	return h.change(ctx, r.Backfill, r.Body, (*backfill.Bulk).Cancel)
}

// RetryBulkBackfill answers POST /backfills/{backfill}/retry.
func (h *backfillHandlers) RetryBulkBackfill(ctx context.Context, r RetryBulkBackfillRequestObject) (*BulkBackfill, error) {
	return h.change(ctx, r.Backfill, r.Body, (*backfill.Bulk).Retry)
}

func (h *backfillHandlers) change(ctx context.Context, id string, body *BulkBackfillNote, act bulk.Act) (*BulkBackfill, error) {
	note := ""
	if body != nil {
		note = body.Note
	}
	return h.backfills.Change(ctx, id, note, act)
}
