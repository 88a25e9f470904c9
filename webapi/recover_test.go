package webapi

import (
	"net/http"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAStepIsRetriedOrResolvedByTheOwnerOfItsJob(t *testing.T) {
	w := newWorld(t)
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/flow", steps(document("billing/flow", "@daily"), "a", "b a"))
	var asked []bus.RecoverRequest
	refuse := ""
	owner(w, bus.VerbRecover, func(r bus.RecoverRequest) (bus.TriggerReply, error) {
		asked = append(asked, r)
		if refuse != "" {
			return bus.TriggerReply{RunID: r.ID, Reason: refuse}, nil
		}
		return bus.TriggerReply{RunID: r.ID, Status: r.Status(), Round: 2}, r.Validate()
	})
	alive, over := begun("billing/flow", noon), begun("billing/flow", noon.Add(time.Hour))
	w.history(alive, over, finished(over, job.StatusFailed, 0, noon.Add(2*time.Hour)))
	path := func(id job.RunID, act string) string { return "/api/v1/runs/" + string(id) + "/steps/a/" + act }

	a, _ := want[StepAccepted](w, http.StatusAccepted, "POST", path(alive.RunID, "retry"), `{"note":"disk freed"}`, header{"Carillon-User", "ann"}, header{"Idempotency-Key", "k"})
	if a.RunID != job.RoundRunID(alive.RunID, "a", 2) || a.Round != 2 || a.Status != job.StatusQueued || a.Step != "a" {
		t.Errorf("a retry is accepted as %+v", a)
	}
	if r := asked[0]; r.RunID != alive.RunID || r.Job != "billing/flow" || r.Step != "a" || r.By != "ann" || r.Note != "disk freed" || r.As != "" {
		t.Errorf("the owner is asked for %+v", r)
	}
	want[StepAccepted](w, http.StatusAccepted, "POST", path(alive.RunID, "resolve"), `{"as":"succeeded","result":{"n":1},"key":"k"}`)
	want[StepAccepted](w, http.StatusAccepted, "POST", path(alive.RunID, "retry"), `{"key":"k"}`)
	if asked[1].As != job.StatusSucceeded || string(asked[1].Result) != `{"n":1}` || asked[2].ID != asked[0].ID {
		t.Errorf("the owner is asked for %+v", asked[1:])
	}
	w.problem(400, "invalid", "POST", path(alive.RunID, "resolve"), `{"as":"failed"}`, "as")
	w.problem(409, "conflict", "POST", path(over.RunID, "retry"), `{}`, "has ended already")
	refuse = "tell, which follows a, is running: wait for it or cancel it"
	w.problem(409, "conflict", "POST", path(alive.RunID, "retry"), `{}`, refuse)
}
