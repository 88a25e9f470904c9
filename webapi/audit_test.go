package webapi

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/trail"
)

// entries returns the audit log as somebody sees it, oldest first.
func (b *browser) entries(query string) []trail.Entry {
	b.Helper()
	page, _ := want[AuditLogPage](b.world, http.StatusOK, "GET", "/api/v1/audit-log?"+query, nil, b.headers()...)
	var list []trail.Entry
	for i := range page.Items {
		list = append(list, page.Items[len(page.Items)-1-i])
	}
	return list
}

func TestEachChangeHasExactlyOneEntry(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	owner(g.world, "trigger", func(q bus.TriggerRequest) (bus.TriggerReply, error) {
		return bus.TriggerReply{RunID: q.RunID, Version: 1, Status: job.StatusPending}, nil
	})
	owner(g.world, "cancel", func(bus.CancelRequest) (bus.CancelReply, error) { return bus.CancelReply{Found: "pending"}, nil })
	run := begun("billing/x", noon)
	g.history(run)
	seen := len(ann.entries(""))
	// f makes a request and wants so many entries of it, the last of them with these words.
	f := func(n, status int, method, path string, body any, words ...string) {
		t.Helper()
		if a := g.send(method, "/api/v1"+path, body, ann.headers()...); a.status != status {
			t.Fatalf("%s %s: %d %s", method, path, a.status, a.text)
		}
		list := ann.entries("")
		if len(list) != seen+n {
			t.Fatalf("%s %s: %d entries, want %d", method, path, len(list)-seen, n)
		}
		seen = len(list)
		text, _ := json.Marshal(list[len(list)-1])
		for _, word := range append(words, `"address":"127.0.0.1"`, `"user":"ann"`) {
			if n > 0 && !strings.Contains(string(text), word) {
				t.Errorf("%s %s: %s has no %s", method, path, text, word)
			}
		}
	}
	const x = "/jobs/billing/x"
	f(1, 201, "PUT", x+"?note=first", document("billing/x", "@daily"), `"how":"session"`, `"operation":"putJob"`, `"object":"job billing/x"`, `"group":"billing"`, `"note":"first"`, `{"field":"schedule.cron","to":"@daily"}`)
	f(0, 200, "PUT", x, document("billing/x", "@daily"))
	f(0, 200, "PUT", x+"?dry_run=true", document("billing/x", "@hourly"))
	f(0, 400, "PUT", x, `{"job":"billing/x"}`)
	f(1, 200, "PUT", x, document("billing/x", "@hourly"), `"changes":[{"field":"schedule.cron","from":"@daily","to":"@hourly"}]`)
	f(1, 200, "POST", x+"/pause", `{"note":"flood"}`, `{"field":"paused","from":false,"to":true}`, "flood")
	f(0, 200, "POST", x+"/pause", nil)
	f(1, 200, "POST", x+"/resume", nil, `"operation":"resumeJob"`)
	f(1, 202, "POST", x+"/run", nil, `"operation":"runJob"`, `"code":"started_run"`)
	f(1, 202, "POST", "/runs/"+string(run.RunID)+"/cancel", `{"reason":"wrong day"}`, `"object":"run `+string(run.RunID), `"group":"billing"`, "wrong day")
	f(1, 200, "PUT", "/pause", `{"paused":true}`, `"object":"global pause"`)
	f(0, 200, "PUT", "/pause", `{"paused":true}`)
	f(1, 200, "PUT", "/calendars/c", `{"calendar":"c","dates":["12-25"]}`, `"object":"calendar c"`, "12-25")
	f(0, 200, "PUT", "/calendars/c", `{"calendar":"c","dates":["12-25"]}`)
	f(1, 204, "DELETE", "/calendars/c", nil)
	f(1, 201, "PUT", "/users/bob", `{"access":[{"role":"viewer","group":"*"}]}`, `"object":"user bob"`, "viewer")
	f(1, 201, "POST", "/users/bob/invite", nil, `"operation":"inviteUser"`)
	f(1, 201, "POST", "/tokens", `{"name":"ci"}`, `"object":"token `, `"ci"`)
	f(1, 204, "DELETE", "/users/bob", nil)
	f(0, 404, "DELETE", "/users/bob", nil)
	f(1, 204, "DELETE", x, nil, `"operation":"deleteJob"`)
	f(0, 404, "DELETE", x, nil)
	f(0, 200, "POST", "/preview", `{"expr":"@daily"}`)
	_, head := want[Me](g.world, http.StatusOK, "PUT", "/api/v1/me/password", map[string]any{"current": password, "password": password}, ann.headers()...)
	ann.takes(head)
	list := ann.entries("")
	if e := list[len(list)-1]; len(list) != seen+1 || e.Operation != "setMyPassword" || e.Object != "user ann" {
		t.Errorf("%d entries more, %+v", len(list)-seen, e)
	}
}

func TestAnEntrySaysHowOneHadSignedInAndHoldsNoSecret(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	made, _ := want[NewToken](g.world, http.StatusCreated, "POST", "/api/v1/tokens", `{"name":"ci"}`, ann.headers()...)
	want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/billing/x", secretJob, header{"Authorization", "Bearer " + made.Secret})
	want[Me](g.world, http.StatusOK, "POST", "/api/v1/sign-in", map[string]any{"user": "ann", "password": password})
	g.problem(401, "unauthenticated", "POST", "/api/v1/sign-in", map[string]any{"user": "ann", "password": "another password"})

	list := ann.entries("object=job")
	if len(list) != 1 || list[0].How != "token" || list[0].Token != made.Token.ID || list[0].User != "ann" {
		t.Errorf("%+v", list)
	}
	if list := ann.entries("operation=signIn"); len(list) != 1 || list[0].User != "ann" || list[0].How != "sign-in" {
		t.Errorf("%+v", list)
	}
	text := g.send("GET", "/api/v1/audit-log", nil, ann.headers()...).text
	for _, secret := range []string{password, "SECRETENV", made.Secret, "argon2"} {
		if strings.Contains(text, secret) {
			t.Errorf("the log has %s", secret)
		}
	}
	if !strings.Contains(text, "SECRETSCRIPT") {
		t.Error("the log does not say what the script is")
	}
}

func TestTheAuditLogIsSearchedPagedAndExported(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	bob := ann.person("bob", rights.Access{Role: rights.Editor, Group: "ops"})
	for _, name := range []job.Name{"billing/a", "billing/b", "cmd/c", "ops/d"} {
		g.putAs(ann, name)
	}
	want[JobItem](g.world, http.StatusOK, "POST", "/api/v1/jobs/ops/d/pause", `{"note":"=1+1"}`, bob.headers()...)
	objects := func(query string, expected ...string) {
		t.Helper()
		got := []string{}
		for _, e := range ann.entries(query) {
			got = append(got, e.Object)
		}
		if diff := cmp.Diff(append([]string{}, expected...), got); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	objects("object=job+&operation=putJob", "job billing/a", "job billing/b", "job cmd/c", "job ops/d")
	objects("group=billing", "job billing/a", "job billing/b")
	objects("user=bob&operation=pauseJob", "job ops/d")
	objects("object=job&limit=2", "job ops/d", "job ops/d")
	objects("to=2026-01-01T00:00:00Z")
	objects("from=" + tomorrow())
	objects("result=unknown")
	g.problemWith(bob.headers(), 403, "forbidden", "GET", "/api/v1/audit-log", nil)
	g.problemWith(bob.headers(), 403, "forbidden", "GET", "/api/v1/audit-log/export", nil)
	g.problemWith(ann.headers(), 400, "invalid", "GET", "/api/v1/audit-log?cursor=x", nil, `"field":"cursor"`)

	var paged []string
	for cursor := ""; ; {
		page, _ := want[AuditLogPage](g.world, http.StatusOK, "GET", "/api/v1/audit-log?limit=2"+cursor, nil, ann.headers()...)
		for _, e := range page.Items {
			paged = append(paged, e.ID)
		}
		if page.Next == "" {
			break
		}
		cursor = "&cursor=" + page.Next
	}
	var exported []string
	a := g.send("GET", "/api/v1/audit-log/export", nil, ann.headers()...)
	for line := range strings.Lines(a.text) {
		var e trail.Entry
		g.check(json.Unmarshal([]byte(line), &e))
		exported = append(exported, e.ID)
	}
	if diff := cmp.Diff(paged, exported); diff != "" || len(paged) < 8 || a.header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("%d entries by pages, %d exported: %s", len(paged), len(exported), diff)
	}
	a = g.send("GET", "/api/v1/audit-log/export?format=csv&object=job", nil, ann.headers()...)
	rows, err := csv.NewReader(strings.NewReader(a.text)).ReadAll()
	if err != nil || len(rows) != 6 || rows[0][1] != "user" || rows[1][1] != "bob" || rows[1][9] != "'=1+1" || rows[5][6] != "job billing/a" {
		t.Errorf("%v %q", err, rows)
	}
}

// Whoever has all rights on NATS cannot make an entry undone.
func TestTheAuditLogCannotBeEdited(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	g.putAs(ann, "billing/x")
	n := len(ann.entries(""))
	stream, err := g.conn.JS.Stream(t.Context(), bus.StreamAudit)
	g.check(err)
	if err := stream.DeleteMsg(t.Context(), 1); err == nil {
		t.Error("an entry was deleted")
	}
	if err := stream.Purge(t.Context()); err == nil {
		t.Error("the log was purged")
	}
	cfg := stream.CachedInfo().Config
	cfg.DenyDelete, cfg.DenyPurge = false, false
	if _, err := g.conn.JS.UpdateStream(t.Context(), cfg); err == nil {
		t.Error("the log can be deleted from now on")
	}
	if got := len(ann.entries("")); got != n {
		t.Errorf("%d entries of %d", got, n)
	}
}

func TestAChangeIsNotMadeUnlessItCanBeRecorded(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	g.putAs(ann, "billing/x")
	g.check(g.conn.JS.DeleteKeyValue(t.Context(), bus.BucketAccess)) // who is signed in is in memory
	a := g.send("POST", "/api/v1/jobs/billing/x/pause", nil, ann.headers()...)
	item, err := g.conn.Jobs().Get(t.Context(), "billing/x")
	if a.status < 500 || err != nil || item.Paused {
		t.Errorf("%d %s; paused %v, %v", a.status, a.text, item.Paused, err)
	}
}
