package fleet

import (
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// Custody is what an instance says of an attempt when it is asked for attempts.
type Custody string

// What an instance may say.
const (
	CustodyHeld     Custody = "held"     // it has it: it runs, or its end is not stored yet
	CustodyReported Custody = "reported" // it had it, and its end is stored
	CustodyNone     Custody = "none"     // it knows nothing of it
)

// Answer is what an instance makes of a request.
type Answer string

// The answers.
const (
	AnswerAccepted       Answer = "accepted"        // it has the run; or: yes; or: done
	AnswerBusy           Answer = "busy"            // no slot is free, or it runs the job already
	AnswerDraining       Answer = "draining"        // it is leaving
	AnswerCordoned       Answer = "cordoned"        // it takes no work
	AnswerUnknownHandler Answer = "unknown_handler" // it has no handler of that name
	AnswerUnknownKind    Answer = "unknown_kind"    // it does no tasks of that kind
	AnswerGone           Answer = "gone"            // it does not have the attempt that it was to go on with, or the run that it was to end
)

// InstanceReply answers every request to an instance.
type InstanceReply struct {
	Instance string        `json:"instance"`
	Answer   Answer        `json:"answer"`
	State    InstanceState `json:"state"`
	Running  int           `json:"running"`
	Slots    int           `json:"slots"`
	Detail   string        `json:"detail,omitempty"`
	// DrainBy is when one that drains ends at the latest; zero while it takes as long as its
	// runs need, or its SDK knows no such limit.
	DrainBy time.Time `json:"drain_by,omitzero"`
	// Pieces are those that it has, by index, of a run that it was to end and that is done
	// in pieces.
	Pieces []int `json:"pieces,omitempty"`
	// Attempts answers a request about attempts.
	Attempts []Custody `json:"attempts,omitempty"`
}

// MaxDrain is the longest time that an instance may be given to drain.
const MaxDrain = 7 * 24 * time.Hour

// DrainRequest is the body of a request to drain. An empty one sets no limit.
type DrainRequest struct {
	// Within is how long its runs may take: then it ends as one that is stopped. It is a
	// length, not an instant, so that clocks need not agree.
	Within job.Duration `json:"within,omitempty"`
}

// Validate reports what is wrong with r as an *InvalidError.
func (r DrainRequest) Validate() error {
	if r.Within < 0 || r.Within.Std() > MaxDrain {
		return &job.InvalidError{Field: "within", Reason: fmt.Sprintf("is %s; it must be more than 0s, and at most 7d", r.Within)}
	}
	return nil
}

// SetRequest is the body of a request to change settings. What is absent stays. It holds until
// the instance ends.
type SetRequest struct {
	Slots  int         `json:"slots,omitempty"`
	Labels *job.Labels `json:"labels,omitempty"` // all of them
}
