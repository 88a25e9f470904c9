package bus

import (
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// VerbHold is the verb of a [HoldRequest], which is answered with a [TriggerReply].
const VerbHold = "hold"

// HoldRequest asks the owner of a job's shard to put a workflow's run on hold, or to resume it. It changes nothing
// if that is so already.
type HoldRequest struct {
	// ID is chosen by the asker, so that asking again has no second effect.
	ID     job.RunID `json:"id"`
	RunID  job.RunID `json:"run_id"` // of the workflow
	Job    job.Name  `json:"job"`
	Resume bool      `json:"resume,omitempty"`
	By     string    `json:"by,omitempty"`
	Note   string    `json:"note,omitempty"` // at most [job.MaxMarkNote] bytes; none of a resume
	// At is when it was asked for.
	At time.Time `json:"at,omitzero"`
}

// Validate returns an *InvalidError when r makes no sense.
func (r *HoldRequest) Validate() error {
	switch {
	case len(r.Note) > job.MaxMarkNote:
		return &job.InvalidError{Field: "note", Reason: reason.TooManyBytes.With(len(r.Note), job.MaxMarkNote)}
	case r.Resume && r.Note != "":
		return job.Invalid("note", "does not go with resume")
	}
	if _, err := job.ParseRunID(string(r.RunID)); err != nil {
		return err
	}
	_, err := job.ParseRunID(string(r.ID))
	return err
}
