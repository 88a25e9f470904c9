package webapi

import (
	"context"
	"fmt"
	"time"

	"carillon/bus"
	"carillon/job"
	"carillon/job/runlog"
	"carillon/webapi/access"
	"carillon/webapi/auditlog"
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
	mark, err := h.markRun(ctx, &attempts[0], r.Body.As, r.Body.Note)
	if err != nil {
		return nil, err
	}
	return MarkRun200JSONResponse{As: mark.As, Note: mark.Note, By: mark.By, At: mark.At}, nil
}

// mayMark returns a job.ErrConflict unless there is something to say of how a run ended.
func mayMark(run *runlog.Run) error {
	switch status := run.RunStatus(); {
	case !status.Final():
		return fmt.Errorf("%w: run %s has not ended: it is %s", job.ErrConflict, run.RunID, status)
	case !status.Marks():
		return fmt.Errorf("%w: run %s has the status %s; only failed, timed-out, cancelled, lost or missed runs can be marked", job.ErrConflict, run.RunID, status)
	}
	return nil
}

// markRun stores what somebody says of a run.
func (h *handlers) markRun(ctx context.Context, run *runlog.Run, as job.Mark, note string) (*bus.Mark, error) {
	if err := mayMark(run); err != nil {
		return nil, err
	}
	mark := &bus.Mark{
		RunID: run.RunID, Job: run.Job, Version: run.Version, Attempt: run.Attempt, Cause: run.Cause, Status: run.RunStatus(),
		As: as, Note: note, By: access.Author(ctx), At: time.Now().UTC().Truncate(time.Millisecond),
	}
	e := auditlog.Entry(ctx)
	e.Group, e.Note = run.Job.Group(), string(mark.As)+": "+mark.Note
	return mark, h.conn.Mark(ctx, mark)
}

// markOf returns the mark that counts by a run's timeline: the latest, of whichever
// attempt was its newest then. Nil is none.
func markOf(changes []runlog.Change) *RunMark {
	var latest *runlog.Change
	for i := range changes {
		if c := &changes[i]; c.Kind == runlog.KindMarked && (latest == nil || c.At.After(latest.At)) {
			latest = c
		}
	}
	if latest == nil || latest.Mark == job.MarkNone {
		return nil
	}
	return &RunMark{As: latest.Mark, Note: latest.Detail, By: latest.By, At: latest.At}
}
