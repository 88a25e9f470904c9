package bus

import (
	"encoding/json"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// VerbRecover is the verb of a [RecoverRequest], which is answered with a [TriggerReply].
const VerbRecover = "recover"

// RecoverRequest asks the owner of a job's shard to retry or resolve a step of a workflow's run that is alive.
type RecoverRequest struct {
	// ID is chosen by the asker, so that asking again has no second effect.
	ID    job.RunID `json:"id"`
	RunID job.RunID `json:"run_id"` // of the workflow
	Job   job.Name  `json:"job"`
	Step  string    `json:"step"`
	// As is how the step counts from now on: succeeded or skipped. Absent, it is retried.
	As job.Status `json:"as,omitempty"`
	// Result is what a step returns that counts as succeeded.
	Result json.RawMessage `json:"result,omitempty"`
	// GivenParams are for a step that is retried, in its next round.
	GivenParams
	By   string `json:"by,omitempty"`
	Note string `json:"note,omitempty"`
}

// Validate returns an *InvalidError when r makes no sense.
func (r *RecoverRequest) Validate() error {
	switch {
	case r.As != "" && r.As != job.StatusSucceeded && r.As != job.StatusSkipped:
		return job.Invalid("as", "%q must be succeeded or skipped", r.As)
	case len(r.Result) > 0 && r.As != job.StatusSucceeded:
		return job.Invalid("result", "is only for as: succeeded")
	case len(r.Result) > MaxResult:
		return &job.InvalidError{Field: "result", Reason: reason.TooManyBytes.With(len(r.Result), MaxResult)}
	case len(r.Result) > 0 && !json.Valid(r.Result):
		return job.Invalid("result", "must be JSON")
	case r.As != "" && !r.Nothing():
		return job.Invalid("params", "does not go with as")
	}
	if err := r.GivenParams.Validate(); err != nil {
		return err
	}
	_, err := job.ParseRunID(string(r.ID))
	return err
}

// Status is what the step has from then on.
func (r *RecoverRequest) Status() job.Status {
	if r.As == "" {
		return job.StatusQueued
	}
	return r.As
}

// Text is the reason for that status.
func (r *RecoverRequest) Text() string {
	text := reason.StepResolved.With(r.By)
	if r.As == "" {
		text = reason.StepRetried.With(r.By)
	}
	return reason.Join(text, r.Note)
}
