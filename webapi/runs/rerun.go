package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// MayRerun returns a job.ErrConflict unless a run has ended, and for the run of a step.
func MayRerun(run *runlog.Run) error {
	if err := notOfStep(run); err != nil {
		return err
	}
	if status := run.RunStatus(); !status.Final() {
		return fmt.Errorf("%w: %s", job.ErrConflict, refusal.RunNotEndedCancel.With(run.RunID, status))
	}
	return nil
}

// Rerun makes a run that does the run of these attempts again.
func (rs *Runs) Rerun(ctx context.Context, attempts []runlog.Run, wish *api.RerunRequest) (api.RunAccepted, error) {
	var none api.RunAccepted
	of := &attempts[0]
	if err := MayRerun(of); err != nil {
		return none, err
	}
	if changes := len(wish.Params) > 0 || len(wish.SetParams) > 0; changes && !access.Who(ctx).Access.Sees(rights.Params, of.Job.Group()) {
		return none, problem.Explain(problem.ErrForbidden, refusal.NeedsParams.With(of.Job.Group()))
	}
	entry, err := rs.versionOf(ctx, of, wish.Version == api.RerunRequestVersionSame)
	if err != nil {
		return none, err
	}
	if err := labelsOf(&entry.Job, wish.Labels); err != nil {
		return none, err
	}
	if wish.Key == "" {
		wish.Key = string(job.NewRunID(time.Now()))
	} else if known, found, err := rs.acceptedBefore(ctx, job.RetryRunID(of.RunID, wish.Key)); err != nil || found {
		return known, err // its owner may have forgotten it by now
	}
	request := bus.TriggerRequest{
		RunID: job.RetryRunID(of.RunID, wish.Key), Job: of.Job, Cause: job.CauseRerun, RetryOf: of.RunID, By: access.Author(ctx), Labels: wish.Labels,
	}
	plan, err := rs.planSteps(ctx, of, &entry.Version, wish)
	if err != nil {
		return none, err
	}
	if wish.DryRun {
		auditlog.Entry(ctx).Detail = reason.Text(refusal.OnlyTried.String())
		return api.RunAccepted{RunID: request.RunID, Job: of.Job, Version: entry.Version.Version, Status: job.StatusPending, DryRun: true, Steps: plan.list()}, nil
	}
	if plan != nil && !plan.all {
		if request.Taken, err = rs.take(ctx, plan); err != nil {
			return none, err
		}
	}
	if wish.Version == api.RerunRequestVersionSame || len(request.Taken) > 0 {
		if err := pin(&request, &entry.Version); err != nil {
			return none, err
		}
	}
	if err := rs.giveAgain(ctx, &request, of, &entry.Version, wish); err != nil {
		return none, err
	}
	if wish.Pieces == api.RerunRequestPiecesFailed && plan == nil {
		if request.Pieces, err = rs.failedPieces(ctx, attempts); err != nil {
			return none, err
		}
	}
	if err := rs.keepGiven(ctx, &request); err != nil {
		return none, err
	}
	e := auditlog.Entry(ctx)
	e.Group = of.Job.Group()
	var reply bus.TriggerReply
	if err := rs.ask(ctx, of.Job, "trigger", entry.Revision, request, &reply); err != nil {
		return none, err
	}
	e.Detail = reason.Text(refusal.StartedRun.With(reply.RunID))
	accepted := rs.accepted(ctx, &request, &reply)
	if plan != nil {
		accepted.Steps = plan.list()
	}
	return accepted, nil
}

// pin makes a request one for that version of the job, whatever the newest is.
func pin(request *bus.TriggerRequest, v *job.Version) error {
	of := journal.BodyOf(v)
	text, err := of.Encode()
	request.Version, request.Body = v.Version, json.RawMessage(text)
	return err
}

// versionOf returns the version of the job for the rerun of a run: the run's own, or the newest.
func (rs *Runs) versionOf(ctx context.Context, of *runlog.Run, same bool) (*bus.JobEntry, error) {
	newest, err := rs.conn.Jobs().Get(ctx, of.Job)
	if err != nil || !same {
		return newest, err
	}
	entry, err := rs.pinned(ctx, of)
	if errors.Is(err, job.ErrNotFound) {
		return nil, fmt.Errorf("%w: version %d of job %s is not kept any more; retry the run with the latest one", job.ErrConflict, of.Version, of.Job)
	}
	return entry, err
}
