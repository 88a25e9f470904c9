package runs

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// Recover asks the owner of the job's shard to retry or resolve a step of a run that is alive. Asked again under the same key, it does
// nothing more.
func (rs *Runs) Recover(ctx context.Context, run, key string, request bus.RecoverRequest) (none api.StepAccepted, err error) {
	attempts, err := rs.Attempts(ctx, run)
	if err != nil {
		return none, err
	}
	of := &attempts[0]
	if of.RunStatus().Final() {
		return none, problem.Explain(job.ErrConflict, refusal.RunEnded.With(of.RunID, of.Status))
	}
	if !request.Nothing() && !access.Who(ctx).Access.Sees(rights.Params, of.Job.Group()) {
		return none, problem.Explain(problem.ErrForbidden, refusal.NeedsParams.With(of.Job.Group()))
	}
	if err := request.GivenParams.Validate(); err != nil {
		return none, err
	}
	if key == "" {
		key = string(job.NewRunID(time.Now()))
	}
	request.RunID, request.Job, request.By = of.RunID, of.Job, access.Author(ctx)
	request.ID = job.RetryRunID(of.RunID, "step\x00"+request.Step+"\x00"+key)
	e := auditlog.Entry(ctx)
	e.Group, e.Note = of.Job.Group(), request.Note
	var reply bus.TriggerReply
	if err := rs.ask(ctx, of.Job, bus.VerbRecover, 0, request, &reply); err != nil {
		return none, err
	}
	if reply.Status == "" { // something happened to the run in between
		return none, problem.Explain(job.ErrConflict, reply.Reason)
	}
	return api.StepAccepted{RunID: job.RoundRunID(of.RunID, request.Step, reply.Round), Step: request.Step, Round: reply.Round, Status: reply.Status}, nil
}
