package fleet

import (
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Refusal describes an executor's message that servers refused: it is a dead letter, and has no other
// effect. A server reports it to the instance, which repeats it in its heartbeats.
type Refusal struct {
	Stream   string    `json:"stream"` // that has stored it
	Sequence uint64    `json:"sequence"`
	Subject  string    `json:"subject"`
	Reason   string    `json:"reason"` // at most MaxRefusalReason bytes
	At       time.Time `json:"at"`     // when it was refused
}

// MaxRefusalReason bounds the reason of a [Refusal], in bytes.
const MaxRefusalReason = 1024

// Clipped returns r with texts that are not longer than they may be.
func (r Refusal) Clipped() Refusal {
	r.Stream = clip.Text(r.Stream, 128)
	r.Subject = clip.Text(r.Subject, MaxRefusalReason)
	r.Reason = clip.Text(r.Reason, MaxRefusalReason)
	return r
}

// Explain finds in the reason which field is wrong, and why.
func (r *Refusal) Explain() *RefusedFor {
	if field, why, _ := strings.Cut(r.Reason, " "); reason.Read(why).Code != "" {
		return &RefusedFor{field, reason.Text(why)}
	}
	return &RefusedFor{Why: reason.Text(r.Reason)}
}

// RefusedFor is the reason of a [Refusal] in its parts, for people.
type RefusedFor struct {
	Field string      `json:"field,omitempty"`
	Why   reason.Text `json:"why"`
}

// Validate reports what is missing as an *InvalidError.
func (r Refusal) Validate() error {
	switch {
	case r.Stream == "":
		return &job.InvalidError{Field: "stream", Reason: "is missing"}
	case r.Sequence == 0:
		return &job.InvalidError{Field: "sequence", Reason: "is missing"}
	case r.Reason == "":
		return &job.InvalidError{Field: "reason", Reason: "is missing"}
	}
	return nil
}
