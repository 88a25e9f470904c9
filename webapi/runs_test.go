package webapi

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

func TestRunsAreListedInPagesAndByFilter(t *testing.T) {
	w := newWorld(t)
	x, y, z := begun("billing/x", noon), begun("orders/y", noon.Add(time.Minute)), begun("billing/z", noon.Add(2*time.Minute))
	w.history(x, y, z, finished(y, job.StatusFailed, 0, noon.Add(time.Hour)))
	list := func(parameters string, expected ...job.RunID) RunPage {
		t.Helper()
		page, _ := want[RunPage](w, http.StatusOK, "GET", "/api/v1/runs?"+parameters, nil)
		var ids []job.RunID
		for _, r := range page.Items {
			ids = append(ids, r.RunID)
		}
		if d := cmp.Diff(expected, ids); d != "" {
			t.Errorf("%s: %s", parameters, d)
		}
		return page
	}
	list("", z.RunID, y.RunID, x.RunID)
	list("group=billing", z.RunID, x.RunID)
	list("job=billing/x&job=orders/y", y.RunID, x.RunID)
	list("status=failed", y.RunID)
	list("status=failed&status=pending&cause=schedule", z.RunID, y.RunID, x.RunID)
	list("cause=manual")
	list("from=2026-01-05T12:01:00Z&to=2026-01-05T12:02:00Z", y.RunID)
	list("from=2026-01-05T13:01:00%2B01:00&to=2026-01-05T12:02:00Z", y.RunID)
	page := list("limit=2", z.RunID, y.RunID)
	if page = list("limit=2&cursor="+page.Next, x.RunID); page.Next != "" {
		t.Errorf("the last page has next %q", page.Next)
	}
}

func TestTestsOfDraftsAreListedAndCountedOnlyWhenAskedFor(t *testing.T) {
	w := newWorld(t)
	run, test := begun("billing/x", noon), begun("billing/x-draft-1", noon.Add(time.Minute))
	test.Cause = job.CauseTest
	w.history(run, test, finished(run, job.StatusFailed, 0, noon.Add(time.Hour)), finished(test, job.StatusFailed, 0, noon.Add(time.Hour)))
	const inRange = "from=2026-01-05T00:00:00Z&to=2026-01-06T00:00:00Z"
	for query, expected := range map[string]int{"": 1, "&cause=test": 1, "&cause=test&cause=schedule": 2} {
		page, _ := want[RunPage](w, http.StatusOK, "GET", "/api/v1/runs?"+inRange+query, nil)
		counts, _ := want[RunCounts](w, http.StatusOK, "GET", "/api/v1/runs/counts?"+inRange+query, nil)
		failures, _ := want[FailureList](w, http.StatusOK, "GET", "/api/v1/reports/failures?"+inRange+query, nil)
		if n, f := counts.Items[0][job.StatusFailed], failures.Items[0].Attempts; len(page.Items) != expected || n != expected || f != expected {
			t.Errorf("with %q %d runs are listed, %d are counted, and %d failed; want %d", query, len(page.Items), n, f, expected)
		}
	}
	facets, _ := want[RunFacets](w, http.StatusOK, "GET", "/api/v1/runs/facets?"+inRange, nil)
	if got := facets.Items[runlog.ByCause]; len(got) != 2 {
		t.Errorf("the causes are %v; want tests beside others", got)
	}
	o, _ := want[Overview](w, http.StatusOK, "GET", "/api/v1/overview?"+inRange, nil)
	if o.Total.Runs != 1 || len(o.Failures) != 1 || o.Failures[0].Attempts != 1 {
		t.Errorf("the overview counts %d runs, and the failures %+v", o.Total.Runs, o.Failures)
	}
}

func TestRunsAreSortedByWhatIsAskedWithinARange(t *testing.T) {
	w := newWorld(t)
	x, y, z := begun("billing/x", noon), begun("orders/y", noon.Add(time.Minute)), begun("billing/z", noon.Add(2*time.Minute))
	w.history(x, y, z, started(x, "i1"), started(y, "i1"), finished(x, job.StatusSucceeded, 0, noon.Add(time.Hour)), finished(y, job.StatusFailed, 0, noon.Add(2*time.Hour)))
	list := func(parameters string, expected ...job.RunID) {
		t.Helper()
		page, _ := want[RunPage](w, http.StatusOK, "GET", "/api/v1/runs?"+parameters, nil)
		var ids []job.RunID
		for _, r := range page.Items {
			ids = append(ids, r.RunID)
		}
		if d := cmp.Diff(expected, ids); d != "" || page.Next != "" {
			t.Errorf("%s, and a next page %q: %s", parameters, page.Next, d)
		}
	}
	const day = "from=2026-01-05T00:00:00Z&to=2026-01-06T00:00:00Z&sort="
	list(day+"-fire_time", z.RunID, y.RunID, x.RunID)
	list(day+"fire_time", x.RunID, y.RunID, z.RunID)
	list(day+"-duration", y.RunID, x.RunID, z.RunID)
	list(day+"duration", x.RunID, y.RunID, z.RunID)
	list(day+"-finished_at&limit=1", y.RunID)
	list(day+"delay&group=billing", x.RunID, z.RunID)
	w.problem(400, "invalid", "GET", "/api/v1/runs?sort=-duration", nil, `"field":"from"`)
	w.problem(400, "invalid", "GET", "/api/v1/runs?sort=-duration&from=2026-01-05T00:00:00Z&to=2026-02-06T00:00:00Z", nil, "at most 31 days")
	w.problem(400, "invalid", "GET", "/api/v1/runs?sort=colour", nil, `"field":"sort"`)
}

func TestLinesAreFoundInPagesAndByFilter(t *testing.T) {
	w := newWorld(t)
	x, y := begun("billing/x", noon), begun("orders/y", noon.Add(time.Minute))
	w.history(x, y)
	w.printed(x, 1, 12)
	w.printed(y, 1, 12)
	find := func(parameters string, expected ...string) LogHits {
		t.Helper()
		page, _ := want[LogHits](w, http.StatusOK, "GET", "/api/v1/logs?"+parameters, nil)
		var hits []string
		for _, l := range page.Items {
			hits = append(hits, fmt.Sprintf("%s:%d", l.Job, l.Seq))
		}
		if d := cmp.Diff(expected, hits); d != "" {
			t.Errorf("%s: %s", parameters, d)
		}
		return page
	}
	find("text=LINE+7", "orders/y:7", "billing/x:7")
	find("text=%22line+7%22&group=billing", "billing/x:7")
	find("text=7&run_id="+string(y.RunID), "orders/y:7")
	find("text=7&from=2026-01-05T12:01:00Z", "orders/y:7")
	find("text=absent")
	find("text=7&level=error")
	page := find("limit=2", "orders/y:12", "orders/y:11")
	find("limit=2&cursor="+page.Next, "orders/y:10", "orders/y:9")
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/logs?text=%22open", nil, "text")
}

func TestLinesAreCountedOverTimeAndByFilter(t *testing.T) {
	w := newWorld(t)
	x, y := begun("billing/x", noon), begun("orders/y", noon.Add(time.Minute))
	w.history(x, y)
	w.printed(x, 1, 12)
	w.printed(y, 1, 12)
	count := func(parameters string, step time.Duration, expected ...int) LogHistogram {
		t.Helper()
		counts, _ := want[LogHistogram](w, http.StatusOK, "GET", "/api/v1/logs/histogram?"+parameters, nil)
		var infos []int
		for _, b := range counts.Buckets {
			infos = append(infos, b.Info)
		}
		if d := cmp.Diff(expected, infos); d != "" || counts.Step != job.Duration(step) || !counts.Complete || !counts.Since.Equal(counts.From) {
			t.Errorf("%s: from %v, since %v, complete %v, a step is %v: %s", parameters, counts.From, counts.Since, counts.Complete, counts.Step, d)
		}
		return counts
	}
	const hour = "from=2026-01-05T12:00:00Z&to=2026-01-05T12:03:00Z&"
	counts := count(hour+"parts=3", time.Minute, 12, 12, 0)
	if at := counts.Buckets[1].At; !at.Equal(noon.Add(time.Minute)) {
		t.Errorf("the second bucket begins at %v", at)
	}
	count(hour+"parts=3&text=7&group=billing", time.Minute, 1, 0, 0)
	count(hour+"parts=1&level=error", 3*time.Minute, 0)
	count("parts=1&to=2026-01-05T12:01:00Z", 7*24*time.Hour, 12)
	count("parts=1&to=2026-01-05T12:01:30Z&run_id="+string(y.RunID), 30*time.Second, 12)
	count("from=2026-01-05T12:00:00Z&to=2026-01-05T12:00:00.002Z&parts=5", time.Millisecond, 12, 0)
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/logs/histogram?text=%22open", nil, "text")
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/logs/histogram?from=1970-01-01T00:00:00Z&to=9999-12-31T00:00:00Z", nil, "to")
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/logs/histogram?from=0001-01-01T00:00:00.001Z&to=2026-01-05T12:00:00Z", nil, "from")
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/logs/histogram?parts=241", nil, "parts")
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/logs/histogram?from=2026-01-05T12:00:00Z&to=2026-01-05T12:00:00Z", nil, "to")
}

func TestARunHasItsAttemptsAndTimeline(t *testing.T) {
	w := newWorld(t)
	x := begun("billing/x", noon)
	w.history(x, finished(started(x, "i1"), job.StatusSucceeded, 3, noon.Add(time.Minute)))
	got, _ := want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(x.RunID), nil)
	if got.Job != "billing/x" || got.Status != job.StatusSucceeded || len(got.Attempts) != 1 || got.Attempts[0].LogLines != 3 || len(got.Changes) < 2 {
		t.Errorf("%+v", got)
	}
}

// An executor that hands out its log slowly, or that died, has more lines stored than its end told.
func TestARunCountsTheLinesThatCameAfterItsEnd(t *testing.T) {
	w := newWorld(t)
	x := begun("billing/x", noon)
	x.Delivery = 2
	end := finished(started(x, "i1"), job.StatusSucceeded, 3, noon.Add(time.Minute))
	w.history(x, end)
	lines := func(expected int) {
		t.Helper()
		got, _ := want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(x.RunID), nil)
		if n := got.Attempts[0].LogLines; n != expected {
			t.Errorf("the run shows %d lines, want %d", n, expected)
		}
	}
	w.printed(x, bus.LogBase(2)+1, bus.LogBase(2)+2)
	lines(3) // the third is on its way, or was deleted
	w.printed(x, bus.LogBase(2)+3, bus.LogBase(2)+7)
	lines(7)
}

// A run in pieces has no instance of its own that could be silent.
func TestARunInPiecesThatRunsIsShownAsRunning(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	x := begun("billing/x", noon)
	x.Total = 2
	piece := started(x, "here")
	piece.Piece = runlog.PieceAt(0)
	gone := started(x, "gone")
	gone.Piece = runlog.PieceAt(1)
	w.history(x, started(x, ""), piece, gone)
	w.heartbeat("billing", "here", fleet.InstanceOnline)
	path := "/api/v1/runs/" + string(x.RunID)
	if r, _ := want[RunDetail](w, http.StatusOK, "GET", path, nil); r.Status != job.StatusRunning || r.Attempts[0].Reason != "" {
		t.Errorf("the run is %+v", r)
	}
	list, _ := want[PieceList](w, http.StatusOK, "GET", path+"/pieces", nil)
	if len(list.Items) != 2 || list.Items[0].Reason != "" || !strings.Contains(string(list.Items[1].Reason), "gone went silent") || list.Counts[job.StatusRunning] != 2 {
		t.Errorf("the pieces are %+v", list)
	}
}

func TestARunOnASilentInstanceSaysThatItWaitsForAnother(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	x, y := begun("billing/x", noon), begun("billing/y", noon)
	w.history(x, started(x, "gone"), y, started(y, "here"))
	w.heartbeat("billing", "here", fleet.InstanceOnline)
	w.heartbeat("orders", "gone", fleet.InstanceOnline) // of the same name, in another group

	silent := func(r Run) {
		t.Helper()
		if r.Status != job.StatusRunning || r.Instance != "gone" || r.Reason != "instance gone went silent; waits for another executor" {
			t.Errorf("%+v", r)
		}
	}
	detail, _ := want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(x.RunID), nil)
	silent(detail.Attempts[0])
	if detail.Status != job.StatusRunning {
		t.Errorf("status %s", detail.Status)
	}
	page, _ := want[RunPage](w, http.StatusOK, "GET", "/api/v1/runs?job=billing/x&status=running", nil)
	silent(page.Items[0])
	if page, _ = want[RunPage](w, http.StatusOK, "GET", "/api/v1/runs?job=billing/x&status=pending", nil); len(page.Items) != 0 {
		t.Errorf("pending are %+v", page.Items)
	}
	item, _ := want[JobItem](w, http.StatusOK, "GET", "/api/v1/jobs/billing/x", nil)
	silent(item.LastRuns[0])
	if here, _ := want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(y.RunID), nil); here.Status != job.StatusRunning || here.Attempts[0].Reason != "" {
		t.Errorf("%+v", here)
	}
}

func TestCancelAsksTheOwnerOfTheShard(t *testing.T) {
	w := newWorld(t)
	x, done := begun("billing/x", noon), begun("billing/y", noon)
	w.history(x, done, finished(done, job.StatusSucceeded, 0, noon.Add(time.Minute)))
	var asked []bus.CancelRequest
	owner(w, "cancel", func(q bus.CancelRequest) (bus.CancelReply, error) {
		asked = append(asked, q)
		return bus.CancelReply{RunID: q.RunID, Found: job.StatusRunning}, nil
	})
	cancel := func(id job.RunID) string { return "/api/v1/runs/" + string(id) + "/cancel" }
	accepted, _ := want[CancelAccepted](w, http.StatusAccepted, "POST", cancel(x.RunID), `{"reason":"wrong day"}`, header{"Carillon-User", "ann"})
	if d := cmp.Diff(CancelAccepted{RunID: x.RunID, Found: job.StatusRunning}, accepted); d != "" {
		t.Error(d)
	}
	w.problem(409, "conflict", "POST", cancel(done.RunID), nil, "has ended already, as succeeded")
	fresh := job.NewRunID(noon)
	w.problem(404, "not_found", "POST", cancel(fresh), nil)
	want[CancelAccepted](w, http.StatusAccepted, "POST", cancel(fresh), `{"job":"billing/z"}`)
	expected := []bus.CancelRequest{{RunID: x.RunID, Job: "billing/x", By: "ann", Reason: "wrong day"}, {RunID: fresh, Job: "billing/z", By: "local"}}
	if d := cmp.Diff(expected, asked); d != "" {
		t.Error(d)
	}
}

func TestARunOfTheHistoryThatNobodyHasCanBeCancelled(t *testing.T) {
	w := newWorld(t)
	x, done := begun("billing/x", noon), begun("billing/y", noon)
	w.history(x, done, finished(done, job.StatusSucceeded, 0, noon.Add(time.Minute)))
	owner(w, "cancel", func(bus.CancelRequest) (bus.CancelReply, error) { return bus.CancelReply{}, job.ErrNotFound })
	cancel := func(id job.RunID) string { return "/api/v1/runs/" + string(id) + "/cancel" }
	accepted, _ := want[CancelAccepted](w, http.StatusAccepted, "POST", cancel(x.RunID), `{"job":"billing/x","reason":"wrong day"}`, header{"Carillon-User", "ann"})
	if accepted.Found != job.StatusPending { // its instance is silent
		t.Errorf("it was found %s", accepted.Found)
	}
	w.problem(409, "conflict", "POST", cancel(done.RunID), `{"job":"billing/y"}`, "has ended already, as succeeded")
	w.problem(404, "not_found", "POST", cancel(x.RunID), `{"job":"billing/z"}`)
	m, err := w.conn.Last(w.Context(), bus.StreamEvt, bus.SubjectEvent(job.Name("billing/x").Shard(w.conn.Cluster().Shards), "billing"))
	w.check(err)
	e, err := w.conn.Tokens().DecodeEvent(m.Subject, m.Header, m.Data, time.Now(), w.conn.Cluster().Shards)
	w.check(err)
	if e.RunID != x.RunID || e.Status != job.StatusCancelled || e.Message != "cancelled by ann: wrong day" {
		t.Errorf("stored: %+v", e)
	}
}

func TestLogsAreReadInRanges(t *testing.T) {
	w := newWorld(t)
	x := begun("billing/x", noon)
	w.history(x)
	w.printed(x, 1, 5)
	logs := "/api/v1/runs/" + string(x.RunID) + "/logs"
	read := func(parameters, lines string, next int64) {
		t.Helper()
		page, _ := want[LogPage](w, http.StatusOK, "GET", logs+parameters, nil)
		var got []string
		for _, l := range page.Items {
			got = append(got, strings.TrimPrefix(l.Text, "line "))
		}
		if strings.Join(got, " ") != lines || page.NextSeq != next {
			t.Errorf("%s: %v next %d, want %s next %d", parameters, got, page.NextSeq, lines, next)
		}
	}
	read("", "1 2 3 4 5", 0)
	read("?limit=2", "1 2", 3)
	read("?limit=2&from_seq=3", "3 4", 5)
	read("?limit=2&from_seq=5", "5", 0)
	read("?limit=2&tail=true", "4 5", 0)
	read("?attempt=2", "", 0)
	read("?level=error", "", 0)
	read("?level=info&level=error&limit=1", "1", 2)

	a := w.send("GET", logs+"?limit=2", nil, header{"Accept", "text/plain"})
	if a.text != "line 1\nline 2\n" || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
		t.Errorf("as text: %q %s", a.text, a.header.Get("Content-Type"))
	}
}

func TestRunsAreExportedAsTheyAreListed(t *testing.T) {
	w := newWorld(t)
	x, y := begun("billing/x", noon), begun("orders/y", noon.Add(time.Minute))
	w.history(x, y, finished(y, job.StatusFailed, 0, noon.Add(time.Hour)))
	listed, _ := want[RunPage](w, http.StatusOK, "GET", "/api/v1/runs", nil)
	var exported []Run
	a := w.send("GET", "/api/v1/runs/export", nil)
	for line := range strings.Lines(a.text) {
		var r Run
		w.check(json.Unmarshal([]byte(line), &r))
		exported = append(exported, r)
	}
	if len(exported) != 2 || exported[0].RunID != listed.Items[0].RunID || exported[1].RunID != listed.Items[1].RunID || a.header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("exported %+v as %s, listed %+v", exported, a.header.Get("Content-Type"), listed.Items)
	}
	rows := func(query string, n int) [][]string {
		t.Helper()
		a := w.send("GET", "/api/v1/runs/export?format=csv"+query, nil)
		rows, err := csv.NewReader(strings.NewReader(a.text)).ReadAll()
		w.check(err)
		if len(rows) != n+1 || rows[0][0] != "run_id" {
			t.Errorf("%s: %q", query, rows)
		}
		return rows
	}
	rows("", 2)
	rows("&group=nobody", 0)
	if row := rows("&status=failed&status=lost&job=orders/y&from=2026-01-05T12:00:00Z", 1)[1]; row[1] != "orders/y" || row[4] != "failed" || row[7] != "2026-01-05T12:01:00.000Z" {
		t.Errorf("row %q", row)
	}
	w.problem(400, "invalid", "GET", "/api/v1/runs/export?format=xml", nil, `"field":"format"`)
	w.problem(400, "invalid", "GET", "/api/v1/runs/export?job=x", nil, `"field":"job"`)
	w.problem(400, "invalid", "GET", "/api/v1/runs/export?cursor=x", nil, "not a parameter")
}
