package webapi

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

func TestARunIsPutOnHoldByTheOwnerOfItsJob(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	operator := ann.person("bob", rights.Access{Role: rights.Operator, Group: "billing"})
	viewer := ann.person("eve", rights.Access{Role: rights.Viewer, Group: "billing"})
	want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/billing/flow", steps(document("billing/flow", "@daily"), "a", "b a"), ann.headers()...)
	want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/billing/plain", document("billing/plain", "@daily"), ann.headers()...)
	var asked []bus.HoldRequest
	refuse := ""
	owner(g.world, bus.VerbHold, func(r bus.HoldRequest) (bus.TriggerReply, error) {
		asked = append(asked, r)
		if refuse != "" {
			return bus.TriggerReply{RunID: r.RunID, Reason: refuse}, nil
		}
		return bus.TriggerReply{RunID: r.RunID, Status: job.StatusRunning}, r.Validate()
	})
	alive, over, plain := begun("billing/flow", noon), begun("billing/flow", noon.Add(time.Hour)), begun("billing/plain", noon)
	g.history(alive, over, plain, finished(over, job.StatusFailed, 0, noon.Add(2*time.Hour)), stepOf(alive, "a", 1, noon))
	path := func(id job.RunID, act string) string { return "/api/v1/runs/" + string(id) + "/" + act }

	once := append([]header{{"Idempotency-Key", "k"}}, operator.headers()...)
	held, _ := want[HoldAccepted](g.world, http.StatusAccepted, "POST", path(alive.RunID, "hold"), `{"note":"disk full"}`, once...)
	want[HoldAccepted](g.world, http.StatusAccepted, "POST", path(alive.RunID, "hold"), `{"note":"disk full"}`, once...)
	resumed, _ := want[HoldAccepted](g.world, http.StatusAccepted, "POST", path(alive.RunID, "resume"), nil, once...)
	want[HoldAccepted](g.world, http.StatusAccepted, "POST", path(alive.RunID, "hold"), nil, operator.headers()...)
	if of := (HoldAccepted{RunID: alive.RunID, Job: "billing/flow", Held: true}); held != of || resumed.Held || resumed.RunID != alive.RunID {
		t.Errorf("accepted as %+v, and %+v", held, resumed)
	}
	if r := asked[0]; r.RunID != alive.RunID || r.Job != "billing/flow" || r.By != "bob" || r.Note != "disk full" || r.Resume || r.At.IsZero() || !asked[2].Resume {
		t.Errorf("the owner is asked for %+v", asked)
	}
	if asked[0].ID != asked[1].ID || asked[0].ID == asked[2].ID || asked[0].ID == asked[3].ID {
		t.Errorf("the owner is asked for %+v", asked)
	}
	for operation, expected := range map[string]string{"holdRun": ": disk full", "resumeRun": ": "} {
		list := ann.entries("operation=" + operation)
		if e := list[0]; e.Object+": "+e.Note != "run "+string(alive.RunID)+expected || e.Group != "billing" || e.User != "bob" {
			t.Errorf("%s: %+v", operation, e)
		}
	}

	for _, act := range []string{"hold", "resume"} {
		g.problemWith(viewer.headers(), 403, "forbidden", "POST", path(alive.RunID, act), nil, "role operator")
		g.problemWith(operator.headers(), 409, "conflict", "POST", path(over.RunID, act), nil, "has ended already, as failed")
		g.problemWith(operator.headers(), 409, "conflict", "POST", path(plain.RunID, act), nil, "version 1 of job billing/plain has no steps")
		g.problemWith(operator.headers(), 409, "conflict", "POST", path(job.StepRunID(alive.RunID, "a"), act), nil, "is a step of run "+string(alive.RunID))
	}
	g.problemWith(operator.headers(), 400, "invalid", "POST", path(alive.RunID, "hold"), `{"note":"`+strings.Repeat("x", 501)+`"}`, "note")
	refuse = "run x of job billing/flow is not alive"
	g.problemWith(operator.headers(), 409, "conflict", "POST", path(alive.RunID, "hold"), nil, refuse)
}

func TestARunOnHoldSaysSo(t *testing.T) {
	w := newWorld(t)
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/flow", steps(document("billing/flow", "@daily"), "a", "b a", "c b"))
	run := begun("billing/flow", noon)
	hold := &runlog.Hold{Since: noon, By: "ann", Note: "disk full", Change: 1}
	change := func(h *runlog.Hold) logstore.Update {
		u := run
		u.Hold = h
		return u
	}
	done := stepOf(run, "a", 1, noon)
	w.history(run, change(hold), done, finished(done, job.StatusSucceeded, 0, noon.Add(time.Minute)))
	path := "/api/v1/runs/" + string(run.RunID)
	says := func(h *runlog.Hold, why string) {
		t.Helper()
		detail, _ := want[RunDetail](w, 200, "GET", path, nil)
		page, _ := want[RunPage](w, 200, "GET", "/api/v1/runs", nil)
		list, _ := want[RunSteps](w, 200, "GET", path+"/steps", nil)
		for _, got := range []struct {
			hold *runlog.Hold
			why  string
		}{
			{detail.Attempts[0].Hold, string(detail.Attempts[0].Reason)},
			{page.Items[0].Hold, string(page.Items[0].Reason)},
			{list.Hold, string(list.Steps[1].Reason)},
		} {
			if d := cmp.Diff(h, got.hold); d != "" || strings.Contains(got.why, "hold") != h.Held() || h.Held() && got.why != why {
				t.Errorf("it says %q, want %q\n%s", got.why, why, d)
			}
		}
		if a, b, c := list.Steps[0], list.Steps[1], list.Steps[2]; a.Reason != "" || b.State != "ready" || c.Reason != "" || c.State != "waiting" {
			t.Errorf("the steps say %+v", list.Steps)
		}
	}
	says(hold, "put on hold by ann at 2026-01-05T12:00:00Z; disk full")
	resumed := *hold
	resumed.ResumedAt, resumed.ResumedBy, resumed.Change = noon.Add(time.Hour), "bob", 2
	w.history(change(&resumed))
	says(&resumed, "")
}
