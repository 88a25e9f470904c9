package runs

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/logstore"
)

// runAt returns the n-th run of a workflow.
func runAt(n int) runlog.Run {
	at := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Hour)
	return runlog.Run{RunID: job.FireRunID("billing/flow", at.UnixMilli(), job.CauseSchedule), Job: "billing/flow", Version: 1, Status: job.StatusSucceeded, FireTime: at}
}

func TestRunsBeyondTheLimitAreNotCounted(t *testing.T) {
	runs := []runlog.Run{runAt(3), runAt(2), runAt(1)}
	for cut, want := range map[job.RunID]int{"": 3, runs[2].RunID: 2, runs[1].RunID: 1, runAt(0).RunID: 3} {
		h := &stepHistory{counted: runs}
		h.add(logstore.StepPage{Cut: cut})
		if len(h.counted) != want || h.cut != (want < 3) {
			t.Errorf("%d runs are counted, with %q left out; want %d", len(h.counted), cut, want)
		}
	}
}

// In each version the steps have other names.
func TestAGridHasNoMoreRowsThanAWorkflowHasSteps(t *testing.T) {
	h, j := &stepHistory{}, &job.Job{Job: "billing/flow"}
	var page logstore.StepPage
	for i := range workflow.MaxSteps {
		j.Steps = append(j.Steps, job.Step{Step: workflow.Step{Name: fmt.Sprintf("extract_of_day_%d", i)}})
	}
	for n := listedRuns; n > 0; n-- {
		run := runAt(n)
		h.runs = append(h.runs, run)
		for i := range workflow.MaxSteps {
			name := fmt.Sprintf("extract_of_day_%d", i*(n%3+1)) // others, too
			page.Runs = append(page.Runs, logstore.StepRun{
				RunID: job.StepRunID(run.RunID, name), Workflow: run.RunID, Job: run.Job, Step: name, Status: job.StatusFailed,
				StartedAt: run.FireTime, FinishedAt: run.FireTime.Add(time.Duration(i) * 1234 * time.Millisecond),
			})
		}
	}
	h.counted = h.runs
	h.add(page)
	answer := h.answer(j, 1)
	data, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	if last := answer.Steps[workflow.MaxSteps-1]; len(answer.Steps) != workflow.MaxSteps || last.Gone || last.Failures == 0 {
		t.Errorf("%d steps, the last of which is %+v", len(answer.Steps), last)
	}
	if most := 800 << 10; len(data) > most {
		t.Errorf("%d runs of %d steps are sent in %d bytes; want %d at most", listedRuns, workflow.MaxSteps, len(data), most)
	}
}
