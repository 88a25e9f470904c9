package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
)

// CancelNamed cancels a run of the job that the request names, or else of the one that the
// history has it of.
func (rs *Runs) CancelNamed(ctx context.Context, text string, r *api.CancelRequest) (api.CancelAccepted, error) {
	id, err := job.ParseRunID(text)
	if err != nil {
		return api.CancelAccepted{}, err
	}
	name := r.Job
	if name != "" {
		if _, err := job.ParseName(string(name)); err != nil {
			return api.CancelAccepted{}, err
		}
	} else {
		attempts, err := rs.Attempts(ctx, text)
		if err != nil {
			return api.CancelAccepted{}, err
		}
		if err := MayCancel(&attempts[0]); err != nil {
			return api.CancelAccepted{}, err
		}
		name = attempts[0].Job
	}
	if err := access.MayDo(ctx, "cancelRun", name.Group()); err != nil {
		return api.CancelAccepted{}, err
	}
	found, err := rs.Cancel(ctx, id, name, r.Reason, r.Force)
	return api.CancelAccepted{RunID: id, Found: found}, err
}

// CancelKeyed cancels the run of a job that has a key.
func CancelKeyed(ctx context.Context, rs *Runs, name job.Name, r *api.CancelKeyRequest) (api.CancelAccepted, error) {
	var keyed bus.KeyReply
	if err := rs.ask(ctx, name, bus.VerbKey, 0, bus.KeyRequest{Job: name, Key: r.Key}, &keyed); err != nil {
		return api.CancelAccepted{}, err
	}
	auditlog.Entry(ctx).Object = "run " + string(keyed.RunID)
	found, err := rs.Cancel(ctx, keyed.RunID, name, r.Reason, r.Force)
	return api.CancelAccepted{RunID: keyed.RunID, Found: found}, err
}

// MayCancel returns a job.ErrConflict if a run has ended.
func MayCancel(run *runlog.Run) error {
	if run.RunStatus().Final() {
		return fmt.Errorf("%w: %s", job.ErrConflict, refusal.RunEnded.With(run.RunID, run.Status))
	}
	return nil
}

// Cancel has the owner of its job's shard end a run, and returns what it was. force cancels the finally steps of
// a workflow's run, too.
func (rs *Runs) Cancel(ctx context.Context, id job.RunID, name job.Name, why string, force bool) (job.Status, error) {
	e := auditlog.Entry(ctx)
	e.Group, e.Note = name.Group(), why
	var reply bus.CancelReply
	request := bus.CancelRequest{RunID: id, Job: name, By: access.Author(ctx), Reason: why, Force: force}
	err := rs.ask(ctx, name, "cancel", 0, request, &reply)
	if errors.Is(err, job.ErrNotFound) {
		return rs.cancelOrphan(ctx, id, name, request, err)
	}
	return reply.Found, err
}

// cancelOrphan ends a run that the history has as alive and that nobody else knows of.
func (rs *Runs) cancelOrphan(ctx context.Context, id job.RunID, name job.Name, request bus.CancelRequest, unknown error) (job.Status, error) {
	attempts, err := rs.Stored(ctx, string(id))
	if errors.Is(err, job.ErrNotFound) {
		return "", unknown
	}
	if err != nil {
		return "", err
	}
	r := &attempts[0]
	if r.Job != name {
		return "", unknown
	}
	if err := MayCancel(r); err != nil {
		return "", err
	}
	return r.RunStatus(), rs.conn.Events().EndRun(ctx, &bus.Trigger{
		RunID: id, Job: name, Version: r.Version, Shard: name.Shard(rs.conn.Cluster().Shards), Attempt: r.Attempt,
		Cause: r.Cause, FireTime: r.FireTime, CommittedAt: r.CommittedAt, ParentRun: r.Parent,
	}, job.StatusCancelled, request.Text())
}
