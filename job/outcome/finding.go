package outcome

import (
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Finding is a discrepancy that the continuous audit of the ledger has found: a fire of
// an active job has neither its run nor a recorded reason, or a run has no fire. It is
// worth an alarm.
type Finding struct {
	Job      job.Name    `json:"job"`
	FireTime time.Time   `json:"fire_time"`
	RunID    job.RunID   `json:"run_id"` // that the fire owes, or that has no fire
	Version  int         `json:"version,omitempty"`
	Reason   reason.Text `json:"reason"` // what is wrong
	FoundAt  time.Time   `json:"found_at"`
	// HealedAt is when the audit saw that nothing is wrong any more, and Healed what it saw.
	HealedAt time.Time   `json:"healed_at,omitzero"`
	Healed   reason.Text `json:"healed,omitempty"`
}
