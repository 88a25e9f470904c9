package outcome

import (
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// StepOutcome is what became of a step of a workflow's run.
type StepOutcome string

// The outcomes of a step.
const (
	StepRan         StepOutcome = "ran"         // it has ended, well or badly
	StepSkipped     StepOutcome = "skipped"     // its edges or its condition said no
	StepCancelled   StepOutcome = "cancelled"   // somebody, a limit or the end of another step called it off
	StepPending     StepOutcome = "pending"     // it has not ended yet
	StepUnjudged    StepOutcome = "unjudged"    // it cannot be told whether this is right
	StepDiscrepancy StepOutcome = "discrepancy" // it contradicts the graph
)

// StepOutcomes lists every outcome of a step.
var StepOutcomes = []StepOutcome{StepRan, StepSkipped, StepCancelled, StepPending, StepUnjudged, StepDiscrepancy}

// Step is a step of the run that a fire owed, and what became of it. Instants are in UTC.
type Step struct {
	Step    string      `json:"step"`
	Outcome StepOutcome `json:"outcome"`
	// Reason is why it did not run, ended so, or what is wrong.
	Reason     reason.Text `json:"reason,omitempty"`
	RunID      job.RunID   `json:"run_id"` // that the step owes in any case
	Status     job.Status  `json:"status,omitempty"`
	Attempt    int         `json:"attempt,omitempty"` // the newest
	StartedAt  time.Time   `json:"started_at,omitzero"`
	FinishedAt time.Time   `json:"finished_at,omitzero"`
}
