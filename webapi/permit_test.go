package webapi

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/webapi/access"
)

var update = flag.Bool("update", false, "write testdata/permits.txt anew")

type persona struct {
	name   string
	access rights.Access
}

// personas are those for whom each operation is tried, in the order of the columns.
// What is asked for is of group billing.
var personas = []persona{
	{"viewer:ops", rights.Access{Role: rights.Viewer, Group: "ops"}},
	{"admin:ops", rights.Access{Role: rights.Admin, Group: "ops"}},
	{"viewer", rights.Access{Role: rights.Viewer, Group: "billing"}},
	{"no-grants", rights.Access{Role: rights.Viewer, Group: "billing", Grants: []rights.Grant{}}},
	{"operator", rights.Access{Role: rights.Operator, Group: "billing"}},
	{"editor", rights.Access{Role: rights.Editor, Group: "billing"}},
	{"admin", rights.Access{Role: rights.Admin, Group: "billing"}},
	{"viewer*", rights.Access{Role: rights.Viewer, Group: rights.Everywhere}},
	{"operator*", rights.Access{Role: rights.Operator, Group: rights.Everywhere}},
	{"editor*", rights.Access{Role: rights.Editor, Group: rights.Everywhere}},
	{"admin*", rights.Access{Role: rights.Admin, Group: rights.Everywhere}},
	{"sql", rights.Access{Role: rights.Viewer, Group: "billing", Grants: []rights.Grant{rights.SQL, rights.Logs, rights.Params}}},
	{"sql*", rights.Access{Role: rights.Viewer, Group: rights.Everywhere, Grants: []rights.Grant{rights.SQL, rights.Logs, rights.Params}}},
	{"signal", rights.Access{Role: rights.Operator, Group: "billing"}}, // by a token for signals only
	{"ping", rights.Access{Role: rights.Operator, Group: "billing"}},   // likewise for pings
	{"start", rights.Access{Role: rights.Operator, Group: "billing"}},  // likewise to run jobs
}

// onlyAsks lists operations that are no GET and change nothing that a person would look for in the audit log.
var onlyAsks = []string{"callTools", "countJobs", "pingJob", "previewCalendar", "previewSchedule", "previewRetention", "querySQL", "readCalendarFile", "readCrontab", "readInvitation", "readXXLJob", "tryAlert"}

// signsIn lists operations that are GET, as browsers are led there, and begin a session.
var signsIn = []string{"finishProviderSignIn"}

// TestEveryRouteAsksForWhatTheTableSays tries every operation of the contract as
// everybody. testdata/permits.txt is the result: reviewing it is reviewing who may do
// what.
func TestEveryRouteAsksForWhatTheTableSays(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	g.putAs(ann, "billing/x")
	run := begun("billing/x", noon)
	g.history(run)
	path := strings.NewReplacer("{group}", "billing", "{name}", "x", "{run_id}", string(run.RunID), "{calendar}", "holidays",
		"{incident}", g.incident("billing"), "{alert}", "a", "{channel}", "c", "{silence}", "s",
		"{user}", "ann", "{session}", "s", "{token}", "t", "{secret}", "s", "{backfill}", "b", "{ping_token}", "t")
	alike := slices.Clone(personas) // and those who must be let through as another is
	alike = append(alike, personas[slices.IndexFunc(personas, func(p persona) bool { return p.name == "admin" })])
	alike[len(personas)].access.Group = "bill*"
	bearers := make([]header, len(alike))
	for i, p := range alike {
		name := fmt.Sprintf("user%d", i)
		body := map[string]any{"access": rights.List{p.access}}
		want[UserItem](g.world, http.StatusCreated, "PUT", "/api/v1/users/"+name, body, ann.headers()...)
		only := rights.Only{}
		if scope := rights.Scope(p.name); slices.Contains(rights.Scopes, scope) {
			only = rights.Only{scope}
		}
		made, _ := want[NewToken](g.world, http.StatusCreated, "POST", "/api/v1/tokens", map[string]any{"name": p.name, "user": name, "only": only}, ann.headers()...)
		bearers[i] = header{"Authorization", "Bearer " + made.Secret}
	}

	// Who is let through meets the check of the parameters, which this one does not pass.
	tried := func(method, template string, headers ...header) string {
		a := g.send(method, path.Replace(template)+"?no_such_parameter=1", nil, headers...)
		switch {
		case a.status == http.StatusBadRequest && strings.Contains(a.text, "no_such_parameter"):
			return "yes"
		case a.status == http.StatusConflict && strings.Contains(a.text, "job_not_elsewhere"): // a ping has any parameters
			return "yes"
		case a.status == http.StatusUnauthorized:
			return "401"
		case a.status == http.StatusForbidden:
			return "403"
		case a.status == http.StatusNotFound:
			return "404"
		}
		t.Errorf("%s %s: %d %s", method, template, a.status, a.text)
		return "?"
	}
	rows := map[string]string{}
	for template, item := range g.server.contract.Doc.Paths.Map() {
		for method, op := range item.Operations() {
			p, known := access.Permits[op.OperationID]
			if !known {
				t.Errorf("operation %s has no row in permits", op.OperationID)
			}
			if asks := method == http.MethodGet && !slices.Contains(signsIn, op.OperationID) || slices.Contains(onlyAsks, op.OperationID); asks != (p.Change == "" && !p.Each) {
				t.Errorf("operation %s: the audit log takes it for a change: %v", op.OperationID, !asks)
			}
			for _, name := range regexp.MustCompile(`{[^}]*}`).FindAllString(p.Change, -1) {
				if !strings.Contains(template, name) {
					t.Errorf("operation %s: its change %q has %s, which its path has not", op.OperationID, p.Change, name)
				}
			}
			var row strings.Builder
			fmt.Fprintf(&row, "%-20s %-10s", op.OperationID, tried(method, template))
			for i, p := range personas {
				passes := tried(method, template, bearers[i])
				fmt.Fprintf(&row, " %-*s", len(p.name), passes)
				if p.name == "admin" {
					if got := tried(method, template, bearers[len(personas)]); got != passes {
						t.Errorf("operation %s: %s for an admin of billing, %s for one of bill*", op.OperationID, passes, got)
					}
				}
			}
			rows[op.OperationID] = strings.TrimRight(row.String(), " ")
		}
	}
	for operation := range access.Permits {
		if rows[operation] == "" {
			t.Errorf("permits has a row for %s, which is no operation", operation)
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%-20s %-10s", "operation", "nobody")
	for _, p := range personas {
		text.WriteString(" " + p.name)
	}
	text.WriteString("\n")
	for _, operation := range slices.Sorted(maps.Keys(rows)) {
		text.WriteString(rows[operation] + "\n")
	}
	table := text.String()
	const file = "testdata/permits.txt"
	if *update {
		g.check(os.MkdirAll("testdata", 0o755))
		g.check(os.WriteFile(file, []byte(table), 0o600))
	}
	before, err := os.ReadFile(file)
	g.check(err)
	if diff := cmp.Diff(string(before), table); diff != "" {
		t.Errorf("who may do what has changed; if it should, run with -update and review:\n%s", diff)
	}
}

func TestListsHaveWhatTheCallerSees(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	for _, name := range []job.Name{"billing/x", "billing/y", "ops/x", "payroll/x"} {
		g.putAs(ann, name)
		g.history(begun(name, noon))
	}
	g.heartbeat("billing", "b1", "online")
	g.heartbeat("ops", "o1", "online")
	bob := ann.person("bob", rights.Access{Role: rights.Viewer, Group: "billing"}, rights.Access{Role: rights.Operator, Group: "pay*"})
	nobody := ann.person("nobody")

	jobs := func(query string, total int, names ...job.Name) {
		t.Helper()
		page, _ := want[JobPage](g.world, http.StatusOK, "GET", "/api/v1/jobs?"+query, nil, bob.headers()...)
		var got []job.Name
		for _, item := range page.Items {
			got = append(got, item.Definition.Job.Job)
		}
		if diff := cmp.Diff(names, got); diff != "" || page.Total != total {
			t.Errorf("%s: total %d; %s", query, page.Total, diff)
		}
	}
	jobs("", 3, "billing/x", "billing/y", "payroll/x")
	jobs("group=ops", 0)
	jobs("q=x", 2, "billing/x", "payroll/x")
	jobs("limit=1", 3, "billing/x")
	counted, _ := want[JobCounts](g.world, http.StatusOK, "POST", "/api/v1/jobs/counts", map[string]any{"filters": []map[string]any{{}, {"group": "ops"}, {"q": "x"}}}, bob.headers()...)
	if diff := cmp.Diff([]*int{new(3), new(0), new(2)}, counted.Totals); diff != "" {
		t.Errorf("how many jobs bob sees: %s", diff)
	}

	runs := func(query string, n int) {
		t.Helper()
		page, _ := want[RunPage](g.world, http.StatusOK, "GET", "/api/v1/runs?"+query, nil, bob.headers()...)
		for _, r := range page.Items {
			if r.Job.Group() == "ops" {
				t.Errorf("%s: %+v", query, r)
			}
		}
		if len(page.Items) != n {
			t.Errorf("%s: %d runs, want %d", query, len(page.Items), n)
		}
	}
	runs("", 3)
	runs("group=ops", 0)
	runs("job=ops/x", 0)
	runs("job=ops/x&job=billing/x", 1)
	counts, _ := want[RunCounts](g.world, http.StatusOK, "GET", "/api/v1/runs/counts?from=2026-01-05T00:00:00Z&to=2026-01-06T00:00:00Z", nil, bob.headers()...)
	if counts.Items[0][job.StatusPending] != 3 {
		t.Errorf("%+v", counts)
	}
	facets, _ := want[RunFacets](g.world, http.StatusOK, "GET", "/api/v1/runs/facets?by=group", nil, bob.headers()...)
	if diff := cmp.Diff([]runlog.FacetValue{{Value: "billing", Count: 2}, {Value: "payroll", Count: 1}}, facets.Items[runlog.ByGroup]); diff != "" {
		t.Errorf("the groups of runs that bob sees: %s", diff)
	}
	groups, _ := want[GroupList](g.world, http.StatusOK, "GET", "/api/v1/groups", nil, bob.headers()...)
	if len(groups.Items) != 2 || groups.Items[0].ExecutorGroup != "billing" || groups.Items[1].ExecutorGroup != "payroll" {
		t.Errorf("%+v", groups)
	}
	fires, _ := want[FirePage](g.world, http.StatusOK, "GET", "/api/v1/fires?to="+tomorrow(), nil, bob.headers()...)
	if len(fires.Items) != 3 {
		t.Errorf("%+v", fires)
	}
	for _, path := range []string{"/api/v1/jobs", "/api/v1/runs", "/api/v1/groups", "/api/v1/nodes", "/metrics", "/api/v1/calendars"} {
		g.problemWith(nobody.headers(), 403, "forbidden", "GET", path, nil, "viewer in some executor group")
	}
}

func TestReportsAreOfGroupsThatTheCallerSees(t *testing.T) {
	g := newGuardedWorld(t)
	ann, day := g.administrator(), yesterday()
	for _, name := range []job.Name{"billing/x", "ops/x"} {
		run := begun(name, day)
		end := finished(run, job.StatusFailed, 0, day.Add(time.Minute))
		end.StartedAt = day
		g.history(run, end)
	}
	bob := ann.person("bob", rights.Access{Role: rights.Viewer, Group: "bill*"})
	blind := ann.person("blind", rights.Access{Role: rights.Viewer, Group: "payroll"})
	q := "?from=" + day.Format(time.RFC3339) + "&to=" + day.Add(time.Hour).Format(time.RFC3339)
	for b, n := range map[*browser]int{ann: 2, bob: 1, blind: 0} {
		o, _ := want[Overview](g.world, http.StatusOK, "GET", "/api/v1/overview"+q, nil, b.headers()...)
		r, _ := want[Report](g.world, http.StatusOK, "GET", "/api/v1/reports/runs"+q+"&by=job", nil, b.headers()...)
		f, _ := want[FailureList](g.world, http.StatusOK, "GET", "/api/v1/reports/failures"+q, nil, b.headers()...)
		failed := 0
		for _, item := range f.Items {
			failed += item.Attempts
		}
		if o.Total.Runs != n || len(o.Failing) != n || len(r.Items) != n || failed != n {
			t.Errorf("somebody sees %d runs, %d jobs and %d failures; want %d", o.Total.Runs, len(r.Items), failed, n)
		}
	}
	g.problemWith(bob.headers(), 403, "forbidden", "POST", "/api/v1/reports/days/2026-01-05/repair", nil, "operator")
}

func TestASearchFindsLinesOfGroupsWhoseLogsTheCallerSees(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	for _, name := range []job.Name{"billing/x", "ops/x", "payroll/x"} {
		run := begun(name, noon)
		g.history(run)
		g.printed(run, 1, 2)
	}
	bob := ann.person("bob", rights.Access{Role: rights.Viewer, Group: "billing"}, rights.Access{Role: rights.Viewer, Group: "payroll", Grants: []rights.Grant{}})
	blind := ann.person("blind", rights.Access{Role: rights.Viewer, Group: "ops", Grants: []rights.Grant{}})
	find := func(b *browser, query string, n int) {
		t.Helper()
		page, _ := want[LogHits](g.world, http.StatusOK, "GET", "/api/v1/logs?"+query, nil, b.headers()...)
		if len(page.Items) != n {
			t.Errorf("%s: %d lines, want %d", query, len(page.Items), n)
		}
		counts, _ := want[LogHistogram](g.world, http.StatusOK, "GET", "/api/v1/logs/histogram?parts=1&from=2026-01-05T12:00:00Z&to=2026-01-05T13:00:00Z&"+query, nil, b.headers()...)
		if counts.Buckets[0].Info != n {
			t.Errorf("%s: %d lines are counted, want %d", query, counts.Buckets[0].Info, n)
		}
	}
	find(ann, "text=line", 6)
	find(ann, "text=line&group=ops", 2)
	find(bob, "text=line", 2)
	find(bob, "text=2&job=billing/x", 1)
	for _, query := range []string{"group=ops", "job=ops/x", "group=payroll", "run_id=" + string(begun("ops/x", noon).RunID)} {
		find(bob, query, 0)
	}
	find(blind, "text=line", 0)
	find(ann.person("kim", rights.Access{Role: rights.Viewer, Group: "bill*"}), "text=line", 2)
}

func TestARunOfAnotherGroupDoesNotExist(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	run := begun("ops/x", noon)
	g.history(run)
	g.printed(run, 1, 3)
	bob := ann.person("bob", rights.Access{Role: rights.Admin, Group: "billing"})
	path := "/api/v1/runs/" + string(run.RunID)
	for _, sub := range []string{"", "/logs", "/logs/tail", "/logs/tail?job=billing/x"} {
		g.problemWith(bob.headers(), 404, "not_found", "GET", path+sub, nil)
	}
	// That the body names a job of one's own group changes nothing: the stored run counts.
	g.problemWith(bob.headers(), 404, "not_found", "POST", path+"/cancel", `{"job":"billing/x"}`)
	unknown := "/api/v1/runs/" + string(job.NewRunID(noon))
	g.problemWith(bob.headers(), 404, "not_found", "GET", unknown, nil)
	g.problemWith(bob.headers(), 404, "not_found", "POST", unknown+"/cancel", `{"job":"ops/x"}`)
	g.problemWith(bob.headers(), 503, "unavailable", "POST", unknown+"/cancel", `{"job":"billing/x"}`) // passed on to the owner
}

func TestAJobIsSavedUnderItsOwnNameOnly(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	g.putAs(ann, "ops/x")
	bob := ann.person("bob", rights.Access{Role: rights.Editor, Group: "billing"})
	g.problemWith(bob.headers(), 400, "invalid", "PUT", "/api/v1/jobs/billing/x", document("ops/x", "@hourly"), "as in the path")
	g.problemWith(bob.headers(), 403, "forbidden", "PUT", "/api/v1/jobs/ops/x", document("billing/x", "@hourly"))
	g.problemWith(bob.headers(), 403, "forbidden", "PUT", "/api/v1/jobs/ops/x", document("ops/x", "@hourly"))
	g.problemWith(bob.headers(), 403, "forbidden", "POST", "/api/v1/jobs/ops/x/run", nil)
}

func TestATailEndsWithTheRightToIt(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	run := begun("billing/x", noon)
	g.history(run, started(run, "w"))
	g.printed(run, 1, 2)
	path := "/api/v1/runs/" + string(run.RunID) + "/logs/tail"
	for _, end := range []func(name string){
		func(name string) {
			want[struct{}](g.world, http.StatusNoContent, "DELETE", "/api/v1/users/"+name, nil, ann.headers()...)
		},
		func(name string) {
			want[struct{}](g.world, http.StatusNoContent, "DELETE", "/api/v1/users/"+name+"/sessions", nil, ann.headers()...)
		},
		func(name string) {
			want[UserItem](g.world, http.StatusOK, "PUT", "/api/v1/users/"+name, `{"access":[{"role":"viewer","group":"billing","grants":[]}]}`, ann.headers()...)
		},
	} {
		bob := ann.person("bob", rights.Access{Role: rights.Viewer, Group: "billing"})
		l := g.listen(path, bob.headers()...)
		l.lines(2)
		end("bob")
		if name, _, data := l.event(); name != "bye" {
			t.Errorf("event %q %s", name, data)
		}
		g.send("DELETE", "/api/v1/users/bob", nil, ann.headers()...)
	}
}

// The lines of a run may come into the store before the run does, more than a page too.
func TestATailOfANewRunHasNoLinesOfAnotherGroup(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	run := begun("ops/x", noon)
	g.printed(run, 1, linesPerPage+1)
	bob := ann.person("bob", rights.Access{Role: rights.Viewer, Group: "billing"})
	l := g.listen("/api/v1/runs/"+string(run.RunID)+"/logs/tail?job=billing/x", bob.headers()...)
	want[struct{}](g.world, http.StatusNoContent, "DELETE", "/api/v1/users/bob", nil, ann.headers()...)
	if name, _, data := l.event(); name != "bye" {
		t.Errorf("event %q %s", name, data)
	}
}

// The ids of fires that are to come can be computed by anybody.
func TestATailOfAFireToComeEndsWithoutAWordWhenItIsAnotherGroups(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	bob := ann.person("bob", rights.Access{Role: rights.Viewer, Group: "billing"})
	run := begun("ops/x", noon)
	tail := "/api/v1/runs/" + string(run.RunID) + "/logs/tail?job=billing/x"
	l := g.listen(tail, bob.headers()...)
	g.history(run, finished(run, job.StatusFailed, 0, noon.Add(time.Minute)))
	g.finish(run, job.StatusFailed, 0)
	if name, _, data := l.event(); name != "bye" {
		t.Errorf("event %q %s", name, data)
	}
	g.problemWith(bob.headers(), 404, "not_found", "GET", tail, nil)
}

// A run of which the body of a request says the job is judged by the job that is asked.
func TestARunIsCancelledUnderAJobThatTheCallerOperates(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	run := begun("billing/x", noon)
	g.history(run)
	asked := make(chan bus.CancelRequest, 10)
	owner(g.world, "cancel", func(q bus.CancelRequest) (bus.CancelReply, error) {
		asked <- q
		return bus.CancelReply{RunID: q.RunID, Found: job.StatusRunning}, nil
	})
	bob := ann.person("bob", rights.Access{Role: rights.Operator, Group: "billing"}, rights.Access{Role: rights.Viewer, Group: "payroll"})
	path := "/api/v1/runs/" + string(run.RunID) + "/cancel"
	g.problemWith(bob.headers(), 404, "not_found", "POST", path, `{"job":"ops/x"}`)
	g.problemWith(bob.headers(), 403, "forbidden", "POST", path, `{"job":"payroll/x"}`)
	want[CancelAccepted](g.world, 202, "POST", path, `{"job":"billing/x"}`, bob.headers()...)
	if q := <-asked; q.Job != "billing/x" || len(asked) > 0 {
		t.Errorf("the owner was asked to cancel a run of %s", q.Job)
	}
}

// Else a run of one group would take the place, in the history, of a fire of another.
func TestNobodyRunsAJobUnderTheIDOfAnotherJobsFire(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	g.putAs(ann, "billing/x")
	asked := make(chan bus.TriggerRequest, 10)
	owner(g.world, "trigger", func(q bus.TriggerRequest) (bus.TriggerReply, error) {
		asked <- q
		return bus.TriggerReply{RunID: q.RunID, Version: 1, Status: job.StatusPending}, nil
	})
	bob := ann.person("bob", rights.Access{Role: rights.Operator, Group: "billing"})
	fire := job.FireRunID("ops/x", time.Now().UnixMilli(), job.CauseSchedule)
	accepted, _ := want[RunAccepted](g.world, 202, "POST", "/api/v1/jobs/billing/x/run", map[string]any{"run_id": fire}, bob.headers()...)
	if q := <-asked; q.RunID == fire || q.RunID != job.WantedRunID("billing/x", fire) || accepted.RunID != q.RunID {
		t.Errorf("asked for run %s, which was accepted as %s", q.RunID, accepted.RunID)
	}
}
