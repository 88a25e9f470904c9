package webapi

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// requestedFor is the record of a run that was requested for a later time.
func requestedFor(name job.Name, due time.Time) logstore.Update {
	now := time.Now().UTC().Truncate(time.Millisecond)
	return logstore.Update{
		Kind: runlog.KindRecorded, RunID: job.LaterRunID(job.NewRunID(now), due.UnixMilli()), Job: name, Version: 1, Attempt: 1,
		Cause: job.CauseAPI, At: now, Status: job.StatusQueued, Reason: "it waits until " + due.Format(time.RFC3339),
	}
}

func TestRequestedRunsAreForecast(t *testing.T) {
	w := newWorld(t)
	w.schedule("billing/b", map[string]any{"cron": "*/20 * * * *"})
	w.schedule("mail/reminder", map[string]any{})
	w.schedule("mail/other", map[string]any{})
	at := func(minute int) time.Time { return time.Date(2036, 1, 5, 12, minute, 0, 0, time.UTC) }
	first, second, end, other := requestedFor("mail/reminder", at(10)), requestedFor("mail/reminder", at(50)), requestedFor("mail/reminder", at(60)), requestedFor("mail/other", at(20))
	w.history(end, second, other, first, requestedFor("mail/reminder", at(0)), requestedFor("mail/reminder", at(61)))
	listed := func(parameters string, runs ...logstore.Update) {
		t.Helper()
		page, _ := want[FirePage](w, http.StatusOK, "GET", "/api/v1/fires?"+nextYear+parameters, nil)
		wanted := []RequestedRun{}
		for _, r := range runs {
			wanted = append(wanted, RequestedRun{RunID: r.RunID, Job: r.Job, FireTime: r.RunID.Time()})
		}
		if page.Requested == nil {
			t.Fatalf("%s tells no requested runs", parameters)
		}
		if d := cmp.Diff(wanted, page.Requested.Runs); d != "" || page.Requested.Hours != nil {
			t.Errorf("%s: %s", parameters, d)
		}
	}
	listed("&requested=true", first, other, second, end)
	listed("&requested=true&q=REMIND", first, second, end)
	listed("&requested=true&q=nothing")
	listed("&requested=true&group=billing")
	for _, parameters := range []string{"", "&requested=true&cursor=billing/a"} {
		if page, _ := want[FirePage](w, http.StatusOK, "GET", "/api/v1/fires?"+nextYear+parameters, nil); page.Requested != nil {
			t.Errorf("%q tells %+v", parameters, page.Requested)
		}
	}
	counted := func(parameters string, n ...int) {
		t.Helper()
		got, _ := want[FireCounts](w, http.StatusOK, "GET", "/api/v1/fires/counts?parts=2&"+nextYear+parameters, nil)
		if !slices.Equal(got.Requested, n) || got.Jobs > 1 {
			t.Errorf("%s counts %v of %d jobs; want %v", parameters, got.Requested, got.Jobs, n)
		}
	}
	counted("&requested=true", 2, 2)
	counted("&requested=true&group=billing", 0, 0)
	counted("")
	p, _ := want[Preview](w, http.StatusOK, "GET", "/api/v1/jobs/mail/other/preview?requested=true", nil)
	if p.Requested == nil || len(p.Requested.Runs) != 0 { // more than 366 days ahead
		t.Errorf("the preview tells %+v", p.Requested)
	}
	p, _ = want[Preview](w, http.StatusOK, "GET", "/api/v1/jobs/mail/other/preview?requested=true&from=2036-01-05T00:00:00Z", nil)
	if p.Requested == nil || len(p.Requested.Runs) != 1 || p.Requested.Runs[0].RunID != other.RunID {
		t.Errorf("the preview tells %+v", p.Requested)
	}
}

func TestManyRequestedRunsAreCountedByTheHour(t *testing.T) {
	w := newWorld(t)
	w.schedule("mail/reminder", map[string]any{})
	var all []logstore.Update
	for i := range 1001 {
		all = append(all, requestedFor("mail/reminder", time.Date(2036, 1, 5, 12, 50+i%20, i/20, 0, time.UTC)))
	}
	w.history(all...)
	page, _ := want[FirePage](w, http.StatusOK, "GET", "/api/v1/fires?requested=true&from=2036-01-05T11:30:00Z&to=2036-01-06T11:30:00Z", nil)
	noon := time.Date(2036, 1, 5, 12, 0, 0, 0, time.UTC)
	hours := []RequestedHour{{From: noon, Runs: 501}, {From: noon.Add(time.Hour), Runs: 500}}
	if d := cmp.Diff(&RequestedRuns{Runs: []RequestedRun{}, Hours: hours}, page.Requested); d != "" {
		t.Error(d)
	}
}

func TestTheForecastDoesNotNeedTheLogStore(t *testing.T) {
	w := newWorld(t)
	w.schedule("billing/b", map[string]any{"cron": "*/20 * * * *"})
	w.history(requestedFor("billing/b", time.Date(2036, 1, 5, 12, 10, 0, 0, time.UTC)))
	w.check(w.store.Close())
	page, _ := want[FirePage](w, http.StatusOK, "GET", "/api/v1/fires?requested=true&"+nextYear, nil)
	counts, _ := want[FireCounts](w, http.StatusOK, "GET", "/api/v1/fires/counts?requested=true&"+nextYear, nil)
	p, _ := want[Preview](w, http.StatusOK, "GET", "/api/v1/jobs/billing/b/preview?requested=true", nil)
	if len(page.Items) != 1 || page.Requested != nil || counts.Counts[0] != 3 || counts.Requested != nil || len(p.Fires) != 10 || p.Requested != nil {
		t.Errorf("without the log store: %+v, %+v, %+v", page, counts, p)
	}
}
