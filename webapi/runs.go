package webapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/bulk"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/runs"
)

// runHandlers answer requests about runs: their history, and acts on them.
type runHandlers struct {
	runs    *runs.Runs
	bulk    *bulk.Bulk
	catalog *catalog.Catalog
	store   logstore.Store // as access.VisibleStore has it
	users   *auth.Directory
	log     *slog.Logger
}

// ListRuns answers GET /runs.
func (h *runHandlers) ListRuns(ctx context.Context, r ListRunsRequestObject) (*RunPage, error) {
	found, err := h.runs.List(ctx, &r.Params)
	return &found, err
}

// GetRun answers GET /runs/{run_id}.
func (h *runHandlers) GetRun(ctx context.Context, r GetRunRequestObject) (*RunDetail, error) {
	detail, err := h.runs.Detail(ctx, r.RunID)
	return &detail, err
}

// GetJobUsage answers GET /jobs/{group}/{name}/usage.
func (h *runHandlers) GetJobUsage(ctx context.Context, r GetJobUsageRequestObject) (*GroupUsage, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	p := GetGroupUsageParams(r.Params)
	filter := usageOf(&p)
	filter.Group, filter.Job = r.Group, name
	return readUsage(ctx, h.store, filter)
}

// CancelRun answers POST /runs/{run_id}/cancel.
func (h *runHandlers) CancelRun(ctx context.Context, r CancelRunRequestObject) (*CancelAccepted, error) {
	accepted, err := h.runs.CancelNamed(ctx, r.RunID, r.Body)
	return &accepted, err
}

// CancelRunOfKey answers POST /jobs/{group}/{name}/cancel.
func (h *runHandlers) CancelRunOfKey(ctx context.Context, r CancelRunOfKeyRequestObject) (*CancelAccepted, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	accepted, err := runs.CancelKeyed(ctx, h.runs, name, r.Body)
	return &accepted, err
}

// BackfillJob answers POST /jobs/{group}/{name}/backfills.
func (h *runHandlers) BackfillJob(ctx context.Context, r BackfillJobRequestObject) (*BackfillResult, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	result, err := runs.BackfillsOf(h.runs).Start(ctx, name, r.Body)
	return &result, err
}

// ListBackfills answers GET /jobs/{group}/{name}/backfills.
func (h *runHandlers) ListBackfills(ctx context.Context, r ListBackfillsRequestObject) (*BackfillList, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	list, err := runs.BackfillsOf(h.runs).List(ctx, name)
	return &list, err
}

// CancelBackfill answers POST /jobs/{group}/{name}/backfills/{backfill}/cancel.
func (h *runHandlers) CancelBackfill(ctx context.Context, r CancelBackfillRequestObject) (*Backfill, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	note := ""
	if r.Body != nil {
		note = r.Body.Note
	}
	state, err := runs.BackfillsOf(h.runs).Cancel(ctx, name, r.Backfill, note)
	return &state, err
}

// RunJobs answers POST /runs/batch.
func (h *runHandlers) RunJobs(ctx context.Context, r RunJobsRequestObject) (*RunBatchResult, error) {
	result := h.bulk.Start(ctx, r.Body.Runs)
	return &result, nil
}

// ChangeRuns answers POST /runs/bulk.
func (h *runHandlers) ChangeRuns(ctx context.Context, r ChangeRunsRequestObject) (*RunBulkResult, error) {
	if err := idempotent(&r.Body.Key, "key", r.Params.IdempotencyKey); err != nil {
		return nil, err
	}
	result, err := h.bulk.Runs(ctx, r.Body)
	return &result, err
}

// MarkRun answers POST /runs/{run_id}/mark.
func (h *runHandlers) MarkRun(ctx context.Context, r MarkRunRequestObject) (*RunMark, error) {
	if err := job.CheckMark(r.Body.As, r.Body.Note); err != nil {
		return nil, err
	}
	attempts, err := h.runs.Attempts(ctx, r.RunID)
	if err != nil {
		return nil, err
	}
	mark, err := h.runs.Mark(ctx, &attempts[0], r.Body.As, r.Body.Note)
	if err != nil {
		return nil, err
	}
	return &RunMark{As: mark.As, Note: mark.Note, By: mark.By, At: mark.At}, nil
}

// groupOfRun returns the group of the stored run that a path names. For a run that is too new
// to be stored, it returns the group of the job that the request names. That is only a claim:
// what the caller reads of the run is checked again (access.VisibleStore), and a change
// applies only to a run of a job that the caller may change (access.MayDo).
func (h *runHandlers) groupOfRun(c *fiber.Ctx) (string, error) {
	name := job.Name(c.Query("job"))
	if name == "" {
		name = jobOfBody(c.Body())
	}
	read := h.runs.Attempts
	if name != "" {
		read = h.runs.Stored
	}
	attempts, err := read(c.UserContext(), c.Params("run_id"))
	switch {
	case err == nil:
		return attempts[0].Job.Group(), nil
	case name == "" || !errors.Is(err, job.ErrNotFound) || errors.Is(err, access.ErrOthers): // in which case it does not matter what the request says
		return "", err
	}
	return name.Group(), nil
}

// jobOfBody returns the job that the body of a request names, or nothing.
func jobOfBody(body []byte) job.Name {
	var r struct {
		Job string `json:"job"`
	}
	if json.Unmarshal(body, &r) != nil {
		return ""
	}
	name, err := job.ParseName(r.Job)
	if err != nil {
		return ""
	}
	return name
}

// ListPieces answers GET /runs/{run_id}/pieces.
func (h *runHandlers) ListPieces(ctx context.Context, r ListPiecesRequestObject) (*PieceList, error) {
	list, err := h.runs.Pieces(ctx, r.RunID, &r.Params)
	return &list, err
}

// ListSteps answers GET /runs/{run_id}/steps.
func (h *runHandlers) ListSteps(ctx context.Context, r ListStepsRequestObject) (*answer[RunSteps], error) {
	list, err := h.runs.Steps(ctx, r.RunID)
	if err != nil {
		return nil, err
	}
	return unlessSame(list, r.Params.IfNoneMatch)
}

// GetStepHistory answers GET /jobs/{group}/{name}/steps.
func (h *runHandlers) GetStepHistory(ctx context.Context, r GetStepHistoryRequestObject) (*answer[StepHistory], error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	history, err := runs.StepHistory(ctx, h.runs, name, &r.Params)
	if err != nil {
		return nil, err
	}
	return unlessSame(history, r.Params.IfNoneMatch)
}

// RerunRun answers POST /runs/{run_id}/rerun.
func (h *runHandlers) RerunRun(ctx context.Context, r RerunRunRequestObject) (*RunAccepted, error) {
	attempts, err := h.runs.Attempts(ctx, r.RunID)
	if err != nil {
		return nil, err
	}
	if err := idempotent(&r.Body.Key, "key", r.Params.IdempotencyKey); err != nil {
		return nil, err
	}
	accepted, err := h.runs.Rerun(ctx, attempts, r.Body)
	return &accepted, err
}

// HoldRun answers POST /runs/{run_id}/hold.
func (h *runHandlers) HoldRun(ctx context.Context, r HoldRunRequestObject) (*HoldAccepted, error) {
	var note string
	if r.Body != nil {
		note = r.Body.Note
	}
	accepted, err := h.runs.Hold(ctx, r.RunID, r.Params.IdempotencyKey, bus.HoldRequest{Note: note})
	return &accepted, err
}

// ResumeRun answers POST /runs/{run_id}/resume.
func (h *runHandlers) ResumeRun(ctx context.Context, r ResumeRunRequestObject) (*HoldAccepted, error) {
	accepted, err := h.runs.Hold(ctx, r.RunID, r.Params.IdempotencyKey, bus.HoldRequest{Resume: true})
	return &accepted, err
}

// RetryStep answers POST /runs/{run_id}/steps/{step}/retry.
func (h *runHandlers) RetryStep(ctx context.Context, r RetryStepRequestObject) (*StepAccepted, error) {
	if r.Body == nil {
		r.Body = &RetryStepRequest{}
	}
	if err := idempotent(&r.Body.Key, "key", r.Params.IdempotencyKey); err != nil {
		return nil, err
	}
	accepted, err := h.runs.Recover(ctx, r.RunID, r.Body.Key, bus.RecoverRequest{
		Step: r.Step, Note: r.Body.Note, GivenParams: bus.GivenParams{Params: r.Body.Params, SetParams: r.Body.SetParams},
	})
	return &accepted, err
}

// ResolveStep answers POST /runs/{run_id}/steps/{step}/resolve.
func (h *runHandlers) ResolveStep(ctx context.Context, r ResolveStepRequestObject) (*StepAccepted, error) {
	if err := idempotent(&r.Body.Key, "key", r.Params.IdempotencyKey); err != nil {
		return nil, err
	}
	accepted, err := h.runs.Recover(ctx, r.RunID, r.Body.Key, bus.RecoverRequest{
		Step: r.Step, As: job.Status(r.Body.As), Result: r.Body.Result, Note: r.Body.Note,
	})
	return &accepted, err
}

// ApproveStep answers POST /runs/{run_id}/steps/{step}/approve.
func (h *runHandlers) ApproveStep(ctx context.Context, r ApproveStepRequestObject) (*StepAccepted, error) {
	return h.decide(ctx, r.RunID, r.Step, bus.WaitApprove, r.Body, r.Params.IdempotencyKey)
}

// RejectStep answers POST /runs/{run_id}/steps/{step}/reject.
func (h *runHandlers) RejectStep(ctx context.Context, r RejectStepRequestObject) (*StepAccepted, error) {
	return h.decide(ctx, r.RunID, r.Step, bus.WaitReject, r.Body, r.Params.IdempotencyKey)
}

func (h *runHandlers) decide(ctx context.Context, run, step string, act bus.WaitAct, body *DecideStepRequest, key string) (*StepAccepted, error) {
	if body == nil {
		body = &DecideStepRequest{}
	}
	if err := idempotent(&body.Key, "key", key); err != nil {
		return nil, err
	}
	accepted, err := runs.WaitsOf(h.runs).Decide(ctx, run, step, act, body)
	return &accepted, err
}

// SignalRun answers POST /runs/{run_id}/signals/{signal}.
func (h *runHandlers) SignalRun(ctx context.Context, r SignalRunRequestObject) (*SignalAccepted, error) {
	if r.Body == nil {
		r.Body = &SignalRequest{}
	}
	if err := idempotent(&r.Body.ID, "id", r.Params.IdempotencyKey); err != nil {
		return nil, err
	}
	accepted, err := runs.WaitsOf(h.runs).SignalRun(ctx, r.RunID, r.Signal, r.Body)
	return &accepted, err
}

// SignalJob answers POST /jobs/{group}/{name}/signals/{signal}.
func (h *runHandlers) SignalJob(ctx context.Context, r SignalJobRequestObject) (*SignalAccepted, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	if r.Body == nil {
		r.Body = &SignalRequest{}
	}
	if err := idempotent(&r.Body.ID, "id", r.Params.IdempotencyKey); err != nil {
		return nil, err
	}
	accepted, err := runs.WaitsOf(h.runs).SignalJob(ctx, name, r.Signal, r.Body)
	return &accepted, err
}

// ListApprovals answers GET /approvals.
func (h *runHandlers) ListApprovals(ctx context.Context, r ListApprovalsRequestObject) (*ApprovalList, error) {
	list, err := runs.WaitsOf(h.runs).Approvals(ctx, r.Params.Mine)
	return &list, err
}

// RunJob answers POST /jobs/{group}/{name}/run.
func (h *runHandlers) RunJob(ctx context.Context, r RunJobRequestObject) (*answer[RunAccepted], error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	if err := idempotent(&r.Body.Key, "key", r.Params.IdempotencyKey); err != nil {
		return nil, err
	}
	wait, err := runs.ParseWait(r.Params.Wait)
	if err != nil {
		return nil, err
	}
	accepted, err := h.runs.Start(ctx, name, r.Body)
	if err != nil {
		return nil, err
	}
	h.runs.Await(ctx, &accepted, wait)
	a := &answer[RunAccepted]{Body: accepted, Status: http.StatusAccepted}
	if accepted.Existed {
		a.Status = http.StatusOK
	}
	return a, nil
}

// RunFireEarly answers POST /jobs/{group}/{name}/run-early.
func (h *runHandlers) RunFireEarly(ctx context.Context, r RunFireEarlyRequestObject) (*RunAccepted, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	accepted, err := h.runs.StartEarly(ctx, name, r.Body)
	return &accepted, err
}

// renamed returns the problems of an error with another name for their field.
func renamed(err error, field string) (all []error) {
	for _, p := range job.Problems(err) {
		all = append(all, &job.InvalidError{Field: field, Reason: p.Reason})
	}
	return all
}

// idempotent puts the header Idempotency-Key into the field of the body that means the same. The error is an
// *InvalidError if both are given and differ, or the header is no id of a run where that is the field.
func idempotent[T ~string](key *T, field, header string) error {
	switch {
	case header == "" || string(*key) == header:
		return nil
	case *key != "":
		return &job.InvalidError{Field: "Idempotency-Key", Reason: refusal.KeyTwice.With(field)}
	}
	if field == "run_id" {
		if _, err := job.ParseRunID(header); err != nil { // which names the field of the body
			return errors.Join(renamed(err, "Idempotency-Key")...)
		}
	}
	*key = T(header)
	return nil
}
