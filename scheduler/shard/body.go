package shard

import (
	"encoding/json"
	"fmt"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// body is what all triggers of a version share, and the kind of subject that they go
// to.
type body struct {
	text     string
	routed   bool
	inPieces bool
	repeats  bool // another attempt may follow
	priority job.Priority
}

func encodeBody(b *bus.TriggerBody) (body, error) {
	text, err := b.Encode()
	return body{text: text, routed: b.Routed(), inPieces: b.Route == job.RouteBroadcast || b.Map != nil, repeats: b.Retry.Limit > 0, priority: b.Priority}, err
}

// subject returns where triggers of a group with the body go.
func (b body) subject(shard int, group string, governed bool) string {
	switch {
	case governed:
		return bus.SubjectPriority(shard, b.priority, group)
	case b.routed:
		return bus.SubjectRouted(shard, group)
	}
	return bus.SubjectTrigger(shard, group)
}

// lowest returns the body with the lowest priority.
func (b body) lowest() (body, error) {
	if b.priority == job.PriorityLow {
		return b, nil
	}
	var t bus.TriggerBody
	if err := json.Unmarshal([]byte(b.text), &t); err != nil {
		return b, fmt.Errorf("decode trigger body: %w", err)
	}
	t.Priority = job.PriorityLow
	return encodeBody(&t)
}

// with returns the body with what a request has in the place of the job's.
func (b body) with(r *bus.TriggerRequest) (body, error) {
	if len(r.Params) == 0 && len(r.Labels) == 0 {
		return b, nil
	}
	if len(r.Params) > job.MaxParams {
		return b, &job.InvalidError{Field: "params", Reason: reason.TooManyBytes.With(len(r.Params), job.MaxParams)}
	}
	if len(r.Params) > 0 && !json.Valid(r.Params) {
		return b, &job.InvalidError{Field: "params", Reason: "must be JSON"}
	}
	if err := r.Labels.Validate(); err != nil {
		return b, err
	}
	var t bus.TriggerBody
	if err := json.Unmarshal([]byte(b.text), &t); err != nil {
		return b, fmt.Errorf("decode trigger body: %w", err)
	}
	if len(r.Params) > 0 {
		t.Params = r.Params
	}
	if len(r.Labels) > 0 {
		t.Labels = r.Labels
	}
	return encodeBody(&t)
}
