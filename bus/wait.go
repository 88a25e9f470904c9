package bus

import (
	"encoding/json"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// VerbWait is the verb of a [WaitRequest], which is answered with a [TriggerReply].
const VerbWait = "wait"

// WaitAct is what a [WaitRequest] does to a step that waits.
type WaitAct string

// The acts. Who may do which is judged by who asks the owner.
const (
	WaitSignal  WaitAct = "signal"
	WaitApprove WaitAct = "approve"
	WaitReject  WaitAct = "reject"
	// WaitMet says that the runs of another job are there which the step waits for.
	WaitMet WaitAct = "met"
)

// WaitRequest brings the owner of a job's shard what a step waits for: a signal, a decision, or evidence of runs.
type WaitRequest struct {
	// ID is chosen by the asker, so that asking again has no second effect.
	ID job.RunID `json:"id"`
	// RunID is that of the workflow. Absent, a signal is for the oldest run of Job that is alive, has a step that
	// waits, or will wait, for Signal with Key, and has none yet.
	RunID job.RunID `json:"run_id,omitempty"`
	Job   job.Name  `json:"job"`
	Step  string    `json:"step,omitempty"` // absent of a signal
	Act   WaitAct   `json:"act"`
	// Signal and Key are of a signal; Key is absent if there is none.
	Signal string `json:"signal,omitempty"`
	Key    string `json:"key,omitempty"`
	// Result is what the signal brings, or the evidence of [WaitMet], up to [MaxResult] bytes of JSON.
	Result json.RawMessage `json:"result,omitempty"`
	By     string          `json:"by,omitempty"`
	Note   string          `json:"note,omitempty"`
	// At is when it was asked for.
	At time.Time `json:"at,omitzero"`
	// Since identifies the wait of act met, so that evidence for one round of a step does not end the next.
	Since time.Time `json:"since,omitzero"`
}

// Validate returns an *InvalidError when r makes no sense.
func (r *WaitRequest) Validate() error {
	ofSignal := r.Act == WaitSignal
	switch r.Act {
	case WaitSignal, WaitApprove, WaitReject, WaitMet:
	default:
		return job.Invalid("act", "%.60q must be signal, approve, reject or met", string(r.Act))
	}
	switch {
	case ofSignal && !job.KnownSignal(r.Signal):
		return job.Invalid("signal", "%.70q is not valid", r.Signal)
	case !ofSignal && r.Signal+r.Key != "":
		return job.Invalid("signal", "is only for act: signal")
	case ofSignal && r.Step != "":
		return job.Invalid("step", "does not go with act: signal")
	case !ofSignal && (r.Step == "" || r.RunID == ""):
		return job.Invalid("step", "needs run_id")
	case len(r.Key) > job.MaxSignalKey:
		return &job.InvalidError{Field: "key", Reason: reason.TooManyBytes.With(len(r.Key), job.MaxSignalKey)}
	case len(r.Result) > 0 && r.Act != WaitSignal && r.Act != WaitMet:
		return job.Invalid("result", "is only for act: signal, met")
	case len(r.Result) > MaxResult:
		return &job.InvalidError{Field: "result", Reason: reason.TooManyBytes.With(len(r.Result), MaxResult)}
	case len(r.Result) > 0 && !json.Valid(r.Result):
		return job.Invalid("result", "must be JSON")
	case len(r.Note) > job.MaxMarkNote:
		return &job.InvalidError{Field: "note", Reason: reason.TooManyBytes.With(len(r.Note), job.MaxMarkNote)}
	}
	if r.RunID != "" {
		if _, err := job.ParseRunID(string(r.RunID)); err != nil {
			return err
		}
	}
	_, err := job.ParseRunID(string(r.ID))
	return err
}
