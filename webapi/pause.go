package webapi

import (
	"context"
	"time"

	"carillon/bus"
	"carillon/job"
	"carillon/webapi/access"
	"carillon/webapi/auditlog"
)

// PauseJob answers POST /jobs/{group}/{name}/pause.
func (h *handlers) PauseJob(ctx context.Context, r PauseJobRequestObject) (PauseJobResponseObject, error) {
	item, err := h.setPaused(ctx, r.Group, r.Name, r.Params.IfMatch, r.Body.Note, wishedPause{paused: true, until: r.Body.Until})
	if err != nil {
		return nil, err
	}
	return PauseJob200JSONResponse{Body: item, Headers: PauseJob200ResponseHeaders{ETag: etag(item.Revision)}}, nil
}

// ResumeJob answers POST /jobs/{group}/{name}/resume.
func (h *handlers) ResumeJob(ctx context.Context, r ResumeJobRequestObject) (ResumeJobResponseObject, error) {
	item, err := h.setPaused(ctx, r.Group, r.Name, r.Params.IfMatch, r.Body.Note, wishedPause{})
	if err != nil {
		return nil, err
	}
	return ResumeJob200JSONResponse{Body: item, Headers: ResumeJob200ResponseHeaders{ETag: etag(item.Revision)}}, nil
}

// wishedPause is whether a job is to be paused, and until when; zero is for good.
type wishedPause struct {
	paused bool
	until  time.Time
}

// holds reports whether a job is so already.
func (w wishedPause) holds(j *job.Job, now time.Time) bool {
	paused, until := pauseOf(j, now)
	return paused == w.paused && until.Equal(w.until)
}

// pauseOf returns whether a job is paused, and until when.
func pauseOf(j *job.Job, now time.Time) (paused bool, until time.Time) {
	if paused = j.PausedAt(now); paused && !j.Paused {
		until = *j.PausedUntil
	}
	return paused, until
}

func (h *handlers) setPaused(ctx context.Context, group, short, ifMatch, note string, wish wishedPause) (JobItem, error) {
	name, err := nameOf(group, short)
	if err != nil {
		return JobItem{}, err
	}
	edit, err := editOf(access.Author(ctx), note, ifMatch, "")
	if err != nil {
		return JobItem{}, err
	}
	entry, _, err := h.pauseJob(ctx, name, edit, wish)
	if err != nil {
		return JobItem{}, err
	}
	return h.jobItem(ctx, entry, shownFires, shownRuns)
}

// pauseJob pauses or resumes a job. changed is false if it was so already.
func (h *handlers) pauseJob(ctx context.Context, name job.Name, edit bus.Edit, wish wishedPause) (entry *bus.JobEntry, changed bool, err error) {
	now := time.Now()
	if err := checkUntil(wish.paused, wish.until, now); err != nil {
		return nil, false, err
	}
	wish.until = wish.until.UTC().Truncate(time.Millisecond)
	var was map[string]any
	entry, err = h.editJob(ctx, name, edit, func(v *job.Version) {
		was = pauseFields(pauseOf(&v.Job, now))
		if changed = !wish.holds(&v.Job, now); !changed {
			return
		}
		v.Paused, v.PausedUntil = wish.paused && wish.until.IsZero(), nil
		if !wish.until.IsZero() {
			v.PausedUntil = &wish.until
		}
	})
	if err != nil {
		return nil, false, err
	}
	return entry, changed, auditlog.Describe(ctx, changed, edit.Note, was, pauseFields(wish.paused, wish.until))
}
