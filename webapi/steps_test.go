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
