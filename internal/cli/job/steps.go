package job

import (
	"fmt"
	"strings"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// taskOf says in a line what a run of the job does: its task, or its steps.
func taskOf(d *job.Job) string {
	if len(d.Steps) == 0 {
		return d.Task.Kind() + ": " + d.Task.Brief()
	}
	names := make([]string, len(d.Steps))
	for i := range d.Steps {
		names[i] = d.Steps[i].Name
	}
	return "workflow: " + strings.Join(names, ", ")
}

// drawSteps draws the steps of a job, if it has any.
func drawSteps(t *draw.Table, steps []job.Step) {
	if len(steps) == 0 {
		return
	}
	t.Line("")
	t.Row("STEP", "RUNS", "TASK")
	for i := range steps {
		s := &steps[i]
		t.Row(s.Name, t.Cell(whenStepRuns(s), 60), taskOfStep(t, s))
	}
}

// taskOfStep says what a step does.
func taskOfStep(t *draw.Table, s *job.Step) string {
	if s.Call != "" {
		return "call: " + string(s.Call)
	}
	if s.Wait != nil {
		return "wait: " + s.Wait.Kind() + " " + t.Cell(s.Wait.Brief(), 60)
	}
	task := s.Task.Kind() + ": " + t.Cell(s.Task.Brief(), 60)
	if cut := s.Cut(); cut != "" {
		return task + ", " + cut
	}
	return task
}

// whenStepRuns says when a step runs, and what becomes of its failure.
func whenStepRuns(s *job.Step) string {
	var parts []string
	if s.Finally {
		parts = append(parts, "finally")
	}
	if len(s.After) > 0 {
		sources := make([]string, len(s.After))
		for i, e := range s.After {
			sources[i] = e.Step
			if e.On != workflow.OnSuccess {
				sources[i] += " on " + string(e.On)
			}
		}
		after := "after " + strings.Join(sources, ", ")
		if s.Join != (workflow.Join{}) {
			after += fmt.Sprintf(" (join %s)", s.Join)
		}
		parts = append(parts, after)
	} else if !s.Finally {
		parts = append(parts, "at the start")
	}
	if s.If != "" {
		parts = append(parts, "if "+s.If)
	}
	if s.MayFail {
		parts = append(parts, "may fail")
	}
	return strings.Join(parts, "; ")
}
