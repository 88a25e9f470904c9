package webapi

import (
	"context"
	"time"

	"carillon/bus/cluster"
	"carillon/job"
)

// GetRetention answers GET /retention.
func (h *handlers) GetRetention(ctx context.Context, _ GetRetentionRequestObject) (GetRetentionResponseObject, error) {
	entry, err := h.conn.GetRetention(ctx, h.retention)
	if err != nil {
		return nil, err
	}
	headers := GetRetention200ResponseHeaders{}
	if entry.Revision != 0 {
		headers.ETag = etag(entry.Revision)
	}
	return GetRetention200JSONResponse{Body: retentionItem(entry), Headers: headers}, nil
}

// PutRetention answers PUT /retention.
func (h *handlers) PutRetention(ctx context.Context, r PutRetentionRequestObject) (PutRetentionResponseObject, error) {
	edit, err := editOf(author(ctx), r.Body.Note, r.Params.IfMatch, r.Params.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	was, err := h.conn.GetRetention(ctx, h.retention)
	if err != nil {
		return nil, err
	}
	entry, err := h.conn.PutRetention(ctx, r.Body.Retention, edit)
	if err != nil {
		return nil, conditional(edit, err)
	}
	if err := describe(ctx, true, r.Body.Note, was.Retention, entry.Retention); err != nil {
		return nil, err
	}
	return PutRetention200JSONResponse{Body: retentionItem(entry), Headers: PutRetention200ResponseHeaders{ETag: etag(entry.Revision)}}, nil
}

// PreviewRetention answers POST /retention/preview.
func (h *handlers) PreviewRetention(ctx context.Context, r PreviewRetentionRequestObject) (PreviewRetentionResponseObject, error) {
	if err := r.Body.Validate(); err != nil {
		return nil, err
	}
	effect, err := h.store.Preview(ctx, time.Now(), *r.Body)
	if err != nil {
		return nil, storeError(err)
	}
	return PreviewRetention200JSONResponse(effect), nil
}

func retentionItem(e *cluster.RetentionEntry) RetentionItem {
	item := RetentionItem{Retention: e.Retention, Revision: e.Revision, Author: e.Author, Note: e.Note, LogClasses: job.LogClasses}
	if e.Revision != 0 {
		item.ChangedAt = e.ChangedAt
	}
	return item
}
