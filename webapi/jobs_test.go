package webapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

func TestAJobIsCreatedChangedAndDeleted(t *testing.T) {
	w := newWorld(t)
	const x = "/api/v1/jobs/billing/x"

	created, head := want[PutJobResult](w, http.StatusCreated, "PUT", x+"?note=first", document("billing/x", "0 3 * * *"), header{"Carillon-User", "ann"}, header{"If-None-Match", "*"})
	if created.Result != PutJobResultResultCreated || created.Definition.Version != 1 || created.Definition.Author != "ann" || created.Definition.Note != "first" {
		t.Errorf("created: %+v", created)
	}
	first := head.Get("ETag")
	if first != etag(created.Revision) {
		t.Errorf("ETag %s, revision %d", first, created.Revision)
	}
	same, head := want[PutJobResult](w, http.StatusOK, "PUT", x, document("billing/x", "0 3 * * *"))
	if same.Result != PutJobResultResultUnchanged || head.Get("ETag") != first || len(same.Changes) != 0 {
		t.Errorf("put again: %+v", same)
	}

	next := document("billing/x", "0 4 * * *")
	next["timeout"] = "5m"
	changed, head := want[PutJobResult](w, http.StatusOK, "PUT", x, next, header{"If-Match", first})
	if d := cmp.Diff([]FieldChange{{Field: "schedule.cron", From: "0 3 * * *", To: "0 4 * * *"}, {Field: "timeout", To: "5m"}}, changed.Changes); d != "" || changed.Result != PutJobResultResultChanged {
		t.Errorf("%s: %s", changed.Result, d)
	}
	second := head.Get("ETag")

	w.problemWith([]header{{"If-Match", first}}, 412, "precondition_failed", "PUT", x, document("billing/x", "0 5 * * *"), "not at revision")
	w.problemWith([]header{{"If-None-Match", "*"}}, 412, "precondition_failed", "PUT", x, document("billing/x", "0 5 * * *"), "exists already")
	w.problemWith([]header{{"If-Match", first}}, 412, "precondition_failed", "DELETE", x, nil)
	w.problemWith([]header{{"If-Match", "17"}}, 400, "invalid", "DELETE", x, nil, "If-Match", "quotes")
	w.problemWith([]header{{"If-None-Match", `"17"`}}, 400, "invalid", "PUT", x, next, "If-None-Match")

	got, head := want[JobItem](w, http.StatusOK, "GET", x+"?fires=2", nil)
	if head.Get("ETag") != second || got.Definition.Version != 2 || len(got.NextFires) != 2 || got.LastRuns == nil {
		t.Errorf("get: %+v", got)
	}
	want[struct{}](w, http.StatusNoContent, "DELETE", x, nil, header{"If-Match", second}, header{"Carillon-User", "bob"})
	w.problem(404, "not_found", "GET", x, nil)
	w.problem(404, "not_found", "DELETE", x, nil)

	versions, _ := want[VersionList](w, http.StatusOK, "GET", x+"/versions", nil)
	var told []string
	for _, v := range versions.Items {
		told = append(told, fmt.Sprintf("%d %s %v", v.Version, v.Author, v.Deleted))
	}
	if d := cmp.Diff([]string{"3 bob true", "2 local false", "1 ann false"}, told); d != "" {
		t.Error(d)
	}
}

func TestADocumentIsComparedByWhatItSays(t *testing.T) {
	w := newWorld(t)
	const x = "/api/v1/jobs/billing/x"
	const spaced = `{"job":"billing/x","task":{"command":["true"]},"params":{ "a" : [1, 2] },"schedule":{"once":"2030-03-01T09:00:00+01:00","only":[]}}`
	want[PutJobResult](w, http.StatusCreated, "PUT", x, spaced)
	for _, same := range []string{
		spaced,
		`{"job":"billing/x","task":{"command":["true"]},"params":{"a":[1,2]},"misfire":"fire_once","schedule":{"once":"2030-03-01T09:00:00+01:00","zone":"UTC"}}`,
	} {
		again, _ := want[PutJobResult](w, http.StatusOK, "PUT", x, same)
		if again.Result != PutJobResultResultUnchanged {
			t.Errorf("%s: %+v", again.Result, again.Changes)
		}
	}
}

func TestADryRunTellsAndChangesNothing(t *testing.T) {
	w := newWorld(t)
	const x = "/api/v1/jobs/billing/x"
	would := func(schedule string, result PutJobResultResult, version int, fields ...string) {
		t.Helper()
		got, _ := want[PutJobResult](w, http.StatusOK, "PUT", x+"?dry_run=true", document("billing/x", schedule))
		var changed []string
		for _, c := range got.Changes {
			changed = append(changed, c.Field)
		}
		if got.Result != result || got.Definition.Version != version || !got.DryRun || !slices.Equal(changed, fields) {
			t.Errorf("%s: %+v", schedule, got)
		}
	}
	would("@daily", PutJobResultResultCreated, 1)
	w.problem(404, "not_found", "GET", x, nil)
	put := w.put("billing/x", "@daily")
	would("@daily", PutJobResultResultUnchanged, 1)
	would("@hourly", PutJobResultResultChanged, 2, "schedule.cron")
	w.problemWith([]header{{"If-Match", `"999"`}}, 412, "precondition_failed", "PUT", x+"?dry_run=true", document("billing/x", "@hourly"))
	w.problemWith([]header{{"If-None-Match", "*"}}, 412, "precondition_failed", "PUT", x+"?dry_run=true", document("billing/x", "@hourly"))
	if got, _ := want[JobItem](w, http.StatusOK, "GET", x, nil); got.Revision != put.Revision {
		t.Errorf("revision %d after dry runs, was %d", got.Revision, put.Revision)
	}
}

func TestJobsAreListedInPagesAndByFilter(t *testing.T) {
	w := newWorld(t)
	for _, name := range []job.Name{"b/one", "a/two", "a/one", "a-b/one", "b/three"} {
		w.put(name, "@daily")
	}
	described := document("b/two", "@daily")
	described["description"] = "Sends INVOICES"
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/b/two", described)
	want[JobItem](w, http.StatusOK, "POST", "/api/v1/jobs/a/two/pause", nil)
	w.put("b/gone", "@daily")
	want[struct{}](w, http.StatusNoContent, "DELETE", "/api/v1/jobs/b/gone", nil)

	list := func(parameters string, total int, expected ...job.Name) JobPage {
		t.Helper()
		page, _ := want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs?"+parameters, nil)
		var names []job.Name
		for _, item := range page.Items {
			names = append(names, item.Definition.Job.Job)
		}
		if d := cmp.Diff(expected, names); d != "" || page.Total != total {
			t.Errorf("%s: total %d, want %d; %s", parameters, page.Total, total, d)
		}
		return page
	}
	list("", 6, "a-b/one", "a/one", "a/two", "b/one", "b/three", "b/two")
	list("group=a", 2, "a/one", "a/two")
	list("group=c", 0)
	list("q=invoices", 1, "b/two")
	list("q=ONE", 3, "a-b/one", "a/one", "b/one")
	list("paused=true", 1, "a/two")
	list("paused=false&group=a", 1, "a/one")
	page := list("limit=4", 6, "a-b/one", "a/one", "a/two", "b/one")
	page = list("limit=4&cursor="+page.Next, 6, "b/three", "b/two")
	if page.Next != "" {
		t.Errorf("the last page has next %q", page.Next)
	}
}

func TestAListHasNextFiresAndLastRuns(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "0 3 * * *")
	older, newer := begun("billing/x", noon), begun("billing/x", noon.Add(time.Hour))
	w.history(older, newer, finished(newer, job.StatusFailed, 0, noon.Add(2*time.Hour)))

	page, _ := want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs?fires=2&runs=2", nil)
	item := page.Items[0]
	if len(item.NextFires) != 2 || item.NextFires[1].FireTime.Sub(item.NextFires[0].FireTime) != 24*time.Hour || item.NextFires[0].FireTime.Hour() != 3 {
		t.Errorf("next fires %+v", item.NextFires)
	}
	if len(item.LastRuns) != 2 || item.LastRuns[0].RunID != newer.RunID || item.LastRuns[0].Status != job.StatusFailed {
		t.Errorf("last runs %+v", item.LastRuns)
	}
}

// errRefused is what a driver says: not for clients.
var errRefused = errors.New("dial tcp 10.1.2.3:9000: refused")

// away is a log store that does not answer.
type away struct{ logstore.Store }

func (away) LastRuns(context.Context, []job.Name, int) (map[job.Name][]runlog.Run, error) {
	return nil, errRefused
}

func (away) Standings(context.Context, []job.Name) (map[job.Name]logstore.Standing, error) {
	return nil, errRefused
}

func (away) Runs(context.Context, logstore.RunFilter) (logstore.RunPage, error) {
	return logstore.RunPage{}, errRefused
}

func (away) Stats(context.Context) (logstore.Stats, error) {
	return logstore.Stats{}, errRefused
}

func (away) Run(context.Context, job.RunID) ([]runlog.Run, error) { panic("BUG: in the store") }

func TestJobsAreAtHandWhileTheLogStoreIsAway(t *testing.T) {
	w := newWorld(t, func(_ *Config, w *world) { w.store = away{w.store} })
	w.put("billing/x", "@daily")
	page, _ := want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs", nil)
	if len(page.Items) != 1 || page.Items[0].LastRuns != nil {
		t.Errorf("%+v", page)
	}
	item, _ := want[JobItem](w, http.StatusOK, "POST", "/api/v1/jobs/billing/x/pause", nil)
	if !item.Definition.Paused {
		t.Error("not paused")
	}
	w.problem(503, "unavailable", "GET", "/api/v1/runs", nil, "log store does not answer")
	if a := w.send("GET", "/api/v1/runs", nil); a.header.Get("Retry-After") == "" || strings.Contains(a.text, "10.1.2.3") {
		t.Errorf("%v %s", a.header, a.text)
	}
}

func TestAJobIsPausedAndResumed(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	const x = "/api/v1/jobs/billing/x"
	paused, head := want[JobItem](w, http.StatusOK, "POST", x+"/pause", `{"note":"month end"}`, header{"Carillon-User", "ann"})
	if v := paused.Definition; !v.Paused || v.Note != "month end" || v.Author != "ann" || v.Version != 2 || len(paused.NextFires) != 0 {
		t.Errorf("paused: %+v", paused)
	}
	again, _ := want[JobItem](w, http.StatusOK, "POST", x+"/pause", nil)
	if again.Revision != paused.Revision {
		t.Error("pausing a paused job made a version")
	}
	w.problemWith([]header{{"If-Match", `"1"`}}, 412, "precondition_failed", "POST", x+"/resume", nil)
	resumed, _ := want[JobItem](w, http.StatusOK, "POST", x+"/resume", nil, header{"If-Match", head.Get("ETag")})
	if resumed.Definition.Paused || resumed.Definition.Version != 3 || len(resumed.NextFires) == 0 {
		t.Errorf("resumed: %+v", resumed)
	}
}

func TestRunNowAsksTheOwnerOfTheShard(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	const run = "/api/v1/jobs/billing/x/run"
	w.problem(503, "unavailable", "POST", run, nil, "scheduler node that owns shard")

	var asked []bus.TriggerRequest
	owner(w, "trigger", func(q bus.TriggerRequest) (bus.TriggerReply, error) {
		asked = append(asked, q)
		if q.By == "eve" {
			return bus.TriggerReply{}, fmt.Errorf("%w: run %s is alive", job.ErrConflict, q.RunID)
		}
		return bus.TriggerReply{RunID: q.RunID, Version: 7, Status: job.StatusQueued, Reason: "it waits for 1 earlier run"}, nil
	})
	wanted := job.NewRunID(time.Now())
	id := job.WantedRunID("billing/x", wanted)
	accepted, _ := want[RunAccepted](w, http.StatusAccepted, "POST", run, map[string]any{"params": map[string]int{"n": 1}, "cause": "manual", "run_id": wanted}, header{"Carillon-User", "ann"})
	if d := cmp.Diff(RunAccepted{RunID: id, Job: "billing/x", Version: 7, Status: job.StatusQueued, Reason: "it waits for 1 earlier run"}, accepted); d != "" {
		t.Error(d)
	}
	plain, _ := want[RunAccepted](w, http.StatusAccepted, "POST", run, nil)
	if _, err := job.ParseRunID(string(plain.RunID)); err != nil {
		t.Error(err)
	}
	w.problemWith([]header{{"Carillon-User", "eve"}}, 409, "conflict", "POST", run, nil, "is alive")
	expected := []bus.TriggerRequest{
		{RunID: id, Job: "billing/x", Cause: job.CauseManual, Params: []byte(`{"n":1}`), By: "ann"},
		{RunID: plain.RunID, Job: "billing/x", Cause: job.CauseAPI, By: "local"},
	}
	if d := cmp.Diff(expected, asked[:2]); d != "" {
		t.Error(d)
	}
}

func TestTheOwnerIsToldWhichVersionTheAskerHasSeen(t *testing.T) {
	w := newWorld(t)
	w.put("billing/other", "@daily")
	w.put("billing/x", "@daily")
	owner(w, "trigger", func(q bus.TriggerRequest) (bus.TriggerReply, error) {
		return bus.TriggerReply{RunID: q.RunID, Version: 2, Status: job.StatusPending}, nil
	})
	seen, err := w.conn.NC.SubscribeSync("sched.*.trigger")
	w.check(err)
	want[RunAccepted](w, http.StatusAccepted, "POST", "/api/v1/jobs/billing/x/run", nil)
	m, err := seen.NextMsg(time.Minute)
	w.check(err)
	entry, err := w.conn.Jobs().Get(w.Context(), "billing/x")
	w.check(err)
	if bus.JobsSeq(m) != entry.Revision {
		t.Errorf("the owner was asked to know of revision %d; the job's is %d", bus.JobsSeq(m), entry.Revision)
	}
}

func TestHoldPausesEverything(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	if h, _ := want[Pause](w, http.StatusOK, "GET", "/api/v1/pause", nil); h.Paused {
		t.Error("paused from the start")
	}
	want[Pause](w, http.StatusOK, "PUT", "/api/v1/pause", `{"paused":true,"note":"flood"}`, header{"Carillon-User", "ann"})
	if h, _ := want[Pause](w, http.StatusOK, "GET", "/api/v1/pause", nil); !h.Paused || h.Note != "flood" || h.Author != "ann" {
		t.Errorf("%+v", h)
	}
	p, _ := want[Preview](w, http.StatusOK, "GET", "/api/v1/jobs/billing/x/preview?n=1", nil)
	if p.Note != "everything is paused" || !p.Fires[0].Skipped {
		t.Errorf("%+v", p)
	}
}
