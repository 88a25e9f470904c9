package runs

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// Hold asks the owner of the job's shard to put a workflow's run on hold, or to resume it, which does nothing if that is
// so already. The error is a job.ErrConflict if the run has ended or not begun, or is none of a workflow.
func (rs *Runs) Hold(ctx context.Context, run, key string, request bus.HoldRequest) (none api.HoldAccepted, err error) {
	attempts, err := rs.Attempts(ctx, run)
	if err != nil {
		return none, err
	}
	of := &attempts[0]
	if err := notOfStep(of); err != nil {
		return none, err
	}
	if of.RunStatus().Final() {
		return none, problem.Explain(job.ErrConflict, refusal.RunEnded.With(of.RunID, of.Status))
	}
	steps, err := rs.countSteps(ctx, of)
	if err != nil {
		return none, err
	}
	if steps == 0 {
		return none, problem.Explain(job.ErrConflict, refusal.RunHasNoSteps.With(of.Version, of.Job))
	}
	if key == "" {
		key = string(job.NewRunID(time.Now()))
	}
	what := "hold\x00"
	if request.Resume {
		what = "resume\x00"
	}
	request.RunID, request.Job, request.By, request.At = of.RunID, of.Job, access.Author(ctx), time.Now().UTC().Truncate(time.Millisecond)
	request.ID = job.RetryRunID(of.RunID, what+key)
	e := auditlog.Entry(ctx)
	e.Group, e.Note = of.Job.Group(), request.Note
	var reply bus.TriggerReply
	if err := rs.ask(ctx, of.Job, bus.VerbHold, 0, request, &reply); err != nil {
		return none, err
	}
	if reply.Status == "" { // something happened to the run in between
		return none, problem.Explain(job.ErrConflict, reply.Reason)
	}
	return api.HoldAccepted{RunID: of.RunID, Job: of.Job, Held: !request.Resume}, nil
}

// markOnHold sets the reason of runs that are on hold.
func markOnHold(runs []runlog.Run) {
	for i := range runs {
		if r := &runs[i]; r.Hold.Held() && !r.RunStatus().Final() {
			r.Reason = r.Hold.Why()
		}
	}
}
