package webapi

import (
	"net/http"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
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
	want[StepAccepted](w, http.StatusAccepted, "POST", path(alive.RunID, "retry"), `{"set_params":{"n":1,"old":null}}`)
	want[StepAccepted](w, http.StatusAccepted, "POST", path(alive.RunID, "retry"), `{"params":[1]}`)
	if string(asked[3].SetParams["n"]) != `1` || string(asked[3].SetParams["old"]) != `null` || string(asked[4].Params) != `[1]` {
		t.Errorf("the owner is asked for %+v", asked[3:])
	}
	w.problem(400, "invalid", "POST", path(alive.RunID, "retry"), `{"params":1,"set_params":{"n":1}}`, "set_params")
	w.problem(400, "invalid", "POST", path(alive.RunID, "resolve"), `{"as":"failed"}`, "as")
	w.problem(409, "conflict", "POST", path(over.RunID, "retry"), `{}`, "has ended already")
	refuse = "tell, which follows a, is running: wait for it or cancel it"
	w.problem(409, "conflict", "POST", path(alive.RunID, "retry"), `{}`, refuse)
}

func TestWhoMayNotSeeParametersRetriesAStepWithItsOwn(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	blind := ann.person("blind", rights.Access{Role: rights.Admin, Group: "billing", Grants: []rights.Grant{}})
	want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/billing/flow", steps(document("billing/flow", "@daily"), "a"), ann.headers()...)
	owner(g.world, bus.VerbRecover, func(r bus.RecoverRequest) (bus.TriggerReply, error) {
		return bus.TriggerReply{RunID: r.ID, Status: r.Status(), Round: 2}, nil
	})
	alive := begun("billing/flow", noon)
	g.history(alive)
	path := "/api/v1/runs/" + string(alive.RunID) + "/steps/a/retry"
	g.problemWith(blind.headers(), 403, "forbidden", "POST", path, `{"params":1}`, "grant params")
	g.problemWith(blind.headers(), 403, "forbidden", "POST", path, `{"set_params":{"n":1}}`, "grant params")
	want[StepAccepted](g.world, http.StatusAccepted, "POST", path, `{}`, blind.headers()...)
}
