package webapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"carillon/job"
	"carillon/ledger"
	"carillon/webapi/access"
	"carillon/webapi/problem"
	"carillon/webapi/runs"
)

// GetJobLedger answers GET /jobs/{group}/{name}/ledger.
func (h *handlers) GetJobLedger(ctx context.Context, r GetJobLedgerRequestObject) (GetJobLedgerResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	from, to, err := runs.PastRange(r.Params.From, r.Params.To)
	if err != nil {
		return nil, err
	}
	page, err := h.ledger.Job(ctx, name, ledger.JobRequest{
		From: from, To: to, Fates: r.Params.Fate, Cursor: r.Params.Cursor, Limit: cmp.Or(r.Params.Limit, ledger.DefaultLimit),
	})
	if err != nil {
		return nil, h.ledgerError(ctx, err)
	}
	return GetJobLedger200JSONResponse(*page), nil
}

// AuditLedger answers GET /ledger.
func (h *handlers) AuditLedger(ctx context.Context, r AuditLedgerRequestObject) (AuditLedgerResponseObject, error) {
	from, to, err := runs.PastRange(r.Params.From, r.Params.To)
	if err != nil {
		return nil, err
	}
	request := ledger.Request{From: from, To: to, Group: r.Params.Group, Cursor: r.Params.Cursor, Limit: r.Params.Limit}
	if visible := access.Seen(ctx); visible != nil {
		request.Visible = func(group string) bool { return visible[group] }
	}
	page, err := h.ledger.Audit(ctx, request)
	if err != nil {
		return nil, h.ledgerError(ctx, err)
	}
	return AuditLedger200JSONResponse(*page), nil
}

// ledgerError names the part of the system that keeps the ledger from being read.
func (h *handlers) ledgerError(ctx context.Context, err error) error {
	if errors.Is(err, job.ErrInvalid) || errors.Is(err, job.ErrNotFound) {
		return err
	}
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout) // the request's time may be over
	defer cancel()
	if _, away := h.store.Stats(asking); away != nil {
		return problem.Explain(fmt.Errorf("%w: %w", job.ErrUnavailable, err), "the log store does not answer, and the ledger compares the fires with it")
	}
	if _, away := h.conn.GetHold(asking); away != nil {
		return problem.Explain(fmt.Errorf("%w: %w", job.ErrUnavailable, err), "NATS does not answer, and the ledger reads jobs and positions there")
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, job.ErrUnavailable) {
		return problem.Explain(err, "the ledger was not read in time, though NATS and the log store answer; ask for a shorter range, or for one group")
	}
	return err
}
