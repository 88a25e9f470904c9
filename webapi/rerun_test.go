package webapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
)

// retriesOf keeps the requests for runs that the owners of shards get.
func retriesOf(w *world) *[]bus.TriggerRequest {
	asked := &[]bus.TriggerRequest{}
	owner(w, "trigger", func(q bus.TriggerRequest) (bus.TriggerReply, error) {
		*asked = append(*asked, q)
		return bus.TriggerReply{RunID: q.RunID, Version: max(q.Version, 2), Status: job.StatusPending}, q.Validate()
	})
	return asked
}

func TestARetryHasWhatTheRunHadUnlessItSaysOtherwise(t *testing.T) {
	w := newWorld(t)
	path := "/api/v1/jobs/billing/x"
	first := document("billing/x", "@daily")
	first["params"] = map[string]any{"region": "eu", "n": 1}
	want[PutJobResult](w, http.StatusCreated, "PUT", path, first)
	second := document("billing/x", "@hourly")
	second["params"] = map[string]any{"region": "us"}
	want[PutJobResult](w, http.StatusOK, "PUT", path, second)
	asked := retriesOf(w)

	manual := begun("billing/x", noon)
	manual.Cause = job.CauseManual
	w.check(w.conn.Overrides().Put(t.Context(), "billing", manual.RunID, cluster.Overrides{Params: json.RawMessage(`{"region":"asia","n":2}`), Labels: job.Labels{"zone": "a"}}))
	alive := begun("billing/x", noon.Add(time.Hour))
	w.history(manual, finished(manual, job.StatusFailed, 0, noon.Add(time.Minute)), alive)
	retry := "/api/v1/runs/" + string(manual.RunID) + "/rerun"

	accept := func(body string) bus.TriggerRequest {
		t.Helper()
		a, _ := want[RunAccepted](w, http.StatusAccepted, "POST", retry, body, header{"Carillon-User", "ann"})
		got := (*asked)[len(*asked)-1]
		if got.RunID != a.RunID || got.RetryOf != manual.RunID || got.Cause != job.CauseRerun || got.By != "ann" || !got.RunID.Time().Equal(noon) {
			t.Errorf("%s asks for %+v", body, got)
		}
		return got
	}
	params := func(body, expected string) {
		t.Helper()
		if got := accept(body); string(got.Params) != expected {
			t.Errorf("%s gives %s, want %s", body, got.Params, expected)
		}
	}
	plain := accept(`{}`)
	if string(plain.Params) != `{"region":"asia","n":2}` || plain.Labels["zone"] != "a" || plain.Body != nil {
		t.Errorf("a plain retry is %+v", plain)
	}
	same := accept(`{"version":"same","labels":{"zone":"b"}}`)
	if same.Version != 1 || same.Body == nil || same.Labels["zone"] != "b" {
		t.Errorf("a retry by the same version is %+v", same)
	}
	params(`{"set_params":{"n":3}}`, `{"n":3,"region":"asia"}`)
	params(`{"set_params":{"n":null,"x":[1]}}`, `{"region":"asia","x":[1]}`)
	params(`{"params":5}`, `5`)
	if a, b := accept(`{"key":"k"}`), accept(`{"key":"k"}`); a.RunID != b.RunID || a.RunID == plain.RunID {
		t.Errorf("the key k asks for runs %s and %s", a.RunID, b.RunID)
	}

	w.problem(409, "conflict", "POST", "/api/v1/runs/"+string(alive.RunID)+"/rerun", `{}`, "has not ended")
	w.problem(404, "not_found", "POST", "/api/v1/runs/"+string(job.NewRunID(noon))+"/rerun", `{}`)
	w.problem(400, "invalid", "POST", retry, `{"version":"older"}`, "version")
	w.problem(400, "invalid", "POST", retry, `{"pieces":"failed"}`, "for a run without pieces")
	w.problem(400, "invalid", "POST", retry, `{"params":1,"set_params":{"n":1}}`, "set_params")

	// The history of a retry, as the owner and the executors write it, and its own retry.
	r := begun("billing/x", noon)
	r.RunID, r.Cause, r.Parent = accept(`{"params":[1]}`).RunID, job.CauseRerun, manual.RunID
	w.history(r, finished(r, job.StatusFailed, 0, noon.Add(time.Minute)))
	detail, _ := want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(r.RunID), nil)
	if detail.RerunOf != manual.RunID || string(detail.Params) != `[1]` {
		t.Errorf("the retry is shown as %+v", detail)
	}
	page, _ := want[RunPage](w, http.StatusOK, "GET", "/api/v1/runs?rerun_of="+string(manual.RunID), nil)
	if len(page.Items) != 1 || page.Items[0].RunID != r.RunID {
		t.Errorf("retries of the run: %+v", page.Items)
	}
	want[RunAccepted](w, http.StatusAccepted, "POST", "/api/v1/runs/"+string(r.RunID)+"/rerun", `{}`)
	if got := (*asked)[len(*asked)-1]; string(got.Params) != `[1]` || got.RetryOf != r.RunID {
		t.Errorf("a retry of a retry is %+v", got)
	}
}

func TestARetryOfAChildHasItsParentsResult(t *testing.T) {
	w := newWorld(t)
	w.put("billing/child", "@daily")
	parent := document("billing/parent", "@daily")
	parent["children"] = []any{map[string]any{"job": "billing/child", "pass_result": true}}
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/parent", parent)
	asked := retriesOf(w)
	p, c := begun("billing/parent", noon), begun("billing/child", noon)
	end := finished(p, job.StatusSucceeded, 0, noon.Add(time.Minute))
	end.Result = json.RawMessage(`{"rows":7,"text":"${fire_time}"}`)
	c.Cause, c.Parent = job.CauseParent, p.RunID
	w.history(p, end, c, finished(c, job.StatusFailed, 0, noon.Add(time.Minute)))
	want[RunAccepted](w, http.StatusAccepted, "POST", "/api/v1/runs/"+string(c.RunID)+"/rerun", `{}`)
	// The result has no variables, and what is asked for may have.
	if got := (*asked)[0]; string(got.Params) != `{"rows":7,"text":"$${fire_time}"}` {
		t.Errorf("the child is given %s", got.Params)
	}
}

func TestARerunOfARunThatCodeStartedHasItsParams(t *testing.T) {
	w := newWorld(t)
	w.put("billing/child", "@daily")
	w.put("billing/parent", "@daily")
	asked := retriesOf(w)
	p, c := begun("billing/parent", noon), begun("billing/child", noon)
	c.Cause, c.Parent, c.By = job.CauseParent, p.RunID, "billing/parent"
	w.history(p, finished(p, job.StatusSucceeded, 0, noon.Add(time.Minute)), c, finished(c, job.StatusFailed, 0, noon.Add(time.Minute)))
	given := cluster.Overrides{Params: json.RawMessage(`{"text":"$${fire_time}"}`)}
	if err := w.conn.Overrides().Put(t.Context(), "billing", c.RunID, given); err != nil {
		t.Fatal(err)
	}
	want[RunAccepted](w, http.StatusAccepted, "POST", "/api/v1/runs/"+string(c.RunID)+"/rerun", `{}`)
	if got := (*asked)[0]; string(got.Params) != string(given.Params) {
		t.Errorf("the rerun is given %s", got.Params)
	}
}

func TestARetryMayBeOfTheFailedPiecesOnly(t *testing.T) {
	w := newWorld(t)
	split := document("billing/split", "@daily")
	split["map"] = map[string]any{"split": true}
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/split", split)
	asked := retriesOf(w)

	list := begun("billing/split", noon)
	listed := finished(list, job.StatusSucceeded, 0, noon.Add(time.Second))
	listed.Result, listed.Retry = json.RawMessage(`["a","b","c"]`), true
	whole := again(list)
	whole.Total = 3
	piece := func(of logstore.Update, index int, s job.Status) logstore.Update {
		u := finished(started(of, "i1"), s, 0, noon.Add(time.Minute))
		u.Piece = runlog.PieceAt(index)
		return u
	}
	ended := func(of logstore.Update) logstore.Update {
		of.Status, of.Reason = job.StatusFailed, "1 of 3 pieces succeeded"
		return of
	}
	w.history(list, listed, whole, piece(whole, 0, job.StatusSucceeded), piece(whole, 1, job.StatusFailed), ended(whole))
	failed := func(of job.RunID) bus.TriggerRequest {
		t.Helper()
		want[RunAccepted](w, http.StatusAccepted, "POST", "/api/v1/runs/"+string(of)+"/rerun", `{"pieces":"failed"}`)
		return (*asked)[len(*asked)-1]
	}
	items := []json.RawMessage{[]byte(`"a"`), []byte(`"b"`), []byte(`"c"`)}
	first := failed(list.RunID)
	if d := cmp.Diff(&bus.Pieces{States: "sww", Items: items}, first.Pieces); d != "" {
		t.Error(d)
	}

	// Of the retry the history has the pieces that it has done, and no list.
	r := whole
	r.RunID, r.Cause, r.Parent, r.Attempt = first.RunID, job.CauseRerun, list.RunID, 1
	w.history(r, piece(r, 1, job.StatusSucceeded), piece(r, 2, job.StatusFailed), ended(r))
	second := failed(r.RunID)
	if d := cmp.Diff(&bus.Pieces{States: "ssw", Items: items}, second.Pieces); d != "" {
		t.Error(d)
	}
	// Of a run that has just ended, the end of a piece may be on its way into the history.
	young := r
	young.RunID = job.RetryRunID(list.RunID, "young")
	said := ended(young)
	said.At, said.Reason = time.Now(), reason.PiecesSucceeded.With(2, 3)
	w.history(young, piece(young, 0, job.StatusSucceeded), said)
	w.problem(503, "unavailable", "POST", "/api/v1/runs/"+string(young.RunID)+"/rerun", `{"pieces":"failed"}`, "not in the history yet")
	w.history(piece(young, 1, job.StatusSucceeded))
	if got := failed(young.RunID).Pieces.States; got != "ssw" {
		t.Errorf("of the young run, %q is begun with", got)
	}

	s := r
	s.RunID, s.Parent = second.RunID, first.RunID
	w.history(s, piece(s, 2, job.StatusSucceeded), ended(s))
	w.problem(409, "conflict", "POST", "/api/v1/runs/"+string(s.RunID)+"/rerun", `{"pieces":"failed"}`, "all pieces")
}

func TestWhoMayNotSeeParametersRetriesWithTheSameOnes(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	blind := ann.person("blind", rights.Access{Role: rights.Admin, Group: "billing", Grants: []rights.Grant{}})
	asked := retriesOf(g.world)
	want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/billing/x", document("billing/x", "@daily"), ann.headers()...)
	x := begun("billing/x", noon)
	x.Cause = job.CauseManual
	g.check(g.conn.Overrides().Put(t.Context(), "billing", x.RunID, cluster.Overrides{Params: json.RawMessage(`{"secret":1}`)}))
	g.history(x, finished(x, job.StatusFailed, 0, noon.Add(time.Minute)))
	path := "/api/v1/runs/" + string(x.RunID)
	g.problemWith(blind.headers(), 403, "forbidden", "POST", path+"/rerun", `{"params":1}`, "grant params")
	g.problemWith(blind.headers(), 403, "forbidden", "POST", path+"/rerun", `{"set_params":{"n":1}}`, "grant params")
	if a := g.send("GET", path, nil, blind.headers()...); a.status != http.StatusOK || strings.Contains(a.text, "secret") || !strings.Contains(a.text, access.Hidden) {
		t.Errorf("the run is shown as %d %s", a.status, a.text)
	}
	want[RunAccepted](g.world, http.StatusAccepted, "POST", path+"/rerun", `{}`, blind.headers()...)
	if got := (*asked)[0]; string(got.Params) != `{"secret":1}` {
		t.Errorf("the retry is given %s", got.Params)
	}
}
