package runlog

import (
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// HitBucket is how many lines of each level a search finds from an instant on.
type HitBucket struct {
	At    time.Time `json:"at"`
	Debug int       `json:"debug"`
	Info  int       `json:"info"`
	Warn  int       `json:"warn"`
	Error int       `json:"error"`
	Other int       `json:"other"` // of any other level, as newer executors may have
}

// Hit is a line that a search has found, where in it, and the lines around it, as far as
// they were asked for.
type Hit struct {
	Line

	// Step is which step of a workflow has said it, and Workflow that one's run.
	Step     string    `json:"step,omitempty"`
	Workflow job.RunID `json:"workflow_run_id,omitempty"`

	Highlights []Range `json:"highlights,omitempty"`
	Before     []Line  `json:"before,omitempty"`
	After      []Line  `json:"after,omitempty"`
}

// Range is a part of a text, in characters and not in bytes: those from From on, and
// before To.
type Range struct {
	From int `json:"from"`
	To   int `json:"to"`
}
