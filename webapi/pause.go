package webapi

import (
	"context"

	"carillon/bus"
	"carillon/job"
)

// PauseJob answers POST /jobs/{group}/{name}/pause.
func (h *handlers) PauseJob(ctx context.Context, r PauseJobRequestObject) (PauseJobResponseObject, error) {
	item, err := h.setPaused(ctx, r.Group, r.Name, r.Body.Note, r.Params.IfMatch, true)
	if err != nil {
		return nil, err
	}
	return PauseJob200JSONResponse{Body: item, Headers: PauseJob200ResponseHeaders{ETag: etag(item.Revision)}}, nil
}

// ResumeJob answers POST /jobs/{group}/{name}/resume.
func (h *handlers) ResumeJob(ctx context.Context, r ResumeJobRequestObject) (ResumeJobResponseObject, error) {
	item, err := h.setPaused(ctx, r.Group, r.Name, r.Body.Note, r.Params.IfMatch, false)
	if err != nil {
		return nil, err
	}
	return ResumeJob200JSONResponse{Body: item, Headers: ResumeJob200ResponseHeaders{ETag: etag(item.Revision)}}, nil
}

func (h *handlers) setPaused(ctx context.Context, group, short, note, ifMatch string, paused bool) (JobItem, error) {
	name, err := nameOf(group, short)
	if err != nil {
		return JobItem{}, err
	}
	entry, _, err := h.pauseJob(ctx, name, note, ifMatch, paused)
	if err != nil {
		return JobItem{}, err
	}
	return h.jobItem(ctx, entry, shownFires, shownRuns)
}

// pauseJob pauses or resumes a job. changed is false if it was so already.
func (h *handlers) pauseJob(ctx context.Context, name job.Name, note, ifMatch string, paused bool) (entry *bus.JobEntry, changed bool, err error) {
	was := paused
	if entry, err = h.editJob(ctx, name, note, ifMatch, func(v *job.Version) { was, v.Paused = v.Paused, paused }); err != nil {
		return nil, false, err
	}
	err = describe(ctx, was != paused, note, map[string]bool{"paused": was}, map[string]bool{"paused": paused})
	return entry, was != paused, err
}
