package webapi

import (
	"context"
	"fmt"
	"time"

	"carillon/bus"
	"carillon/job"
	"carillon/logstore"
)

// MarkRun answers POST /runs/{run_id}/mark.
func (h *handlers) MarkRun(ctx context.Context, r MarkRunRequestObject) (MarkRunResponseObject, error) {
	if err := job.CheckMark(r.Body.As, r.Body.Note); err != nil {
		return nil, err
	}
	attempts, err := h.attempts(ctx, r.RunID)
	if err != nil {
		return nil, err
	}
	run := &attempts[0]
	switch status := run.RunStatus(); {
	case !status.Final():
		return nil, fmt.Errorf("%w: run %s has not ended: it is %s", job.ErrConflict, run.RunID, status)
	case !status.Marks():
		return nil, fmt.Errorf("%w: run %s has ended as %s, of which there is nothing to say", job.ErrConflict, run.RunID, status)
	}
	mark := &bus.Mark{
		RunID: run.RunID, Job: run.Job, Version: run.Version, Attempt: run.Attempt, Cause: run.Cause, Status: run.RunStatus(),
		As: r.Body.As, Note: r.Body.Note, By: author(ctx), At: time.Now().UTC().Truncate(time.Millisecond),
	}
	e := entryOfChange(ctx)
	e.Group, e.Note = run.Job.Group(), string(mark.As)+": "+mark.Note
	if err := h.conn.Mark(ctx, mark); err != nil {
		return nil, err
	}
	return MarkRun200JSONResponse{As: mark.As, Note: mark.Note, By: mark.By, At: mark.At}, nil
}

// markOf returns the mark that counts by a run's timeline: the latest, of whichever
// attempt was its newest then. Nil is none.
func markOf(changes []logstore.Change) *RunMark {
	var latest *logstore.Change
	for i := range changes {
		if c := &changes[i]; c.Kind == logstore.KindMarked && (latest == nil || c.At.After(latest.At)) {
			latest = c
		}
	}
	if latest == nil || latest.Mark == job.MarkNone {
		return nil
	}
	return &RunMark{As: latest.Mark, Note: latest.Detail, By: latest.By, At: latest.At}
}
