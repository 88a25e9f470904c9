package bus

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"carillon/job"
)

// DeferredKind says what a deferred item is for.
type DeferredKind string

// The kinds of deferred item.
const (
	// DeferredDelay is a fixed-delay job that waits for its next fire.
	DeferredDelay DeferredKind = "delay"
	// DeferredEnd is a fixed-delay job that waits for the end of RunID.
	DeferredEnd DeferredKind = "end"
)

// Deferred is something that a shard must do later and that cannot be derived from
// its schedules. It is written in the batch that made it necessary, and released
// in the batch that does it.
type Deferred struct {
	Kind DeferredKind `json:"kind"`
	Job  job.Name     `json:"job"`
	// Since is the instant from which a delay counts.
	Since time.Time `json:"since,omitzero"`
	RunID job.RunID `json:"run_id,omitempty"`
}

// Msg returns d as a message for TRIG.
func (d *Deferred) Msg(shard int) (*nats.Msg, error) {
	data, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode deferred item of job %s: %w", d.Job, err)
	}
	return NewMessage(SubjectDeferred(shard), MessageDeferred, data), nil
}

// DecodeDeferred is the inverse of [Deferred.Msg]. Its error is an *InvalidError.
func DecodeDeferred(header nats.Header, data []byte) (*Deferred, error) {
	d := &Deferred{}
	if err := decode(header, MessageDeferred, data, d); err != nil {
		return nil, err
	}
	if _, err := job.ParseName(string(d.Job)); err != nil {
		return nil, err
	}
	switch d.Kind {
	case DeferredDelay, DeferredEnd:
		return d, nil
	default:
		return nil, &job.InvalidError{Field: "kind", Reason: fmt.Sprintf("%q must be delay or end", d.Kind)}
	}
}
