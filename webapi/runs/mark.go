package runs

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
)

// MayMark returns a job.ErrConflict unless there is something to say of how a run ended.
func MayMark(run *runlog.Run) error {
	if err := notOfStep(run); err != nil {
		return err
	}
	switch status := run.RunStatus(); {
	case !status.Final():
		return fmt.Errorf("%w: %s", job.ErrConflict, refusal.RunNotEnded.With(run.RunID, status))
	case !status.Marks():
		return fmt.Errorf("%w: %s", job.ErrConflict, refusal.RunNotMarkable.With(run.RunID, status))
	}
	return nil
}

// notOfStep returns a job.ErrConflict for the run of a step, of which nothing is done apart from the run of its
// workflow.
func notOfStep(run *runlog.Run) error {
	if run.Cause == job.CauseStep {
		return fmt.Errorf("%w: %s", job.ErrConflict, refusal.RunIsStep.With(run.RunID, run.Parent))
	}
	return nil
}

// Mark stores what somebody says of a run.
func (rs *Runs) Mark(ctx context.Context, run *runlog.Run, as job.Mark, note string) (*bus.Mark, error) {
	if err := MayMark(run); err != nil {
		return nil, err
	}
	mark := &bus.Mark{
		RunID: run.RunID, Job: run.Job, Version: run.Version, Attempt: run.Attempt, Cause: run.Cause, Status: run.RunStatus(),
		As: as, Note: note, By: access.Author(ctx), At: time.Now().UTC().Truncate(time.Millisecond),
	}
	e := auditlog.Entry(ctx)
	e.Group, e.Note, e.Detail = run.Job.Group(), mark.Note, reason.Text(refusal.MarkedAs.With(mark.As))
	return mark, rs.conn.Events().Mark(ctx, mark)
}

// markOf returns the mark that counts by a run's timeline: the latest, of whichever
// attempt was its newest then. Nil is none.
func markOf(changes []runlog.Change) *api.RunMark {
	var latest *runlog.Change
	for i := range changes {
		if c := &changes[i]; c.Kind == runlog.KindMarked && (latest == nil || c.At.After(latest.At)) {
			latest = c
		}
	}
	if latest == nil || latest.Mark == job.MarkNone {
		return nil
	}
	return &api.RunMark{As: latest.Mark, Note: string(latest.Detail), By: latest.By, At: latest.At}
}
