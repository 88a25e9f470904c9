package webapi

import (
	"net/http"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

func TestARuleIsTriedOnTheRunsThatTheCallerSees(t *testing.T) {
	w := newWorld(t)
	noted := func(name job.Name, ago time.Duration, status job.Status) {
		at := time.Now().UTC().Truncate(time.Millisecond).Add(-ago)
		r := begun(name, at)
		w.history(r, finished(started(r, "i1"), status, 0, at.Add(time.Minute)))
	}
	noted("billing/x", 3*time.Hour, job.StatusFailed)
	noted("billing/x", 2*time.Hour, job.StatusSucceeded)
	noted("billing/x", time.Hour, job.StatusFailed)
	noted("orders/y", time.Hour, job.StatusFailed)
	noted("billing/x", 8*24*time.Hour, job.StatusFailed)
	try := func(rule string) AlertTrial {
		t.Helper()
		trial, _ := want[AlertTrial](w, http.StatusOK, "POST", "/api/v1/alerts/try", rule)
		return trial
	}
	all := try(`{"alert":"a","when":{},"channels":[]}`)
	if all.Total != 3 || all.Runs != 4 || len(all.Items) != 3 || !all.Items[0].ResolvedAt.IsZero() {
		t.Errorf("got %+v", all)
	}
	if one := try(`{"alert":"a","when":{},"match":{"groups":["billing"]},"channels":["nobody"]}`); one.Total != 2 || one.Items[1].ResolvedAt.IsZero() {
		t.Errorf("got %+v", one)
	}
	w.problem(http.StatusBadRequest, "invalid", "POST", "/api/v1/alerts/try", `{"alert":"a","when":{"stream_full":80},"channels":[]}`, `"field":"when"`)
	list, _ := want[AlertList](w, http.StatusOK, "GET", "/api/v1/alerts/rules", nil)
	if len(list.Items) != 0 {
		t.Errorf("%d rules were saved", len(list.Items))
	}
}
