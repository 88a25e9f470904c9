package webapi

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// settingHandlers answer requests about settings of the cluster.
type settingHandlers struct {
	conn    *cluster.Conn
	store   logstore.Store
	catalog *catalog.Catalog
	// retention holds while nobody has said otherwise.
	retention job.Retention
}

// GetPause answers GET /pause.
func (h *settingHandlers) GetPause(ctx context.Context, _ GetPauseRequestObject) (*Pause, error) {
	hold, err := h.conn.Pauses().Get(ctx, "")
	if err != nil {
		return nil, err
	}
	return new(hold.At(time.Now())), nil
}

// SetPause answers PUT /pause.
func (h *settingHandlers) SetPause(ctx context.Context, r SetPauseRequestObject) (*Pause, error) {
	hold, err := h.catalog.SetSwitch(ctx, "", r.Body)
	if err != nil {
		return nil, err
	}
	return &hold, nil
}

// GetRetention answers GET /retention.
func (h *settingHandlers) GetRetention(ctx context.Context, _ GetRetentionRequestObject) (*answer[RetentionItem], error) {
	entry, err := h.conn.Retention().Get(ctx, h.retention)
	if err != nil {
		return nil, err
	}
	item := &answer[RetentionItem]{Body: retentionItem(entry)}
	if entry.Revision != 0 {
		item.ETag = etag(entry.Revision)
	}
	return item, nil
}

// PutRetention answers PUT /retention.
func (h *settingHandlers) PutRetention(ctx context.Context, r PutRetentionRequestObject) (*answer[RetentionItem], error) {
	edit, err := editOf(access.Author(ctx), r.Body.Note, r.Params.IfMatch, r.Params.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	was, err := h.conn.Retention().Get(ctx, h.retention)
	if err != nil {
		return nil, err
	}
	entry, err := h.conn.Retention().Put(ctx, r.Body.Retention, edit)
	if err != nil {
		return nil, problem.Conditional(edit, err)
	}
	if err := auditlog.Describe(ctx, true, r.Body.Note, was.Retention, entry.Retention); err != nil {
		return nil, err
	}
	item := retentionItem(entry)
	item.Warnings = h.catalog.Unknown(ctx, namesOfRetention(&entry.Retention))
	return &answer[RetentionItem]{Body: item, ETag: etag(entry.Revision)}, nil
}

// namesOfRetention returns the names of jobs and groups in a retention, in order.
func namesOfRetention(r *job.Retention) (names []catalog.Name) {
	for _, group := range slices.Sorted(maps.Keys(r.Groups)) {
		names = append(names, catalog.Name{Field: "retention.groups." + group, Group: group})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Jobs)) {
		names = append(names, catalog.Name{Field: "retention.jobs." + string(name), Job: name})
	}
	return names
}

// PreviewRetention answers POST /retention/preview.
func (h *settingHandlers) PreviewRetention(ctx context.Context, r PreviewRetentionRequestObject) (*RetentionEffect, error) {
	if err := r.Body.Validate(); err != nil {
		return nil, err
	}
	effect, err := h.store.Preview(ctx, time.Now(), *r.Body)
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	return &effect, nil
}

func retentionItem(e *cluster.RetentionEntry) RetentionItem {
	item := RetentionItem{Retention: e.Retention, Revision: e.Revision, Author: e.Author, Note: e.Note, LogClasses: job.LogClasses}
	if e.Revision != 0 {
		item.ChangedAt = e.ChangedAt
	}
	return item
}
