package webapi

import (
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/logstore"
)

// ran stores n runs of a job that succeeded, each so long.
func (w *world) ran(name job.Name, n int, took time.Duration) {
	w.Helper()
	for i := range n {
		at := time.Now().UTC().Truncate(time.Millisecond).Add(-time.Duration(i+1) * 24 * time.Hour)
		r := started(begun(name, at), "i1")
		w.history(begun(name, at), r, finished(r, job.StatusSucceeded, 0, r.StartedAt.Add(took)))
	}
}

func TestLiveRunsHaveDeadlinesAndExpectedEnds(t *testing.T) {
	w := newWorld(t)
	save := func(name job.Name, more map[string]any) {
		document := map[string]any{"job": name, "task": map[string]any{"shell": "true"}}
		maps.Copy(document, more)
		want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/"+string(name), document)
	}
	save("billing/nightly", nil)
	save("billing/short", map[string]any{"timeout": "20m", "total_timeout": "1h"})
	save("billing/new", map[string]any{"total_timeout": "1h"})
	save("billing/free", nil)
	want[AlertItem](w, http.StatusOK, "PUT", "/api/v1/alerts/rules/in-time",
		`{"alert":"in-time","match":{"jobs":["billing/nightly"]},"when":{"ends_within":"30m","predict":true},"channels":[]}`)
	want[AlertItem](w, http.StatusOK, "PUT", "/api/v1/alerts/rules/off",
		`{"alert":"off","disabled":true,"when":{"ends_within":"1s"},"channels":[]}`)

	w.ran("billing/nightly", 5, 40*time.Minute)
	w.ran("billing/short", 5, 10*time.Minute)
	w.ran("billing/new", 4, 2*time.Hour)
	w.ran("billing/free", 5, 2*time.Hour)
	now := time.Now().UTC().Truncate(time.Millisecond)
	live := map[job.Name]logstore.Update{}
	for _, name := range []job.Name{"billing/nightly", "billing/short", "billing/free"} {
		r := begun(name, now.Add(-5*time.Minute))
		live[name] = started(r, "i1")
		w.history(r, live[name])
	}
	live["billing/new"] = begun("billing/new", now.Add(-5*time.Minute))
	w.history(live["billing/new"])

	list, _ := want[DeadlineList](w, http.StatusOK, "GET", "/api/v1/deadlines", nil)
	if len(list.Items) != 3 {
		t.Fatalf("got %+v", list.Items)
	}
	nightly, short, fresh := list.Items[0], list.Items[1], list.Items[2]
	began := live["billing/nightly"].StartedAt
	if nightly.Job != "billing/nightly" || !nightly.Late || nightly.By != "alert" || nightly.Alert != "in-time" || !nightly.At.Equal(now.Add(25*time.Minute)) ||
		!nightly.ExpectedEnd.Equal(began.Add(40*time.Minute)) || nightly.UsualMs != 40*60_000 || nightly.Runs != 5 {
		t.Errorf("nightly: %+v", nightly)
	}
	if short.Job != "billing/short" || short.Late || short.By != "timeout" || !short.At.Equal(began.Add(20*time.Minute)) || !short.ExpectedEnd.Equal(began.Add(10*time.Minute)) {
		t.Errorf("short: %+v", short)
	}
	if fresh.Job != "billing/new" || fresh.Late || fresh.By != "total_timeout" || !fresh.At.Equal(now.Add(55*time.Minute)) || !fresh.ExpectedEnd.IsZero() {
		t.Errorf("new: %+v", fresh)
	}

	one := func(id job.RunID) []Deadline {
		t.Helper()
		list, _ := want[DeadlineList](w, http.StatusOK, "GET", "/api/v1/deadlines?run_id="+string(id), nil)
		return list.Items
	}
	if got := one(nightly.RunID); len(got) != 1 || got[0].Job != "billing/nightly" || !got[0].Late {
		t.Errorf("of one run: %+v", got)
	}
	w.history(finished(live["billing/nightly"], job.StatusSucceeded, 0, now))
	if got := one(nightly.RunID); len(got) != 0 {
		t.Errorf("of a run that has ended: %+v", got)
	}
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/deadlines?run_id=x", nil, `"field":"run_id"`)
}

// Only the newest live runs are looked at, so those of others must not stand in their way.
func TestDeadlinesAreThoseOfTheRunsThatOneSees(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	eve := ann.person("eve", rights.Access{Role: rights.Viewer, Group: "orders"})
	for _, name := range []job.Name{"billing/x", "orders/y"} {
		want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/"+string(name),
			map[string]any{"job": name, "total_timeout": "10h", "task": map[string]any{"shell": "true"}}, ann.headers()...)
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	own := begun("orders/y", now.Add(-time.Hour))
	g.history(own)
	for i := range 200 {
		g.history(begun("billing/x", now.Add(-time.Duration(i)*time.Second)))
	}
	list, _ := want[DeadlineList](g.world, http.StatusOK, "GET", "/api/v1/deadlines", nil, eve.headers()...)
	if len(list.Items) != 1 || list.Items[0].RunID != own.RunID {
		t.Errorf("of 200 newer runs of others, eve sees %d deadlines", len(list.Items))
	}
}
