package bus

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
)

// AttemptRef names an attempt, or one piece of it.
type AttemptRef struct {
	RunID   job.RunID `json:"run_id"`
	Attempt int       `json:"attempt"`
	Index   int       `json:"broadcast_index,omitempty"`
}

// Ref returns the name of t's attempt.
func (t *Trigger) Ref() AttemptRef { return AttemptRef{t.RunID, t.Attempt, t.Index} }

// Ref returns the name of the attempt that e is about.
func (e *Event) Ref() AttemptRef { return AttemptRef{e.RunID, e.Attempt, e.Index} }

// MaxAttemptsAsked bounds a [VerbAttempts] request.
const MaxAttemptsAsked = 500

// AttemptsRequest is the body of a [VerbAttempts] request. The answer has a [fleet.Custody] for
// each, in the same order.
type AttemptsRequest struct {
	Attempts []AttemptRef `json:"attempts"`
}

// Validate reports what is wrong with r as an *InvalidError.
func (r *AttemptsRequest) Validate() error {
	if n := len(r.Attempts); n < 1 || n > MaxAttemptsAsked {
		return job.Invalid("attempts", "must have between 1 and %d entries", MaxAttemptsAsked)
	}
	return nil
}

// HandOverRequest returns the request by which an executor hands a trigger that it
// pulled, m, to a server: because it was delivered before, or because this executor
// cannot run it. The answer comes on inbox; see [Answered]. The server reads the trigger
// itself, so the request only has the subject of its acknowledgement and the name of the
// instance.
func HandOverRequest(group, instance string, m *nats.Msg, inbox string) *nats.Msg {
	return &nats.Msg{Subject: SubjectHand(group), Reply: inbox, Header: nats.Header{HeaderAck: {m.Reply}, HeaderInstance: {instance}}}
}

// Answered returns nil when m, the answer to a request that asks for nothing but consent,
// consents, [ErrNobodyThere] when nobody took the request, and the refusal otherwise.
func Answered(m *nats.Msg) error {
	if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
		return ErrNobodyThere
	}
	var r reply
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return fmt.Errorf("decode reply on %s: %w", m.Subject, err)
	}
	if r.Fault != nil {
		return r.Fault.err()
	}
	return nil
}
