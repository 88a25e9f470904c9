package webapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/trail"
)

const (
	patchPath = "/api/v1/jobs/patch"
	patchDry  = patchPath + "?dry_run=true"
)

// patchJobs asks for many jobs to be patched, and returns in short what became of each.
func (w *world) patchJobs(path string, body any, headers ...header) (JobPatchResult, []string) {
	w.Helper()
	r, _ := want[JobPatchResult](w, http.StatusOK, "POST", path, body, headers...)
	var short []string
	for _, item := range r.Items {
		said := []string{inShort(string(item.Job), item.Result, item.Problem)}
		if item.Problem == nil {
			said = append(said, fmt.Sprintf("v%d", item.Version))
		}
		for _, c := range item.Changes {
			said = append(said, fmt.Sprintf("%s:%v>%v", c.Field, c.From, c.To))
		}
		if item.Problem != nil {
			for _, e := range item.Problem.Errors {
				said = append(said, e.Field)
			}
		}
		short = append(short, strings.Join(said, " "))
	}
	return r, short
}

// versioned returns a request that patches jobs as a dry run has shown them.
func versioned(body map[string]any, dry JobPatchResult) map[string]any {
	targets := []map[string]any{}
	for _, item := range dry.Items {
		if item.Result == BulkOutcomeChanged {
			targets = append(targets, map[string]any{"job": item.Job, "version": item.Version})
		}
	}
	asked := maps.Clone(body)
	delete(asked, "filter")
	asked["jobs"] = targets
	return asked
}

func targetsOf(names ...job.Name) (targets []map[string]any) {
	for _, name := range names {
		targets = append(targets, map[string]any{"job": name})
	}
	return targets
}

// sameEntry compares an entry with what was changed and the versions of each job.
func (w *world) sameEntry(e trail.Entry, group string, expected ...string) {
	w.Helper()
	var got []string
	for _, c := range e.Changes {
		got = append(got, fmt.Sprintf("%s:%v>%v", c.Field, c.From, c.To))
	}
	w.same("entry", expected, got)
	if e.Operation != "patchJobs" || e.Object != "jobs" || e.Group != group || e.Result != trail.Done {
		w.Errorf("%+v", e)
	}
}

func TestFieldsOfManyJobsAreChangedAsReviewedAndUndone(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	for _, name := range []job.Name{"billing/a", "billing/b", "ops/c"} {
		g.putAs(ann, name)
	}
	seen := len(ann.entries(""))
	last := func(n int) trail.Entry {
		t.Helper()
		list := ann.entries("")
		if seen += n; len(list) != seen {
			t.Fatalf("%d entries, want %d", len(list), seen)
		}
		return list[len(list)-1]
	}
	body := map[string]any{"filter": map[string]any{"group": "billing"}, "note": "slow disk", "patch": map[string]any{"timeout": "10m", "target": map[string]any{"start_delay": "5m"}, "schedule": map[string]any{"zone": "Europe/Berlin"}}}
	dry, got := g.patchJobs(patchDry, body, ann.headers()...)
	const fields = " schedule.zone:UTC>Europe/Berlin target.start_delay:<nil>>5m timeout:<nil>>10m"
	expected := []string{"billing/a changed v1" + fields, "billing/b changed v1" + fields}
	g.same("dry run", expected, got)
	if !dry.DryRun || dry.Change != "" {
		t.Errorf("%+v", dry)
	}
	last(0)

	made, got := g.patchJobs(patchPath, versioned(body, dry), ann.headers()...)
	g.same("change", []string{"billing/a changed v2" + fields, "billing/b changed v2" + fields}, got)
	entry := last(1)
	g.sameEntry(entry, "billing", "schedule.zone:UTC>Europe/Berlin", "target.start_delay:<nil>>5m", "timeout:<nil>>10m", "billing/a:1>2", "billing/b:1>2")
	for query, of := range map[string]int{"job=billing/a": 2, "job=billing/a&operation=patchJobs": 1, "job=billing/": 0, "job=ops/c": 1} {
		if n := len(ann.entries(query)); n != of {
			t.Errorf("%s: %d entries, want %d", query, n, of)
		}
	}
	if made.Change != entry.ID || entry.Note != "slow disk" || entry.User != "ann" {
		t.Errorf("%+v of %+v", made, entry)
	}
	item, _ := want[JobItem](g.world, http.StatusOK, "GET", "/api/v1/jobs/billing/a", nil, ann.headers()...)
	if d := item.Definition; d.Version != 2 || d.Note != "slow disk" || d.Author != "ann" || d.Schedule.Zone != "Europe/Berlin" || d.Schedule.Cron != "@daily" {
		t.Errorf("%+v", d)
	}
	if _, got = g.patchJobs(patchPath, body, ann.headers()...); got[0] != "billing/a unchanged v2" {
		t.Errorf("again: %s", got)
	}
	last(0)

	// One has a newer version: it keeps that, and the other goes back.
	want[JobItem](g.world, http.StatusOK, "POST", "/api/v1/jobs/billing/b/pause", nil, ann.headers()...)
	last(1)
	g.moveAudit(seen) // its entry is read where it is
	if n := len(ann.entries("job=billing/b")); n != 3 {
		t.Errorf("%d entries of a job that was saved, changed with others and paused", n)
	}
	undo := map[string]any{"undo": made.Change}
	_, got = g.patchJobs(patchDry, undo, ann.headers()...)
	const back = " schedule.zone:Europe/Berlin>UTC target.start_delay:5m><nil> timeout:10m><nil>"
	g.same("undo, dry", []string{"billing/a changed v2" + back, "billing/b refused 409 conflict"}, got)
	undone, got := g.patchJobs(patchPath, undo, ann.headers()...)
	g.same("undo", []string{"billing/a changed v3" + back, "billing/b refused 409 conflict"}, got)
	if why := undone.Items[1].Problem.Detail; why != "job billing/b has version 3 by now, saved by ann" {
		t.Error(why)
	}
	g.sameEntry(last(1), "billing", "schedule.zone:Europe/Berlin>UTC", "target.start_delay:5m><nil>", "timeout:10m><nil>", "billing/a:2>3")
	versions, _ := want[VersionList](g.world, http.StatusOK, "GET", "/api/v1/jobs/billing/a/versions", nil, ann.headers()...)
	if diff := cmp.Diff(versions.Items[2].Job, versions.Items[0].Job, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	// An undone change is undone as any other.
	_, got = g.patchJobs(patchPath, map[string]any{"undo": undone.Change}, ann.headers()...)
	g.same("redo", []string{"billing/a changed v4" + fields}, got)
	for _, id := range []string{"none", strings.Repeat("0", 20), entry.ID[:len(entry.ID)-1], ann.entries("")[0].ID} {
		g.problemWith(ann.headers(), 404, "not_found", "POST", patchPath, map[string]any{"undo": id}, "no such change")
	}
}

func TestAJobThatWasChangedSinceTheReviewIsRefused(t *testing.T) {
	w := newWorld(t)
	w.put("ops/a", "@daily")
	w.put("ops/b", "@daily")
	body := map[string]any{"jobs": targetsOf("ops/a", "ops/b", "ops/a", "ops/none", "Bad.Name"), "patch": map[string]any{"owner": "night"}}
	dry, got := w.patchJobs(patchDry, body)
	w.same("dry run", []string{"ops/a changed v1 owner:<nil>>night", "ops/b changed v1 owner:<nil>>night", "ops/none refused 404 not_found", "Bad.Name refused 400 invalid job"}, got)
	_, got = w.patchJobs(patchPath, map[string]any{"jobs": targetsOf("ops/b"), "patch": map[string]any{"owner": "day"}}, header{"Carillon-User", "bob"})
	w.same("meanwhile", []string{"ops/b changed v2 owner:<nil>>day"}, got)
	r, got := w.patchJobs(patchPath, versioned(body, dry))
	w.same("change", []string{"ops/a changed v2 owner:<nil>>night", "ops/b refused 409 conflict"}, got)
	if why := r.Items[1].Problem.Detail; why != "job ops/b has version 2 by now, saved by bob" {
		t.Error(why)
	}
	_, got = w.patchJobs(patchPath, map[string]any{"jobs": targetsOf("ops/a"), "patch": map[string]any{"owner": nil}})
	w.same("a removed field", []string{"ops/a changed v3 owner:night><nil>"}, got)
}

func TestAPatchThatSomeJobsCannotHaveIsSavedToTheOthers(t *testing.T) {
	w := newWorld(t)
	w.put("ops/a", "@daily")
	w.put("ops/manual", "@daily")
	want[PutJobResult](w, http.StatusOK, "PUT", "/api/v1/jobs/ops/manual", map[string]any{"job": "ops/manual", "delivery": "at_most_once", "task": map[string]any{"shell": "x"}, "params": json.RawMessage(`{"b":12345678901234567890,"a":{"deep":1}}`)})
	_, got := w.patchJobs(patchPath, `{"filter":{},"patch":{"max_deliveries":2}}`)
	w.same("deliveries", []string{"ops/a changed v2 max_deliveries:<nil>>2", "ops/manual refused 400 invalid max_deliveries"}, got)
	_, got = w.patchJobs(patchPath, `{"jobs":[{"job":"ops/manual"}],"patch":{"params":{"a":{"deep":null,"more":[1]}}}}`)
	w.same("params", []string{`ops/manual changed v3 params:map[a:map[deep:1] b:1.2345678901234567e+19]>map[a:map[more:[1]] b:1.2345678901234567e+19]`}, got)
	if a := w.send("GET", "/api/v1/jobs/ops/manual", nil); !strings.Contains(a.text, `"b":12345678901234567890`) {
		t.Error(a.text)
	}
	_, got = w.patchJobs(patchPath, `{"filter":{},"patch":{"schedule":{"only":["none"]}}}`)
	w.same("calendar", []string{"ops/a refused 400 invalid schedule.only", "ops/manual refused 400 invalid schedule.only"}, got)
}

func TestWhatIsPausedStaysPausedUnlessThePatchSaysSo(t *testing.T) {
	w := newWorld(t)
	w.put("ops/a", "@daily")
	want[JobItem](w, http.StatusOK, "POST", "/api/v1/jobs/ops/a/pause", nil)
	_, got := w.patchJobs(patchPath, `{"filter":{},"patch":{"owner":"night"}}`)
	w.same("owner", []string{"ops/a changed v3 owner:<nil>>night"}, got)
	made, got := w.patchJobs(patchPath, `{"filter":{},"patch":{"paused":false}}`)
	w.same("resume", []string{"ops/a changed v4 paused:true><nil>"}, got)
	_, got = w.patchJobs(patchPath, map[string]any{"undo": made.Change})
	w.same("undo", []string{"ops/a changed v5 paused:<nil>>true"}, got)
}

func TestAPatchNeedsInEachGroupWhatASaveNeeds(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	for _, name := range []job.Name{"billing/x", "ops/x", "payroll/x"} {
		body := document(name, "@daily")
		body["params"], body["task"] = map[string]any{"key": 7}, map[string]any{"shell": "echo secret", "env": map[string]string{"PASSWORD": "pw"}}
		want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/"+string(name), body, ann.headers()...)
	}
	bob := ann.person("bob", rights.Access{Role: rights.Editor, Group: "billing", Grants: []rights.Grant{}}, rights.Access{Role: rights.Operator, Group: "ops"})
	made, got := g.patchJobs(patchPath, `{"filter":{},"patch":{"timeout":"5m"}}`, bob.headers()...)
	g.same("by filter", []string{"billing/x changed v2 timeout:<nil>>5m", "ops/x refused 403 forbidden"}, got)
	_, got = g.patchJobs(patchPath, `{"jobs":[{"job":"payroll/x"},{"job":"billing/x"}],"patch":{"params":{"key":8}}}`, bob.headers()...)
	g.same("what is hidden", []string{"payroll/x refused 403 forbidden", "billing/x refused 403 forbidden"}, got)
	item, _ := want[JobItem](g.world, http.StatusOK, "GET", "/api/v1/jobs/billing/x", nil, ann.headers()...)
	if d := item.Definition; string(d.Params) != `{"key":7}` || d.Task.Env["PASSWORD"] != "pw" || d.Task.Shell != "echo secret" {
		t.Errorf("what is hidden was changed: %+v", d)
	}
	g.problemWith(ann.person("eve", rights.Access{Role: rights.Operator, Group: "ops"}).headers(), 403, "forbidden", "POST", patchDry, `{"filter":{},"patch":{"timeout":"5m"}}`, "editor")

	// Whoever is an editor of the jobs may undo, though the entry is for others to see; but not what is hidden from them.
	all, got := g.patchJobs(patchPath, `{"filter":{},"patch":{"timeout":"7m","task":{"env":{"PASSWORD":"new"}}}}`, ann.headers()...)
	if len(got) != 3 || !strings.HasPrefix(got[0], "billing/x changed v3") {
		t.Fatal(got)
	}
	g.moveAudit(len(ann.entries("")))
	if e := ann.entries("operation=patchJobs"); strings.Contains(fmt.Sprint(e), "pw") || strings.Contains(fmt.Sprint(e), "new") || e[1].Group != "" || e[0].Group != "billing" {
		t.Errorf("%+v", e)
	}
	r, got := g.patchJobs(patchPath, map[string]any{"undo": all.Change}, bob.headers()...)
	g.same("undo", []string{"billing/x refused 403 forbidden", "ops/x refused 403 forbidden"}, got)
	if why := r.Items[0].Problem.Detail; !strings.Contains(why, "may not see") {
		t.Error(why)
	}
	_, got = g.patchJobs(patchPath, map[string]any{"undo": made.Change}, bob.headers()...)
	g.same("undo of what has a newer version", []string{"billing/x refused 409 conflict"}, got)
	g.problemWith(ann.person("stranger", rights.Access{Role: rights.Editor, Group: "other"}).headers(), 404, "not_found", "POST", patchPath, map[string]any{"undo": all.Change})
}

func TestAPatchMustBeClear(t *testing.T) {
	w := newWorld(t)
	w.put("ops/a", "@daily")
	bad := func(body any, parts ...string) {
		t.Helper()
		for _, path := range []string{patchPath, patchDry} {
			w.problem(400, "invalid", "POST", path, body, parts...)
		}
	}
	bad(`{"filter":{}}`, "patch", "must be an object with fields")
	bad(`{"filter":{},"patch":{}}`, "patch", "must be an object with fields")
	bad(`{"filter":{},"patch":[]}`, "patch")
	bad(`{"filter":{},"patch":{"timout":"5m"}}`, `"patch.timout"`, "write timeout")
	bad(`{"filter":{},"patch":{"schedule":{"crons":"5m"}}}`, `"patch.schedule.crons"`, "write cron")
	bad(`{"filter":{},"patch":{"job":"ops/b"}}`, `"patch.job"`, "cannot be changed")
	bad(`{"patch":{"owner":"x"}}`, `"jobs"`)
	bad(`{"filter":{},"jobs":[{"job":"ops/a"}],"patch":{"owner":"x"}}`, `"jobs"`)
	bad(`{"undo":"x","patch":{"owner":"x"}}`, `"undo"`)
	bad(map[string]any{"filter": map[string]any{}, "patch": map[string]any{"params": strings.Repeat("x", 64<<10)}}, `"patch"`, "at most 65536")
	bad(`{"filter":{},"patch":{"params":`+strings.Repeat(`{"a":`, 100)+`1`+strings.Repeat(`}`, 100)+`}}`, `"patch"`, "64 levels")
	many := make([]job.Name, 10_000)
	for i := range many {
		many[i] = job.Name(fmt.Sprintf("ops/j%d", i))
	}
	bad(map[string]any{"jobs": targetsOf(many...), "patch": map[string]any{"owner": "x"}}, "10000", "at most 500")
	if _, got := w.patchJobs(patchPath, `{"filter":{"group":"none"},"patch":{"owner":"x"}}`); len(got) != 0 {
		t.Error(got)
	}
}

func TestAFilterThatSelectsTooManyJobsIsRefusedWithTheirNumber(t *testing.T) {
	w := newWorld(t)
	for i := range 501 {
		w.put(job.Name(fmt.Sprintf("ops/j%03d", i)), "@daily")
	}
	w.problem(400, "invalid", "POST", patchPath, `{"filter":{},"patch":{"owner":"x"}}`, "filter", "selects 501 jobs; at most 500")
	r, got := w.patchJobs(patchPath, `{"filter":{"q":"ops/j0"},"patch":{"owner":"x"}}`)
	if len(got) != 100 || got[99] != "ops/j099 changed v2 owner:<nil>>x" || r.Change == "" {
		t.Errorf("%d: %s", len(got), got[len(got)-1])
	}
}
