package webapi

import (
	"context"
	"fmt"
	"slices"

	"carillon/webapi/access"
	"carillon/webapi/problem"
)

// Defaults of what comes with a job; the contract states them.
const (
	shownFires = 5
	shownRuns  = 10
)

// GetJob answers GET /jobs/{group}/{name}.
func (h *handlers) GetJob(ctx context.Context, r GetJobRequestObject) (GetJobResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	entry, err := h.conn.GetJob(ctx, name)
	if err != nil {
		return nil, err
	}
	item, err := h.catalog.Item(ctx, entry, valueOr(r.Params.Fires, shownFires), valueOr(r.Params.Runs, shownRuns))
	if err != nil {
		return nil, err
	}
	item.Warnings = h.view.Warnings(ctx, &entry.Job)
	return GetJob200JSONResponse{Body: item, Headers: GetJob200ResponseHeaders{ETag: etag(item.Revision)}}, nil
}

// PutJob answers PUT /jobs/{group}/{name}.
func (h *handlers) PutJob(ctx context.Context, r PutJobRequestObject) (PutJobResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	if r.Body.Job != name {
		return nil, problem.Invalid("job", fmt.Sprintf("%q must be %q, as in the path", r.Body.Job, name))
	}
	edit, err := editOf(access.Author(ctx), r.Params.Note, r.Params.IfMatch, r.Params.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	result, err := h.catalog.Save(ctx, *r.Body, edit, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	tag := etag(result.Revision)
	if result.Result == PutJobResultResultCreated && !result.DryRun {
		return PutJob201JSONResponse{Body: result, Headers: PutJob201ResponseHeaders{ETag: tag}}, nil
	}
	return PutJob200JSONResponse{Body: result, Headers: PutJob200ResponseHeaders{ETag: tag}}, nil
}

// DeleteJob answers DELETE /jobs/{group}/{name}.
func (h *handlers) DeleteJob(ctx context.Context, r DeleteJobRequestObject) (DeleteJobResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	edit, err := editOf(access.Author(ctx), "", r.Params.IfMatch, "")
	if err != nil {
		return nil, err
	}
	return DeleteJob204Response{}, h.catalog.Delete(ctx, name, edit)
}

// ListJobVersions answers GET /jobs/{group}/{name}/versions.
func (h *handlers) ListJobVersions(ctx context.Context, r ListJobVersionsRequestObject) (ListJobVersionsResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	entries, err := h.conn.JobVersions(ctx, name)
	if err != nil {
		return nil, err
	}
	list := VersionList{Items: make([]JobVersion, 0, len(entries))}
	for _, e := range slices.Backward(entries) {
		list.Items = append(list.Items, e.Version)
	}
	return ListJobVersions200JSONResponse(list), nil
}
