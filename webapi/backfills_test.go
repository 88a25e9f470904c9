package webapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/backfill"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/logstore"
)

// missed has jobs miss the first two of the fires of the seconds since the newest was saved, and returns the first.
func (w *world) missed(since time.Time, names ...job.Name) time.Time {
	w.Helper()
	first := since.Truncate(time.Second).Add(time.Second)
	for _, name := range names {
		var updates []logstore.Update
		for i := range 2 {
			u := begun(name, first.Add(time.Duration(i)*time.Second))
			u.Status, u.Reason = job.StatusMissed, "for a reason"
			updates = append(updates, u)
		}
		ran := begun(name, first.Add(2*time.Second))
		w.history(append(updates, ran, finished(ran, job.StatusSucceeded, 0, first.Add(3*time.Second)))...)
	}
	w.decide(first.Add(3 * time.Second))
	owner(w, bus.VerbBackfills, func(journal.BackfillsRequest) (journal.BackfillList, error) { return journal.BackfillList{}, nil })
	return first
}

// inShortPlan returns what would run of each job, or why nothing would.
func inShortPlan(r *BulkBackfillResult) (short []string) {
	for i := range r.Items {
		p := &r.Items[i]
		text := fmt.Sprintf("%s %d", p.Job, p.Fires)
		if p.Problem != nil {
			text += fmt.Sprintf(" %d %s", p.Problem.Status, p.Problem.Detail)
		}
		short = append(short, text)
	}
	return short
}

func TestABackfillOfManyJobsTakesThoseThatHaveFiresAndSaysWhyOfTheOthers(t *testing.T) {
	w := newWorld(t)
	for _, name := range []job.Name{"billing/x", "billing/y", "billing/paused", "ops/z"} {
		w.put(name, "* * * * * ?")
	}
	want[JobItem](w, http.StatusOK, "POST", "/api/v1/jobs/billing/paused/pause", nil)
	want[Pause](w, http.StatusOK, "PUT", "/api/v1/groups/ops/pause", `{"paused":true}`)
	first := w.missed(w.put("billing/never", "0 0 1 1 *").Definition.EffectiveFrom, "billing/x", "billing/y", "billing/paused", "ops/z")
	body := func(more string) string {
		return fmt.Sprintf(`{"name":"nightly again","from":%q,"to":%q%s}`, first.Format(time.RFC3339Nano), first.Add(3*time.Second).Format(time.RFC3339Nano), more)
	}
	const jobs = `,"jobs":["billing/y","billing/x","billing/x","billing/none","billing/paused","billing/never","ops/z"]`
	expected := []string{
		"billing/never 0 409 no fire of this range is selected", "billing/none 0 404 job billing/none", "billing/paused 0 409 the job is paused",
		"billing/x 2", "billing/y 2", "ops/z 0 409 executor group ops is paused",
	}
	const path = "/api/v1/backfills"
	plan, _ := want[BulkBackfillResult](w, http.StatusOK, "POST", path+"?dry_run=true", body(jobs))
	w.same("dry run", expected, inShortPlan(&plan))
	if o := plan.Items[3].Others; len(o) != 1 || o[0].Outcome != "ran" || o[0].Fires != 1 || plan.Fires != 4 || plan.Backfill != nil {
		t.Errorf("%+v", plan)
	}
	if list, _ := want[BulkBackfillList](w, http.StatusOK, "GET", path, nil); len(list.Items) != 0 {
		t.Errorf("a dry run has made %+v", list)
	}
	made, _ := want[BulkBackfillResult](w, http.StatusOK, "POST", path, body(jobs+`,"id":"b","at_once":2,"note":"the outage"`))
	w.same("jobs", expected, inShortPlan(&made))
	b := made.Backfill
	if b == nil || b.ID != "b" || len(b.Jobs) != 2 || b.AtOnce != 2 || b.By != "local" || b.Events[0].Note != "the outage" || b.Jobs[0].State != backfill.Waiting {
		t.Fatalf("%+v", made)
	}
	again, _ := want[BulkBackfillResult](w, http.StatusOK, "POST", path, body(jobs+`,"id":"b"`))
	if again.Backfill == nil || !again.Backfill.CreatedAt.Equal(b.CreatedAt) {
		t.Errorf("%+v", again)
	}
	list, _ := want[BulkBackfillList](w, http.StatusOK, "GET", path, nil)
	if len(list.Items) != 1 || list.Items[0].Jobs != 2 || list.Items[0].Fires != 4 {
		t.Errorf("%+v", list)
	}
	w.problem(409, "conflict", "POST", path, body(`,"jobs":["billing/never"]`), "none of the jobs has a fire to run")
	w.problem(400, "invalid", "POST", path, body(``), "jobs", "filter")
	w.problem(400, "invalid", "POST", path, body(jobs+`,"filter":{}`), "jobs", "filter")
	w.problem(400, "invalid", "POST", path, strings.Replace(body(jobs), "nightly again", " ", 1), "name")
	w.problem(400, "invalid", "POST", path, body(jobs+`,"id":"Not one"`), "id")
	w.problem(400, "invalid", "POST", path, body(jobs+`,"at_once":101`), "at_once")
	w.problem(400, "invalid", "POST", path, `{"name":"years","jobs":["billing/x"],"from":"2024-01-01T00:00:00Z","to":"2026-01-01T00:00:00Z"}`, "to", "2208h")
	w.problem(400, "invalid", "POST", path, `{"name":"ahead","jobs":["billing/x"],"from":"2026-01-01T00:00:00Z","to":"9999-01-01T00:00:00Z"}`, "to")
}

func TestABackfillOfManyJobsIsPausedResumedAndCancelled(t *testing.T) {
	w := newWorld(t)
	first := w.missed(w.put("billing/x", "* * * * * ?").Definition.EffectiveFrom, "billing/x")
	const path = "/api/v1/backfills"
	want[BulkBackfillResult](w, http.StatusOK, "POST", path, map[string]any{"id": "b", "name": "n", "from": first, "to": first.Add(3 * time.Second), "filter": map[string]any{"where": []string{"group:billing"}}})
	_, err := cluster.BackfillsOf(w.conn).Edit(t.Context(), "b", func(b *backfill.Bulk) (bool, error) { return b.Begin(time.Now().UTC()), nil })
	w.check(err)
	owner(w, bus.VerbBackfills, func(journal.BackfillsRequest) (journal.BackfillList, error) {
		return journal.BackfillList{Backfills: []job.Backfill{{ID: "b-1", AskedAt: noon, AtOnce: 1, Total: 2, Begun: 1, Alive: 1}}}, nil
	})
	act := func(verb string, state backfill.State, acts ...backfill.Act) {
		t.Helper()
		b, _ := want[BulkBackfill](w, http.StatusOK, "POST", path+"/b/"+verb, `{"note":"because"}`)
		var did []backfill.Act
		for _, e := range b.Events {
			did = append(did, e.Act)
		}
		if b.Jobs[0].State != state || !slices.Equal(did, acts) {
			t.Errorf("%s: %+v", verb, b)
		}
	}
	act("pause", backfill.Stopping, "created", "paused")
	act("pause", backfill.Stopping, "created", "paused")
	act("resume", backfill.Stopping, "created", "paused", "resumed")
	act("cancel", backfill.Stopping, "created", "paused", "resumed", "cancelled")
	w.problem(409, "conflict", "POST", path+"/b/retry", nil, "backfill b has ended, or was cancelled")
	w.problem(404, "not_found", "POST", path+"/none/pause", nil)
	w.problem(404, "not_found", "GET", path+"/none", nil)
}

func TestFailedRunsOfABackfillOfManyJobsRunAgain(t *testing.T) {
	w := newWorld(t)
	first := w.missed(w.put("billing/x", "* * * * * ?").Definition.EffectiveFrom, "billing/x")
	const path = "/api/v1/backfills"
	want[BulkBackfillResult](w, http.StatusOK, "POST", path, map[string]any{"id": "b", "name": "n", "from": first, "to": first.Add(3 * time.Second), "jobs": []string{"billing/x"}})
	ends := func(made backfill.Made) {
		t.Helper()
		_, err := cluster.BackfillsOf(w.conn).Edit(t.Context(), "b", func(b *backfill.Bulk) (bool, error) {
			now := time.Now().UTC()
			b.Begin(now)
			b.Settle(0, made, "", now)
			return true, nil
		})
		w.check(err)
	}
	w.problem(409, "conflict", "POST", path+"/b/retry", nil)
	ends(backfill.Made{Begun: 2, Succeeded: 1, Failed: 1})
	b, _ := want[BulkBackfill](w, http.StatusOK, "POST", path+"/b/retry", `{"note":"the disk has room"}`)
	last := b.Events[len(b.Events)-1]
	if p := b.Jobs[0]; p.State != backfill.Waiting || p.Round != 2 || last.Act != backfill.Retried || last.Note != "the disk has room" || !b.EndedAt.IsZero() {
		t.Errorf("%+v", b)
	}
	ends(backfill.Made{Begun: 2, Succeeded: 2})
	w.problem(409, "conflict", "POST", path+"/b/retry", nil)
}

func TestABackfillOfManyJobsAsksForARightInEachGroup(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	for _, name := range []job.Name{"billing/x", "ops/z"} {
		g.putAs(ann, name)
	}
	owner(g.world, bus.VerbBackfills, func(journal.BackfillsRequest) (journal.BackfillList, error) { return journal.BackfillList{}, nil })
	g.decide(time.Now())
	as := func(user string, access ...rights.Access) []header {
		want[UserItem](g.world, http.StatusCreated, "PUT", "/api/v1/users/"+user, map[string]any{"access": rights.List(access)}, ann.headers()...)
		made, _ := want[NewToken](g.world, http.StatusCreated, "POST", "/api/v1/tokens", map[string]any{"name": user, "user": user}, ann.headers()...)
		return []header{{"Authorization", "Bearer " + made.Secret}}
	}
	bob := as("bob", rights.Access{Role: rights.Operator, Group: "billing"}, rights.Access{Role: rights.Viewer, Group: "ops"})
	eve := as("eve", rights.Access{Role: rights.Operator, Group: "audit"})
	const path = "/api/v1/backfills"
	now := time.Now().UTC()
	body := map[string]any{"name": "n", "jobs": []string{"billing/x", "ops/z"}, "from": now.Add(-48 * time.Hour), "to": now.Add(-time.Hour), "only": "all"}
	plan, _ := want[BulkBackfillResult](g.world, http.StatusOK, "POST", path+"?dry_run=true", body, bob...)
	got := inShortPlan(&plan)
	if len(got) != 2 || plan.Items[0].Fires == 0 || got[1] != "ops/z 0 403 this needs the role operator in group ops" {
		t.Fatalf("%v", got)
	}
	body["id"] = "b"
	before := len(ann.entries(""))
	want[BulkBackfillResult](g.world, http.StatusOK, "POST", path, body, ann.headers()...)
	if list := ann.entries(""); len(list) != before+1 || list[before].Object != "backfill b" || list[before].Operation != "createBulkBackfill" {
		t.Errorf("%+v", list[before:])
	}
	if b, _ := want[BulkBackfill](g.world, http.StatusOK, "GET", path+"/b", nil, bob...); len(b.Jobs) != 2 {
		t.Errorf("%+v", b)
	}
	g.problemWith(bob, 403, "forbidden", "POST", path+"/b/pause", nil, "operator in group ops")
	g.problemWith(eve, 404, "not_found", "GET", path+"/b", nil)
	g.problemWith(eve, 404, "not_found", "POST", path+"/b/cancel", nil)
	if list, _ := want[BulkBackfillList](g.world, http.StatusOK, "GET", path, nil, eve...); len(list.Items) != 0 {
		t.Errorf("%+v", list)
	}
	want[BulkBackfill](g.world, http.StatusOK, "POST", path+"/b/pause", nil, ann.headers()...)
}
