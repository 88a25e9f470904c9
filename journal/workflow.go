package bus

import (
	"encoding/json"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

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
	StartWithin job.Duration `json:"start_within,omitempty"`
	// Body has the parameters as they are written, none for those of the run.
	Body TriggerBody `json:"body"`
}

func workflowOf(v *job.Version) *WorkflowBody {
	w := &WorkflowBody{OnFailure: v.OnFailure, AtOnce: v.AtOnce, Result: v.Result}
	if v.Schedule.Zone != "UTC" {
		w.Zone = v.Schedule.Zone
	}
	for i := range v.Steps {
		s := &v.Steps[i]
		of := s.Effective(&v.Job)
		w.Steps = append(w.Steps, StepBody{Step: s.Step, If: s.If, StartWithin: of.StartWithin, Body: BodyOf(&job.Version{Job: of})})
	}
	return w
}
