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
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// Waits are the steps of workflows' runs that wait for people and programs. It is safe for concurrent use.
type Waits struct{ runs *Runs }

// WaitsOf returns the steps of runs that wait.
func WaitsOf(runs *Runs) *Waits { return &Waits{runs} }

// Decide approves or rejects a step that waits for approval, if the caller is one of those who may. Asked again under the
// same key, it does nothing more. The error is problem.ErrForbidden for others, and a job.ErrConflict if the step
// does not wait for approval.
func (w *Waits) Decide(ctx context.Context, run, step string, act bus.WaitAct, request *api.DecideStepRequest) (none api.StepAccepted, err error) {
	of, err := w.alive(ctx, run)
	if err != nil {
		return none, err
	}
	approval, err := w.approvalOf(ctx, of, step)
	if err != nil {
		return none, err
	}
	requester, err := requester(ctx, w.runs.history, of)
	if err != nil {
		return none, err
	}
	if why := access.WhyNotDecide(access.Who(ctx), of.Job.Group(), requester, approval.Approvers(), approval.NotByRequester); why != "" {
		return none, problem.Explain(problem.ErrForbidden, why)
	}
	asked := bus.WaitRequest{RunID: of.RunID, Job: of.Job, Step: step, Act: act, Note: request.Note}
	auditlog.Entry(ctx).Note = request.Note
	reply, err := w.askWait(ctx, &asked, string(act)+"\x00"+step, request.Key)
	if err != nil {
		return none, err
	}
	return api.StepAccepted{RunID: job.RoundRunID(of.RunID, step, reply.Round), Step: step, Round: max(reply.Round, 1), Status: reply.Status}, nil
}

// SignalRun sends a signal to a workflow's run. Asked again under the same id, it does nothing more. Errors: an
// *InvalidError, job.ErrNotFound if no step of the run is for the signal, job.ErrConflict if it has come already.
func (w *Waits) SignalRun(ctx context.Context, run, signal string, request *api.SignalRequest) (none api.SignalAccepted, err error) {
	of, err := w.alive(ctx, run)
	if err != nil {
		return none, err
	}
	return w.signal(ctx, &bus.WaitRequest{RunID: of.RunID, Job: of.Job, Signal: signal}, request)
}

// SignalJob sends a signal to the oldest run of a job that has a step for it and its key. Otherwise like SignalRun.
func (w *Waits) SignalJob(ctx context.Context, name job.Name, signal string, request *api.SignalRequest) (none api.SignalAccepted, err error) {
	// The owner of the shard knows too, but answers only while there is one.
	if _, err := w.runs.conn.Jobs().Get(ctx, name); err != nil {
		return none, err
	}
	return w.signal(ctx, &bus.WaitRequest{Job: name, Signal: signal}, request)
}

func (w *Waits) signal(ctx context.Context, asked *bus.WaitRequest, request *api.SignalRequest) (none api.SignalAccepted, err error) {
	if len(request.Data) > bus.MaxResult {
		return none, &job.InvalidError{Field: "data", Reason: reason.TooManyBytes.With(len(request.Data), bus.MaxResult)}
	}
	if len(request.Key) > job.MaxSignalKey { // the contract counts characters
		return none, &job.InvalidError{Field: "key", Reason: reason.TooManyBytes.With(len(request.Key), job.MaxSignalKey)}
	}
	asked.Act, asked.Key, asked.Result = bus.WaitSignal, request.Key, request.Data
	if request.Key != "" {
		auditlog.Entry(ctx).Detail = reason.Text(refusal.WithKey.With(request.Key))
	}
	reply, err := w.askWait(ctx, asked, "signal\x00"+asked.Signal+"\x00"+request.Key, request.ID)
	if err != nil {
		return none, err
	}
	return api.SignalAccepted{RunID: reply.RunID, Step: reply.Step, Status: reply.Status}, nil
}

// alive returns the newest attempt of a workflow's run that has not ended.
func (w *Waits) alive(ctx context.Context, run string) (*runlog.Run, error) {
	attempts, err := w.runs.Attempts(ctx, run)
	if err != nil {
		return nil, err
	}
	of := &attempts[0]
	if err := notOfStep(of); err != nil {
		return nil, err
	}
	if of.RunStatus().Final() {
		return nil, problem.Explain(job.ErrConflict, refusal.RunEnded.With(of.RunID, of.Status))
	}
	return of, nil
}

// askWait asks the owner of the job's shard for what a step waits for. key is chosen by the caller, together with what is
// asked for; "" is a new one.
func (w *Waits) askWait(ctx context.Context, asked *bus.WaitRequest, what, key string) (reply bus.TriggerReply, err error) {
	if key == "" {
		key = string(job.NewRunID(time.Now()))
	}
	of := asked.RunID
	if of == "" {
		of = job.FireRunID(asked.Job, 0, job.CauseAPI)
	}
	asked.ID, asked.By, asked.At = job.RetryRunID(of, "wait\x00"+what+"\x00"+key), access.Author(ctx), time.Now().UTC()
	auditlog.Entry(ctx).Group = asked.Job.Group()
	if err := w.runs.ask(ctx, asked.Job, bus.VerbWait, 0, asked, &reply); err != nil {
		return reply, err
	}
	if reply.Status == "" { // something happened to the run in between
		return reply, problem.Explain(job.ErrConflict, reply.Reason)
	}
	return reply, nil
}

// approvalOf returns the approval that a step of a run waits for.
func (w *Waits) approvalOf(ctx context.Context, of *runlog.Run, step string) (*job.Approval, error) {
	entry, err := w.runs.pinned(ctx, of)
	if err != nil {
		return nil, err
	}
	for i := range entry.Steps {
		s := &entry.Steps[i]
		switch {
		case s.Name != step:
		case s.Wait == nil || s.Wait.Approval == nil:
			return nil, problem.Explain(job.ErrConflict, refusal.StepIsNoApproval.With(step))
		default:
			return s.Wait.Approval, nil
		}
	}
	return nil, fmt.Errorf("%w: %s", job.ErrNotFound, refusal.NoSuchStep.With(step))
}
