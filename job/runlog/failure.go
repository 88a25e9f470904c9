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
	JobCount    int         `json:"job_count"`
	Versions    []int       `json:"versions,omitempty"` // of the job, if all are of one: some of them, the newest first
	First       time.Time   `json:"first"`
	Last        time.Time   `json:"last"` // fire times
	LastRun     job.RunID   `json:"last_run_id"`
	Counts      []int       `json:"counts,omitempty"` // of attempts, by equal parts of the range
}
