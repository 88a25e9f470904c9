package webapi

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// batchOwner answers for the owners of all shards, and returns how many runs it was asked for.
func batchOwner(w *world) func() int {
	var mu sync.Mutex
	asked := map[job.RunID]bool{}
	owner(w, "trigger", func(q bus.TriggerRequest) (bus.TriggerReply, error) {
		mu.Lock()
		defer mu.Unlock()
		r := bus.TriggerReply{RunID: q.RunID, Version: 1, Status: job.StatusPending, Existed: asked[q.RunID]}
		asked[q.RunID] = true
		return r, nil
	})
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(asked)
	}
}

func TestEachEntryOfABatchIsAcceptedOrRefusedOnItsOwn(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	w.put("mail/y", "@daily")
	asked := batchOwner(w)
	key := job.NewRunID(time.Now())
	r, _ := want[RunBatchResult](w, http.StatusOK, "POST", "/api/v1/runs/batch", map[string]any{"runs": []any{
		map[string]any{"job": "billing/x", "run": map[string]any{"params": map[string]int{"n": 1}, "run_id": key}},
		map[string]any{"job": "billing/none"},
		map[string]any{"job": "mail/y", "run": map[string]any{"at": time.Now(), "in": "1h"}},
		map[string]any{"job": "no name"},
		map[string]any{"job": "mail/y"},
	}})
	for i, status := range []int{0, 404, 400, 400, 0} {
		item := r.Items[i]
		if got := item.Problem; (got == nil) != (status == 0) || got != nil && got.Status != status || (item.Accepted == nil) == (got == nil) {
			t.Errorf("entry %d: %+v, %+v", i, item.Accepted, got)
		}
	}
	if a := r.Items[0].Accepted; a.Job != "billing/x" || a.RunID != job.WantedRunID("billing/x", key) || r.Items[4].Accepted.Job != "mail/y" || asked() != 2 {
		t.Errorf("accepted %+v, %+v; %d runs", a, r.Items[4].Accepted, asked())
	}
	again, _ := want[RunBatchResult](w, http.StatusOK, "POST", "/api/v1/runs/batch", map[string]any{"runs": []any{map[string]any{"job": "billing/x", "run": map[string]any{"run_id": key}}}})
	if a := again.Items[0].Accepted; a == nil || !a.Existed || asked() != 2 {
		t.Errorf("again: %+v; %d runs", again.Items[0], asked())
	}
	many := make([]any, 501)
	for i := range many {
		many[i] = map[string]any{"job": "mail/y"}
	}
	w.problem(400, "invalid", "POST", "/api/v1/runs/batch", map[string]any{"runs": many}, `"field":"runs"`)
	w.problem(400, "invalid", "POST", "/api/v1/runs/batch", map[string]any{"runs": []any{}}, `"field":"runs"`)
	all, _ := want[RunBatchResult](w, http.StatusOK, "POST", "/api/v1/runs/batch", map[string]any{"runs": many[:500]})
	for i, item := range all.Items {
		if item.Accepted == nil {
			t.Fatalf("entry %d: %+v", i, item.Problem)
		}
	}
	if asked() != 502 {
		t.Errorf("%d runs were asked for", asked())
	}
}

func TestABatchNeedsTheRightsOfEachEntry(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	for _, name := range []job.Name{"billing/x", "ops/x", "payroll/x"} {
		g.putAs(ann, name)
	}
	asked := batchOwner(g.world)
	bob := ann.person("bob", rights.Access{Role: rights.Operator, Group: "billing"}, rights.Access{Role: rights.Viewer, Group: "ops"})
	made, _ := want[NewToken](g.world, http.StatusCreated, "POST", "/api/v1/tokens", `{"name":"shop","only":["start"]}`, bob.headers()...)
	seen := len(ann.entries(""))
	body := map[string]any{"runs": []any{map[string]any{"job": "ops/x"}, map[string]any{"job": "billing/x"}, map[string]any{"job": "payroll/x"}}}
	for i, who := range [][]header{bob.headers(), {{"Authorization", "Bearer " + made.Secret}}} {
		r, _ := want[RunBatchResult](g.world, http.StatusOK, "POST", "/api/v1/runs/batch", body, who...)
		if r.Items[0].Problem == nil || r.Items[0].Problem.Status != 403 || r.Items[1].Accepted == nil || r.Items[2].Problem == nil || r.Items[2].Problem.Status != 403 {
			t.Errorf("%+v", r.Items)
		}
		list := ann.entries("")
		if e := list[len(list)-1]; len(list) != seen+1+i || e.Operation != "runJob" || e.Object != "job billing/x" || e.User != "bob" {
			t.Errorf("%d entries, the last %+v", len(list)-seen, e)
		}
		if asked() != 1+i {
			t.Errorf("%d runs were asked for", asked())
		}
	}
	g.problemWith([]header{{"Authorization", "Bearer " + made.Secret}}, 403, "forbidden", "GET", "/api/v1/runs", nil, "start")
}
