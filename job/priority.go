package job

import (
	"slices"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// Priority says which of a group's pending runs begin first.
type Priority string

// The priorities. Runs of a lower one are not starved: some of the runs that begin are
// theirs, however many of a higher one wait.
const (
	PriorityHigh   Priority = "high"
	PriorityNormal Priority = "" // the default; written as "normal", too
	PriorityLow    Priority = "low"
)

// Priorities lists every priority, the highest first.
var Priorities = []Priority{PriorityHigh, PriorityNormal, PriorityLow}

// normalPriority is what people may write for [PriorityNormal].
const normalPriority Priority = "normal"

func (p Priority) withDefaults() Priority {
	if p == normalPriority {
		return PriorityNormal
	}
	return p
}

// String returns the word for p.
func (p Priority) String() string {
	if p == PriorityNormal {
		return string(normalPriority)
	}
	return string(p)
}

func (p Priority) validate() error {
	if p == normalPriority || slices.Contains(Priorities, p) {
		return nil
	}
	return Invalid("priority", "%q must be high, normal or low", clip.Text(string(p), maxQuoted))
}
