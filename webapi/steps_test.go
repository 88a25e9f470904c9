package webapi

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

func TestARunWithoutStepsSaysWhy(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "0 3 * * *")
	plain, step, old := begun("billing/x", noon), begun("billing/x", noon.Add(time.Minute)), begun("billing/x", noon.Add(time.Hour))
	step.RunID, step.Cause, step.Parent = job.StepRunID(plain.RunID, "load"), job.CauseStep, plain.RunID
	old.Version = 7
	w.history(plain, step, old)
	path := func(id job.RunID) string { return "/api/v1/runs/" + string(id) + "/steps" }
	w.problem(404, "not_found", "GET", path(plain.RunID), nil, "version 1 of job billing/x has no steps")
	w.problem(404, "not_found", "GET", path(step.RunID), nil, "is a step of run "+string(plain.RunID))
	w.problem(404, "not_found", "GET", path(old.RunID), nil, "version 7 of job billing/x is not kept")
	w.problem(404, "not_found", "GET", path(begun("billing/x", noon.Add(2*time.Hour)).RunID), nil, "run")
}

func TestNothingIsDoneToAStepApartFromItsWorkflow(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "0 3 * * *")
	whole := begun("billing/x", noon)
	step := whole
	step.RunID, step.Cause, step.Parent, step.Step = job.StepRunID(whole.RunID, "load"), job.CauseStep, whole.RunID, "load"
	w.history(whole, step, finished(step, job.StatusFailed, 0, noon.Add(time.Minute)))
	path, why := "/api/v1/runs/"+string(step.RunID), "is a step of run "+string(whole.RunID)
	w.problem(409, "conflict", "POST", path+"/rerun", map[string]any{}, why)
	w.problem(409, "conflict", "POST", path+"/mark", map[string]any{"as": "handled", "note": "done"}, why)
	detail, _ := want[RunDetail](w, 200, "GET", path, nil)
	if r := detail.Attempts[0]; r.Step != "load" || r.Parent != whole.RunID {
		t.Errorf("the run is %+v; want step load of its workflow's run", r)
	}
	for query, expected := range map[string]int{"": 1, "?cause=step": 1, "?cause=step&parent=" + string(whole.RunID): 1, "?parent=" + string(whole.RunID): 0} {
		if page, _ := want[RunPage](w, 200, "GET", "/api/v1/runs"+query, nil); len(page.Items) != expected {
			t.Errorf("%d runs with %q, want %d", len(page.Items), query, expected)
		}
	}
}
