package journal

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// Body is what all runs of a version share: what their triggers carry, or the workflow that they do. No
// executor gets a workflow, since each step has a trigger of its own.
type Body struct {
	bus.TriggerBody
	Workflow *WorkflowBody `json:"workflow,omitempty"`
}

// BodyOf returns what runs of version v share.
func BodyOf(v *job.Version) Body {
	b := Body{TriggerBody: bus.BodyOf(v)}
	if len(v.Steps) > 0 {
		b.Workflow = workflowOf(v)
	}
	return b
}

// Encode returns b as the text that [bus.AppendTrigger] takes.
func (b *Body) Encode() (string, error) {
	data, err := json.Marshal(b)
	if err != nil {
		return "", fmt.Errorf("encode body of runs: %w", err)
	}
	return string(data), nil
}

// WorkflowBody is what a run of a workflow does, as the version says with which it was wanted.
type WorkflowBody struct {
	Steps     []StepBody        `json:"steps"`
	OnFailure job.FailurePolicy `json:"on_failure,omitempty"`
	// AtOnce is how many steps may be with the executors at once. Zero is no limit.
	AtOnce int             `json:"at_once,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	// Zone is that of the schedule, in which a ${fire_time} begins; empty is UTC.
	Zone string `json:"zone,omitempty"`
}

// StepBody is a step of a workflow: its place in the graph, and what its triggers carry.
type StepBody struct {
	workflow.Step
	If          string       `json:"if,omitempty"`
	Call        job.Name     `json:"call,omitempty"` // the job that the step runs in the place of a task
	Wait        *job.Wait    `json:"wait,omitempty"` // what the step waits for in the place of a task
	StartWithin job.Duration `json:"start_within,omitempty"`
	SucceedsIf  job.Share    `json:"succeeds_if,omitzero"` // how many of its pieces have to succeed
	// Body has the parameters as they are written, none for those of the run.
	Body bus.TriggerBody `json:"body"`
}

// Workflow returns what the run of an item does that waits or has begun, nil if it does a task. The error is
// about a trigger that no machine wrote.
func (d *Deferred) Workflow() (*WorkflowBody, error) {
	if d.Kind != DeferredWorkflow && d.Kind != DeferredQueued { // no other can be of one
		return nil, nil //nolint:nilnil // as documented
	}
	var t struct {
		Workflow *WorkflowBody `json:"workflow"`
	}
	if err := json.Unmarshal(d.Trigger, &t); err != nil {
		return nil, fmt.Errorf("decode workflow of job %s: %w", d.Job, err)
	}
	return t.Workflow, nil
}

func workflowOf(v *job.Version) *WorkflowBody {
	w := &WorkflowBody{OnFailure: v.OnFailure, AtOnce: v.AtOnce, Result: v.Result}
	if v.Schedule.Zone != "UTC" {
		w.Zone = v.Schedule.Zone
	}
	for i := range v.Steps {
		s := &v.Steps[i]
		of := s.Effective(&v.Job)
		w.Steps = append(w.Steps, StepBody{Step: s.Step, If: s.If, Call: s.Call, Wait: waitOf(s), StartWithin: of.StartWithin, SucceedsIf: of.SucceedsIf, Body: bus.BodyOf(&job.Version{Job: of})})
	}
	return w
}

// waitOf returns what a step waits for, nil if it does a task or calls a job. A finally step waits for an hour if it does not
// say how long: with that the run ends.
func waitOf(s *job.Step) *job.Wait {
	if s.Wait == nil || !s.Finally || s.Wait.For != 0 || s.Wait.Until != "" {
		return s.Wait
	}
	w := *s.Wait
	w.Expires = cmp.Or(w.Expires, job.FinallyLimit)
	return &w
}
