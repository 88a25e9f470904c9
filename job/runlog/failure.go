package runlog

import (
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Failure is one way in which attempts failed: those whose messages have the same
// fingerprint.
type Failure struct {
	Fingerprint string      `json:"fingerprint"`
	Message     reason.Text `json:"message"` // of the newest, as it was
	Attempts    int         `json:"attempts"`
	Jobs        []job.Name  `json:"jobs"` // some of theirs, in order
	First       time.Time   `json:"first"`
	Last        time.Time   `json:"last"` // fire times
	LastRun     job.RunID   `json:"last_run_id"`
}
