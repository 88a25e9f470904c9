package webapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

func TestAGroupsLimitsAreSetAndShown(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	const path = "/api/v1/groups/billing"
	set, _ := want[Group](w, http.StatusOK, "PUT", path, `{"limit":20,"rate":2.5}`, header{"Carillon-User", "ann"})
	if set.Limit != 20 || set.Rate != 2.5 || !set.Dispatched || set.ExecutorGroup != "billing" {
		t.Errorf("set: %+v", set)
	}
	w.heartbeat("billing", "i1", fleet.InstanceOnline)
	shown := func() Group {
		t.Helper()
		list, _ := want[GroupList](w, http.StatusOK, "GET", "/api/v1/groups", nil)
		if len(list.Items) != 1 {
			t.Fatalf("groups: %+v", list.Items)
		}
		return list.Items[0]
	}
	if g := shown(); g.Limit != 20 || g.Rate != 2.5 {
		t.Errorf("shown: %+v", g)
	}
	x := begun("billing/x", noon)
	w.history(x)
	run, _ := want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(x.RunID), nil)
	if reason := run.Attempts[0].Reason; reason != "waits for its turn: group billing runs at most 20 at once and begins at most 2.5 a second" {
		t.Errorf("a pending run has the reason %q", reason)
	}
	if a := w.send("GET", "/api/v1/audit-log?limit=1", nil); !strings.Contains(a.text, `"group billing"`) {
		t.Errorf("the audit log has %s", a.text)
	}
	want[Group](w, http.StatusOK, "PUT", path, `{}`)
	if g := shown(); g.Limit != 0 || g.Rate != 0 || !g.Dispatched {
		t.Errorf("without limits: %+v", g)
	}
	w.problem(400, "invalid", "PUT", path, `{"limit":-1}`, "limit")
	w.problem(400, "invalid", "PUT", path, `{"rate":0.00001}`, "rate")
	w.problem(400, "invalid", "PUT", "/api/v1/groups/Billing", `{}`, "group")
}

func TestAJobWithAPriorityHasItsGroupDispatched(t *testing.T) {
	w := newWorld(t)
	doc := document("billing/x", "@daily")
	doc["priority"] = "urgent"
	w.problem(400, "invalid", "PUT", "/api/v1/jobs/billing/x", doc, "priority")
	doc["priority"] = "high"
	saved, _ := want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/x", doc)
	list, _ := want[GroupList](w, http.StatusOK, "GET", "/api/v1/groups", nil)
	if saved.Definition.Priority != job.PriorityHigh || !list.Items[0].Dispatched {
		t.Errorf("saved %+v, and the groups are %+v", saved.Definition.Job, list.Items)
	}
}
