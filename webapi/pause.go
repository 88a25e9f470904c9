package webapi

import (
	"context"

	"carillon/webapi/access"
	"carillon/webapi/catalog"
)

// PauseJob answers POST /jobs/{group}/{name}/pause.
func (h *handlers) PauseJob(ctx context.Context, r PauseJobRequestObject) (PauseJobResponseObject, error) {
	item, err := h.setPaused(ctx, r.Group, r.Name, r.Params.IfMatch, r.Body.Note, catalog.Pause{Paused: true, Until: r.Body.Until})
	if err != nil {
		return nil, err
	}
	return PauseJob200JSONResponse{Body: item, Headers: PauseJob200ResponseHeaders{ETag: etag(item.Revision)}}, nil
}

// ResumeJob answers POST /jobs/{group}/{name}/resume.
func (h *handlers) ResumeJob(ctx context.Context, r ResumeJobRequestObject) (ResumeJobResponseObject, error) {
	item, err := h.setPaused(ctx, r.Group, r.Name, r.Params.IfMatch, r.Body.Note, catalog.Pause{})
	if err != nil {
		return nil, err
	}
	return ResumeJob200JSONResponse{Body: item, Headers: ResumeJob200ResponseHeaders{ETag: etag(item.Revision)}}, nil
}

func (h *handlers) setPaused(ctx context.Context, group, short, ifMatch, note string, wish catalog.Pause) (JobItem, error) {
	name, err := nameOf(group, short)
	if err != nil {
		return JobItem{}, err
	}
	edit, err := editOf(access.Author(ctx), note, ifMatch, "")
	if err != nil {
		return JobItem{}, err
	}
	entry, _, err := h.catalog.SetPaused(ctx, name, edit, wish)
	if err != nil {
		return JobItem{}, err
	}
	return h.catalog.Item(ctx, entry, shownFires, shownRuns)
}
