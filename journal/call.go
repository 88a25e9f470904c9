package journal

import (
	"encoding/json"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// Caller is the step of a workflow that calls a job.
type Caller struct {
	Job   job.Name  `json:"job"`    // of the workflow
	RunID job.RunID `json:"run_id"` // of the workflow's run
	Step  string    `json:"step"`
	// Nested is how many calls lead to the called run, this one included.
	Nested int `json:"nested"`
}

// Call is a run that a step of a workflow wants of another job.
type Call struct {
	RunID    job.RunID       `json:"run_id"`
	Caller   Caller          `json:"caller"`
	FireTime time.Time       `json:"fire_time"`
	Params   json.RawMessage `json:"params,omitempty"`
	Depth    int             `json:"depth"`
}

// CallEnd is the end of a called run, or why there is none.
type CallEnd struct {
	RunID  job.RunID       `json:"run_id"`
	Caller Caller          `json:"caller"`
	Status job.Status      `json:"status"`
	Result json.RawMessage `json:"result,omitempty"`
	// Refused says why there is no run.
	Refused string `json:"refused,omitempty"`
	// At is when the end was stored, by JetStream's clock.
	At time.Time `json:"at"`
}

// CallOff is a called run that is to end.
type CallOff struct {
	RunID  job.RunID `json:"run_id"`
	Reason string    `json:"reason"`
}
