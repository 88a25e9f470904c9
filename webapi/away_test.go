package webapi

import (
	"net/http"
	"testing"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// What the bus would add to it is left out: the page of a run that goes on is what people
// look at when something is wrong.
func TestTheHistoryIsShownWhileTheBusIsAway(t *testing.T) {
	w := newWorld(t, hasty)
	w.put("billing/x", "@daily")
	running, waiting, manual := begun("billing/x", noon), begun("billing/y", noon), begun("billing/z", noon)
	manual.Cause = job.CauseManual
	w.history(running, started(running, "w"), waiting, manual, finished(started(manual, "w"), job.StatusSucceeded, 0, noon))
	w.heartbeat("billing", "w", fleet.InstanceOnline)
	want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs", nil) // the jobs are loaded by then
	w.broker.Stop()

	page, _ := want[RunPage](w, http.StatusOK, "GET", "/api/v1/runs", nil)
	if len(page.Items) != 3 {
		t.Errorf("%+v", page.Items)
	}
	for run, status := range map[job.RunID]job.Status{running.RunID: job.StatusRunning, waiting.RunID: job.StatusPending, manual.RunID: job.StatusSucceeded} {
		if got, _ := want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(run), nil); got.Status != status {
			t.Errorf("run %s is %s, want %s", run, got.Status, status)
		}
		want[LogPage](w, http.StatusOK, "GET", "/api/v1/runs/"+string(run)+"/logs", nil)
	}
	for _, path := range []string{"/overview", "/runs/facets", "/logs?text=x"} {
		if a := w.send("GET", "/api/v1"+path, nil); a.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.status, a.text)
		}
	}
	jobs, _ := want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs", nil)
	if len(jobs.Items) != 1 || len(jobs.Items[0].LastRuns) != 1 || jobs.Items[0].LastRuns[0].Status != job.StatusRunning {
		t.Errorf("%+v", jobs.Items)
	}
	w.problem(503, "unavailable", "POST", "/api/v1/jobs/billing/x/run", nil)
}

// A server that falls silent is noticed by its missing answers to pings only, after some seconds.
func TestTheHistoryDoesNotWaitForABusThatFellSilent(t *testing.T) {
	w := newWorld(t, hasty)
	running, waiting, manual := begun("billing/x", noon), begun("billing/y", noon), begun("billing/z", noon)
	manual.Cause = job.CauseManual
	w.history(running, started(running, "w"), waiting, manual, finished(started(manual, "w"), job.StatusSucceeded, 0, noon))
	w.broker.Partition("api")

	page, _ := want[RunPage](w, http.StatusOK, "GET", "/api/v1/runs", nil)
	if len(page.Items) != 3 {
		t.Errorf("%+v", page.Items)
	}
	if got, _ := want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(manual.RunID), nil); got.Status != job.StatusSucceeded {
		t.Errorf("run %s is %s", manual.RunID, got.Status)
	}
}
