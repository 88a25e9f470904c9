package shard

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unique"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/cron"
	"github.com/carillon-scheduler/carillon/job/firetime"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/journal"
)

// body is what all triggers of a version share, and the kind of subject that they go
// to.
type body struct {
	text      string
	routed    bool
	inPieces  bool
	inSteps   bool // it is of a workflow
	elsewhere bool // the run is done elsewhere
	repeats   bool // another attempt may follow

	atMostOnce bool // no attempt may be done twice
	timeout    job.Duration
	timed      bool   // it may have a ${fire_time}
	zone       string // in which that begins: the schedule's; empty is UTC
	priority   job.Priority
}

// noBody is that of a step that waits: it has no task.
var noBody = unique.Make(body{})

func encodeBody(b *journal.Body) (body, error) {
	text, err := b.Encode()
	return body{
		text: text, routed: b.Routed(), inPieces: b.Route == job.RouteBroadcast || b.Map != nil, inSteps: b.Workflow != nil, elsewhere: b.Task.Watch != nil, repeats: b.Retry.Limit > 0, atMostOnce: b.Delivery == job.AtMostOnce,
		timeout: b.Timeout, timed: b.Workflow == nil && firetime.In(text), priority: b.Priority,
	}, err
}

// at returns the body for a run of that fire time, in Unix milliseconds: with what stands for it, and no
// more to replace.
func (b body) at(fireTime int64) (body, error) {
	if !b.timed {
		return b, nil
	}
	zone, err := cron.LoadZone(b.zone)
	if err != nil {
		return b, err
	}
	fire := time.UnixMilli(fireTime)
	var t journal.Body
	if err := json.Unmarshal([]byte(b.text), &t); err != nil {
		return b, fmt.Errorf("decode trigger body: %w", err)
	}
	if t.Params, err = job.ParamsAt(t.Params, fire, zone.Location()); err != nil {
		return b, err
	}
	if t.Task, err = t.Task.At(fire, zone.Location()); err != nil {
		return b, err
	}
	of, err := b.like(&t)
	of.timed = false
	return of, err
}

// withResult returns the body with a parent's result as its parameters, in which nothing is replaced; see
// [body.asked].
func (b body) withResult(result json.RawMessage, fireTime int64) (of body, given json.RawMessage, err error) {
	if b.inSteps {
		given, err = job.LiteralParams(result)
		return b, given, errors.Join(err, checkParams(given))
	}
	if of, err = b.at(fireTime); err != nil {
		return b, nil, err
	}
	of, err = of.with(&bus.TriggerRequest{Params: result})
	of.timed = false
	return of, nil, err
}

// like encodes what is to take b's place.
func (b body) like(t *journal.Body) (body, error) {
	of, err := encodeBody(t)
	of.zone = b.zone
	return of, err
}

// lowest returns the body with the lowest priority.
func (b body) lowest() (body, error) {
	if b.priority == job.PriorityLow {
		return b, nil
	}
	var t journal.Body
	if err := json.Unmarshal([]byte(b.text), &t); err != nil {
		return b, fmt.Errorf("decode trigger body: %w", err)
	}
	t.Priority = job.PriorityLow
	if t.Workflow != nil {
		for i := range t.Workflow.Steps {
			t.Workflow.Steps[i].Body.Priority = job.PriorityLow
		}
	}
	return b.like(&t)
}

// asked returns the body for a run on request. A workflow gets its parameters beside the body, which all of
// its runs share.
func (b body) asked(r *bus.TriggerRequest) (of body, given json.RawMessage, err error) {
	if !b.inSteps {
		of, err = b.with(r)
		return of, nil, err
	}
	if len(r.Labels) > 0 {
		return b, nil, &job.InvalidError{Field: "labels", Reason: "are those of the steps, which each say by which instances they are done"}
	}
	return b, r.Params, checkParams(r.Params)
}

// with returns the body with what a request has in the place of the job's.
func (b body) with(r *bus.TriggerRequest) (body, error) {
	if len(r.Params) == 0 && len(r.Labels) == 0 {
		return b, nil
	}
	if err := checkParams(r.Params); err != nil {
		return b, err
	}
	if err := r.Labels.Validate(); err != nil {
		return b, err
	}
	var t journal.Body
	if err := json.Unmarshal([]byte(b.text), &t); err != nil {
		return b, fmt.Errorf("decode trigger body: %w", err)
	}
	if len(r.Params) > 0 {
		t.Params = r.Params
	}
	if len(r.Labels) > 0 {
		t.Labels = r.Labels
	}
	return b.like(&t)
}

func checkParams(params json.RawMessage) error {
	switch {
	case len(params) > job.MaxParams:
		return &job.InvalidError{Field: "params", Reason: reason.TooManyBytes.With(len(params), job.MaxParams)}
	case len(params) > 0 && !json.Valid(params):
		return &job.InvalidError{Field: "params", Reason: "must be JSON"}
	}
	return nil
}
