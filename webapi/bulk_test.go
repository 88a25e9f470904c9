package webapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/bulk"
)

// changeJobs asks for many jobs to be changed, and returns what became of each in short.
func (w *world) changeJobs(body any, headers ...header) (JobBulkResult, []string) {
	w.Helper()
	r, _ := want[JobBulkResult](w, http.StatusOK, "POST", "/api/v1/jobs/bulk", body, headers...)
	var short []string
	for _, item := range r.Items {
		short = append(short, inShort(string(item.Job), item.Result, item.Problem))
	}
	return r, short
}

// changeRuns is changeJobs for runs. names has their names.
func (w *world) changeRuns(names map[job.RunID]string, body any, headers ...header) (RunBulkResult, []string) {
	w.Helper()
	r, _ := want[RunBulkResult](w, http.StatusOK, "POST", "/api/v1/runs/bulk", body, headers...)
	var short []string
	for _, item := range r.Items {
		short = append(short, inShort(names[item.RunID], item.Result, item.Problem))
	}
	return r, short
}

func inShort(name string, result BulkOutcome, problem *Problem) string {
	text := name + " " + string(result)
	if problem != nil {
		text += fmt.Sprintf(" %d %s", problem.Status, problem.Code)
	}
	return text
}

func (w *world) same(what string, expected, got any) {
	w.Helper()
	if diff := cmp.Diff(expected, got); diff != "" {
		w.Errorf("%s: %s", what, diff)
	}
}

func TestManyJobsAreChangedByOneRequest(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	for _, name := range []job.Name{"billing/a", "billing/b", "ops/c"} {
		g.putAs(ann, name)
	}
	want[JobItem](g.world, http.StatusOK, "POST", "/api/v1/jobs/billing/b/pause", nil, ann.headers()...)
	seen := len(ann.entries(""))
	entries := func(n int, operation string) {
		t.Helper()
		list := ann.entries("")
		if len(list) != seen+n {
			t.Fatalf("%d entries, want %d", len(list)-seen, n)
		}
		for _, e := range list[seen:] {
			if e.Operation != operation || e.Group != job.Name(strings.TrimPrefix(e.Object, "job ")).Group() || e.User != "ann" {
				t.Errorf("%+v", e)
			}
		}
		seen = len(list)
	}
	named := []string{"ops/c", "billing/a", "billing/b", "ops/c", "billing/none", "Bad.Name"}
	expected := []string{"ops/c changed", "billing/a changed", "billing/b unchanged", "billing/none refused 404 not_found", "Bad.Name refused 400 invalid"}
	body := map[string]any{"action": "pause", "jobs": named, "note": "flood", "dry_run": true}
	r, got := g.changeJobs(body, ann.headers()...)
	g.same("dry run", expected, got)
	if !r.DryRun || r.Total != 5 || r.Next != "" || r.Items[3].Problem.RequestID == "" {
		t.Errorf("%+v", r)
	}
	entries(0, "")
	if item, _ := want[JobItem](g.world, http.StatusOK, "GET", "/api/v1/jobs/ops/c", nil, ann.headers()...); item.Definition.Paused {
		t.Error("a dry run has paused a job")
	}
	body["dry_run"] = false
	_, got = g.changeJobs(body, ann.headers()...)
	g.same("pause", expected, got)
	entries(2, "pauseJob")
	if item, _ := want[JobItem](g.world, http.StatusOK, "GET", "/api/v1/jobs/ops/c", nil, ann.headers()...); !item.Definition.Paused || item.Definition.Note != "flood" || item.Definition.Author != "ann" {
		t.Errorf("%+v", item.Definition)
	}
	_, got = g.changeJobs(`{"action":"resume","jobs":["ops/c","billing/b"]}`, ann.headers()...)
	g.same("resume", []string{"ops/c changed", "billing/b changed"}, got)
	entries(2, "resumeJob")
	_, got = g.changeJobs(`{"action":"delete","jobs":["ops/c","ops/none"]}`, ann.headers()...)
	g.same("delete", []string{"ops/c changed", "ops/none refused 404 not_found"}, got)
	entries(1, "deleteJob")
	g.problemWith(ann.headers(), 404, "not_found", "GET", "/api/v1/jobs/ops/c", nil)

	// No scheduler node is there to begin runs: whether they were is not known.
	_, got = g.changeJobs(`{"action":"run","jobs":["billing/a"]}`, ann.headers()...)
	g.same("run", []string{"billing/a refused 503 unavailable"}, got)
	entries(1, "runJob")
}

func TestAFilterSelectsTheJobsPageByPage(t *testing.T) {
	w := newWorld(t)
	for _, name := range []job.Name{"billing/a", "billing/b", "billing/c", "ops/a"} {
		w.put(name, "@daily")
	}
	page := func(body string, total int, next string, expected ...string) {
		t.Helper()
		r, got := w.changeJobs(body)
		w.same(body, expected, got)
		if r.Total != total || r.Next != next {
			t.Errorf("%s: total %d, next %q", body, r.Total, r.Next)
		}
	}
	page(`{"action":"pause","filter":{"group":"billing"},"limit":2}`, 3, "billing/b", "billing/a changed", "billing/b changed")
	page(`{"action":"pause","filter":{"group":"billing"},"limit":2,"cursor":"billing/b"}`, 3, "", "billing/c changed")
	page(`{"action":"resume","filter":{"paused":true,"q":"/b"},"dry_run":true}`, 1, "", "billing/b changed")
	page(`{"action":"pause","filter":{}}`, 4, "", "billing/a unchanged", "billing/b unchanged", "billing/c unchanged", "ops/a changed")
	page(`{"action":"delete","filter":{"group":"none"}}`, 0, "")
}

func TestRunsOfManyJobsAreMadeOnceHoweverOftenOneAsks(t *testing.T) {
	w := newWorld(t)
	w.put("billing/a", "@daily")
	w.put("ops/b", "@daily")
	owner(w, "trigger", func(q bus.TriggerRequest) (bus.TriggerReply, error) {
		if q.Cause != job.CauseManual || q.By != "ann" {
			w.Errorf("%+v", q)
		}
		return bus.TriggerReply{RunID: q.RunID, Version: 1, Status: job.StatusPending}, nil
	})
	wanted := job.NewRunID(time.Now())
	body := map[string]any{"action": "run", "jobs": []string{"billing/a", "ops/b"}, "run_id": wanted}
	first, got := w.changeJobs(body, header{"Carillon-User", "ann"})
	w.same("run", []string{"billing/a changed", "ops/b changed"}, got)
	second, _ := w.changeJobs(body, header{"Carillon-User", "ann"})
	w.same("the same runs", first.Items, second.Items)
	if first.Items[0].RunID == first.Items[1].RunID || !first.Items[0].RunID.Time().Equal(wanted.Time()) {
		t.Errorf("%+v", first.Items)
	}
}

func TestEachOfManyThingsIsDecidedByItself(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	for _, name := range []job.Name{"billing/x", "ops/x", "payroll/x"} {
		g.putAs(ann, name)
	}
	bob := ann.person("bob", rights.Access{Role: rights.Operator, Group: "billing"}, rights.Access{Role: rights.Viewer, Group: "ops"})
	seen := len(ann.entries(""))
	all := []string{"billing/x", "ops/x", "payroll/x"}
	for _, dry := range []bool{true, false} {
		_, got := g.changeJobs(map[string]any{"action": "pause", "jobs": all, "dry_run": dry}, bob.headers()...)
		g.same("pause", []string{"billing/x changed", "ops/x refused 403 forbidden", "payroll/x refused 403 forbidden"}, got)
		_, got = g.changeJobs(map[string]any{"action": "delete", "jobs": all, "dry_run": dry}, bob.headers()...)
		g.same("delete", []string{"billing/x refused 403 forbidden", "ops/x refused 403 forbidden", "payroll/x refused 403 forbidden"}, got)
	}
	// A filter selects what one sees.
	_, got := g.changeJobs(`{"action":"resume","filter":{}}`, bob.headers()...)
	g.same("resume", []string{"billing/x changed", "ops/x refused 403 forbidden"}, got)
	if n := len(ann.entries("")); n != seen+2 {
		t.Errorf("%d entries, want 2", n-seen)
	}

	mine, others, hidden := begun("billing/x", noon), begun("ops/x", noon), begun("payroll/x", noon)
	g.history(mine, others, hidden)
	owner(g.world, "cancel", func(q bus.CancelRequest) (bus.CancelReply, error) {
		if q.RunID != mine.RunID || q.By != "bob" {
			t.Errorf("%+v", q)
		}
		return bus.CancelReply{Found: "pending"}, nil
	})
	names := map[job.RunID]string{mine.RunID: "mine", others.RunID: "others", hidden.RunID: "hidden"}
	r, got := g.changeRuns(names, map[string]any{"action": "cancel", "runs": []job.RunID{hidden.RunID, others.RunID, mine.RunID}}, bob.headers()...)
	g.same("cancel", []string{"hidden refused 404 not_found", "others refused 403 forbidden", "mine changed"}, got)
	if item := r.Items[0]; item.Job != "" || item.Status != "" || strings.Contains(item.Problem.Detail, "payroll") {
		t.Errorf("of a run that is not theirs to know they hear %+v %+v", item, item.Problem)
	}
	list := ann.entries("")
	if e := list[len(list)-1]; len(list) != seen+3 || e.Operation != "cancelRun" || e.Object != "run "+string(mine.RunID) || e.Group != "billing" || e.User != "bob" {
		t.Errorf("%d entries, the last %+v", len(list)-seen, e)
	}
	viewer := ann.person("eve", rights.Access{Role: rights.Viewer, Group: "billing"})
	g.problemWith(viewer.headers(), 403, "forbidden", "POST", "/api/v1/jobs/bulk", `{"action":"pause","filter":{},"dry_run":true}`, "operator")
}

func TestManyRunsAreCancelledRetriedAndMarked(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	alive, failed, fine := begun("billing/x", noon), begun("billing/x", noon.Add(time.Hour)), begun("billing/x", noon.Add(2*time.Hour))
	w.history(alive, failed, finished(failed, job.StatusFailed, 0, noon.Add(time.Hour)), fine, finished(fine, job.StatusSucceeded, 0, noon.Add(3*time.Hour)))
	names := map[job.RunID]string{alive.RunID: "alive", failed.RunID: "failed", fine.RunID: "fine"}
	owner(w, "cancel", func(q bus.CancelRequest) (bus.CancelReply, error) {
		if q.Reason != "wrong day" {
			w.Errorf("%+v", q)
		}
		return bus.CancelReply{Found: "pending"}, nil
	})
	owner(w, "trigger", func(q bus.TriggerRequest) (bus.TriggerReply, error) {
		return bus.TriggerReply{RunID: q.RunID, Version: 1, Status: job.StatusPending}, nil
	})
	all := []job.RunID{alive.RunID, failed.RunID, fine.RunID, "none"}
	short := func(what string, body map[string]any, expected ...string) RunBulkResult {
		t.Helper()
		for _, dry := range []bool{true, false} {
			body["dry_run"] = dry
			_, got := w.changeRuns(names, body)
			w.same(what, expected, got)
		}
		r, _ := w.changeRuns(names, body)
		return r
	}
	short("cancel", map[string]any{"action": "cancel", "runs": all, "note": "wrong day"},
		"alive changed", "failed refused 409 conflict", "fine refused 409 conflict", " refused 400 invalid")
	r := short("rerun", map[string]any{"action": "rerun", "runs": all, "key": "k"},
		"alive refused 409 conflict", "failed changed", "fine changed", " refused 400 invalid")
	if item := r.Items[1]; item.RerunRunID != job.RetryRunID(failed.RunID, "k") || item.Job != "billing/x" || item.Status != job.StatusFailed {
		t.Errorf("%+v", item)
	}
	short("mark", map[string]any{"action": "mark", "runs": all, "as": "handled", "note": "seen to"},
		"alive refused 409 conflict", "failed changed", "fine refused 409 conflict", " refused 400 invalid")
	w.ingestMarks()
	if run, _ := want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(failed.RunID), nil); run.Mark == nil || run.Mark.Note != "seen to" {
		t.Errorf("%+v", run.Mark)
	}

	// What a filter leaves open is those that the action is for.
	short("retry what failed", map[string]any{"action": "rerun", "filter": map[string]any{}}, "failed changed")
	short("cancel what is alive", map[string]any{"action": "cancel", "filter": map[string]any{"group": "billing"}, "note": "wrong day"}, "alive changed")
	body := map[string]any{"action": "rerun", "filter": map[string]any{"job": []string{"billing/x"}, "status": []string{"failed", "succeeded"}}, "limit": 1}
	if r := short("a page", body, "fine changed"); r.Next == "" {
		t.Error("there is more, and no next")
	} else {
		body["cursor"] = r.Next
		short("the next page", body, "failed changed")
	}

	// Whoever looks first sees what was run again already.
	look := map[string]any{"action": "rerun", "runs": all, "dry_run": true}
	if looked, _ := w.changeRuns(names, look); looked.Items[1].ReranAs != "" {
		t.Errorf("nothing was run again, and yet %+v", looked.Items[1])
	}
	again := begun("billing/x", failed.RunID.Time())
	again.RunID, again.Cause, again.Parent = r.Items[1].RerunRunID, job.CauseRerun, failed.RunID
	w.history(again)
	if looked, _ := w.changeRuns(names, look); looked.Items[1].ReranAs != again.RunID || looked.Items[2].ReranAs != "" {
		t.Errorf("after one was run again: %+v", looked.Items)
	}
}

func TestARequestForManyThingsMustBeClear(t *testing.T) {
	w := newWorld(t)
	bad := func(path, body string, parts ...string) {
		t.Helper()
		w.problem(400, "invalid", "POST", "/api/v1/"+path+"/bulk", body, parts...)
	}
	bad("jobs", `{}`, "action")
	bad("jobs", `{"action":"pause"}`, `"field":"jobs"`)
	bad("jobs", `{"action":"pause","jobs":["a/b"],"filter":{}}`, `"field":"jobs"`)
	bad("jobs", `{"action":"pause","jobs":[]}`, `"field":"jobs"`)
	bad("jobs", `{"action":"pause","jobs":["a/b"],"cursor":"a/b"}`, `"field":"cursor"`)
	bad("jobs", `{"action":"pause","filter":{},"cursor":"x"}`, `"field":"cursor"`)
	bad("jobs", `{"action":"pause","filter":{"group":"a.*"}}`, `"field":"group"`)
	bad("jobs", `{"action":"pause","filter":{"text":"x"}}`, `"field":"filter.text"`, "is not a known field")
	bad("jobs", `{"action":"explode","jobs":["a/b"]}`, `"field":"action"`)
	bad("jobs", `{"action":"run","jobs":["a/b"],"note":"x"}`, `"field":"note"`)
	bad("jobs", `{"action":"run","jobs":["a/b"],"run_id":"x"}`, `"field":"run_id"`)
	bad("jobs", `{"action":"pause","jobs":["a/b"],"run_id":"`+string(job.NewRunID(noon))+`"}`, `"field":"run_id"`)
	bad("jobs", `{"action":"pause","jobs":[`+strings.Repeat(`"a/b",`, bulk.Most)+`"a/b"]}`, `"field":"jobs"`, "1000")
	bad("runs", `{"action":"cancel"}`, `"field":"runs"`)
	bad("runs", `{"action":"mark","runs":["x"],"note":"x"}`, `"field":"as"`)
	bad("runs", `{"action":"mark","runs":["x"],"as":"handled"}`, `"field":"note"`)
	bad("runs", `{"action":"cancel","runs":["x"],"key":"k"}`, `"field":"key"`)
	bad("runs", `{"action":"cancel","runs":["x"],"note":"`+strings.Repeat("x", 501)+`"}`, `"field":"note"`)
	bad("runs", `{"action":"rerun","runs":["x"],"note":"x"}`, `"field":"note"`)
	bad("runs", `{"action":"cancel","filter":{"status":["done"]}}`, `"field":"filter.status.0"`)
	bad("runs", `{"action":"cancel","filter":{"from":"yesterday"}}`, `"field":"filter.from"`)
	bad("runs", `{"action":"cancel","filter":{},"cursor":"x"}`, `"field":"cursor"`)
}
