package webapi

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

// waitingOwner answers for the owners of all shards that runs wait, and returns what it was asked.
func waitingOwner(w *world) *[]bus.TriggerRequest {
	asked := &[]bus.TriggerRequest{}
	owner(w, "trigger", func(q bus.TriggerRequest) (bus.TriggerReply, error) {
		*asked = append(*asked, q)
		r := bus.TriggerReply{RunID: q.RunID, Version: 1, Status: job.StatusPending, Existed: len(*asked) > 1}
		if q.Due.After(q.RunID.Time()) {
			r.RunID, r.Status = job.LaterRunID(q.RunID, q.Due.UnixMilli()), job.StatusQueued
		}
		return r, nil
	})
	return asked
}

func TestARunCanBeRequestedForALaterTime(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	asked := waitingOwner(w)
	const path = "/api/v1/jobs/billing/x/run"
	at := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Millisecond)
	a, _ := want[RunAccepted](w, http.StatusAccepted, "POST", path, map[string]any{"at": at, "expires": "1h", "params": map[string]int{"n": 1}})
	q := (*asked)[0]
	if !q.Due.Equal(at) || !q.Expires.Equal(at.Add(time.Hour)) || q.Cause != job.CauseAPI {
		t.Errorf("asked for %+v", q)
	}
	if a.Status != job.StatusQueued || !a.Due.Equal(at) || !a.RunID.Time().Equal(at) || a.Existed {
		t.Errorf("accepted %+v", a)
	}
	detail, _ := want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(a.RunID), nil)
	if string(detail.Params) != `{"n":1}` {
		t.Errorf("the run has params %s", detail.Params)
	}

	key := job.NewRunID(time.Now())
	before := time.Now()
	want[RunAccepted](w, http.StatusOK, "POST", path, map[string]any{"in": "90m", "run_id": key, "expires": at})
	if q := (*asked)[1]; q.Due.Before(before.Add(90*time.Minute-time.Millisecond)) || q.Due.After(time.Now().Add(90*time.Minute)) || !q.Expires.Equal(at) {
		t.Errorf("asked for %+v", q)
	}
}

func TestARequestThatCameBeforeIsAnsweredWithThePresentStatus(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	at := time.Now().Add(-time.Minute).UTC().Truncate(time.Millisecond)
	past := begun("billing/x", at)
	w.history(past, finished(past, job.StatusSucceeded, 0, past.At.Add(time.Second)))
	owner(w, "trigger", func(bus.TriggerRequest) (bus.TriggerReply, error) {
		return bus.TriggerReply{RunID: past.RunID, Version: 1, Status: job.StatusQueued, Existed: true}, nil
	})
	a, _ := want[RunAccepted](w, http.StatusOK, "POST", "/api/v1/jobs/billing/x/run", map[string]any{"in": "1m", "run_id": job.NewRunID(time.Now())})
	if a.RunID != past.RunID || a.Status != job.StatusSucceeded || !a.Existed || !a.Due.Equal(at) {
		t.Errorf("accepted %+v", a)
	}
}

func TestTimesOfARunThatMakeNoSenseAreRefused(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	asked := waitingOwner(w)
	now := time.Now()
	for _, c := range []struct {
		field string
		body  map[string]any
	}{
		{"in", map[string]any{"at": now, "in": "1h"}},
		{"in", map[string]any{"in": "-1h"}},
		{"in", map[string]any{"in": "367d"}},
		{"at", map[string]any{"at": now.Add(-8 * 24 * time.Hour)}},
		{"at", map[string]any{"at": now.Add(367 * 24 * time.Hour)}},
		{"at", map[string]any{"at": now.Add(time.Hour), "cause": "test"}},
		{"in", map[string]any{"in": "1h", "cause": "test"}},
		{"expires", map[string]any{"expires": "1h", "cause": "test"}},
		{"expires", map[string]any{"expires": "soon"}},
		{"expires", map[string]any{"expires": "-1h"}},
		{"expires", map[string]any{"expires": now.Add(-time.Hour)}},
		{"expires", map[string]any{"in": "2h", "expires": now.Add(time.Hour)}},
		{"expires", map[string]any{"expires": "367d"}},
	} {
		w.problem(400, "invalid", "POST", "/api/v1/jobs/billing/x/run", c.body, fmt.Sprintf(`"field":"%s"`, c.field))
	}
	if len(*asked) > 0 {
		t.Errorf("the owner was asked for %+v", *asked)
	}
}

func TestTooManyRunsThatWaitAreRefusedWithTheLimit(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	owner(w, "trigger", func(bus.TriggerRequest) (bus.TriggerReply, error) {
		return bus.TriggerReply{}, fmt.Errorf("%w: 100000 runs of job billing/x wait", job.ErrTooMany)
	})
	w.problem(429, "too_many", "POST", "/api/v1/jobs/billing/x/run", map[string]any{"in": "1h"}, `"detail":"100000 runs of job billing/x wait"`)
}

func TestRunsThatWaitAreListedOnlyOnRequest(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	now := time.Now().UTC().Truncate(time.Millisecond)
	past := begun("billing/x", now.Add(-time.Hour))
	due := now.Add(time.Hour)
	later := requestedFor("billing/x", due)
	w.history(past, later)
	listed := func(query string, ids ...job.RunID) {
		t.Helper()
		page, _ := want[RunPage](w, http.StatusOK, "GET", "/api/v1/runs"+query, nil)
		var got []job.RunID
		for _, r := range page.Items {
			got = append(got, r.RunID)
		}
		if fmt.Sprint(got) != fmt.Sprint(ids) {
			t.Errorf("%s lists %v, want %v", query, got, ids)
		}
	}
	listed("", past.RunID)
	listed("?job=billing/x&status=queued")
	listed("?waiting=true", later.RunID)
	listed("?waiting=true&job=billing/y")
	listed("?to="+due.Add(time.Minute).Format(time.RFC3339), later.RunID, past.RunID)
	w.problem(400, "invalid", "GET", "/api/v1/runs?waiting=true&status=failed", nil, `"field":"status"`)
	item, _ := want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs?runs=5", nil)
	if last := item.Items[0].LastRuns; len(last) != 1 || last[0].RunID != past.RunID {
		t.Errorf("the last runs are %+v", last)
	}
}

func TestARequestCanWaitForTheEndOfItsRun(t *testing.T) {
	asked := make(chan job.RunID, 100)
	w := newWorld(t, func(_ *Config, w *world) { w.store = &lateHistory{w.store, func(id job.RunID) { asked <- id }} })
	w.put("billing/x", "@daily")
	pendingOwner(w)
	const path = "/api/v1/jobs/billing/x/run"
	go func() {
		run := begun("billing/x", time.Now().Truncate(time.Millisecond))
		run.RunID = <-asked
		end := finished(run, job.StatusFailed, 3, run.At.Add(time.Second))
		_ = w.store.WriteRuns(t.Context(), "", []logstore.Update{run, end}) // else the request waits in vain
	}()
	a, _ := want[RunAccepted](w, http.StatusAccepted, "POST", path+"?wait=25s", nil)
	if a.Status != job.StatusFailed {
		t.Errorf("accepted %+v", a)
	}
	if a, _ := want[RunAccepted](w, http.StatusAccepted, "POST", path+"?wait=1ms", nil); a.Status != job.StatusPending {
		t.Errorf("accepted %+v", a)
	}
	for _, wrong := range []string{"26s", "-1s", "soon"} {
		w.problem(400, "invalid", "POST", path+"?wait="+wrong, nil, `"field":"wait"`)
	}
}
