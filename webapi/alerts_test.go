package webapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/alert"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/seal"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// incident has an alerter find a run of a group that failed, and returns the id of the
// incident.
func (g *guardedWorld) incident(group string) string {
	g.Helper()
	rule := alerting.RuleDocument{Rule: alerting.Rule{Alert: "of-" + group, Match: alerting.Match{Groups: []string{group}}}}
	_, _, _, err := g.handlers().book.PutRule(g.Context(), rule, cluster.Edit{At: time.Now().Add(-time.Minute)})
	g.check(err)
	a, err := alert.New(g.conn, alert.Config{})
	g.check(err)
	ctx, cancel := context.WithCancel(g.Context())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	defer func() { cancel(); g.check(<-done) }()

	name := job.Name(group + "/x")
	e := bus.EventOf(&bus.Trigger{
		RunID: job.FireRunID(name, noon.UnixMilli(), job.CauseSchedule), Job: name, Version: 1, Shard: name.Shard(shards), Attempt: 1,
		Cause: job.CauseSchedule, FireTime: noon, CommittedAt: noon,
	}, bus.EventFinished, time.Now())
	e.Status, e.Message = job.StatusFailed, "it said no"
	m, err := bustest.Event(g.conn.Tokens(), e)
	g.check(err)
	w, err := g.conn.Watch(ctx, bus.BucketAlert, []string{"incident.>"}, false, 0)
	g.check(err)
	defer func() { g.check(w.Stop()) }()
	_, err = g.conn.JS.PublishMsg(ctx, m)
	g.check(err)
	for range w.Updates() {
		list, err := g.handlers().book.Incidents(ctx, func(inc *alerting.Incident) bool { return inc.Group == group })
		g.check(err)
		if len(list) > 0 {
			return list[0].ID
		}
	}
	g.Fatal("no incident")
	return ""
}

func (g *guardedWorld) handlers() *handlers { return g.server.handlers }

func TestARuleIsSavedReadChangedAndDeleted(t *testing.T) {
	w := newWorld(t)
	const path = "/api/v1/alerts/rules/nightly"
	w.problem(400, "invalid", "PUT", path, `{"alert":"nightly","channels":["mail"]}`, `is not a channel; make it first`)
	want[ChannelItem](w, http.StatusOK, "PUT", "/api/v1/alerts/channels/mail", `{"channel":"mail","kind":"webhook","url":"https://example.org"}`)
	item, a := want[AlertItem](w, http.StatusOK, "PUT", path, `{"alert":"nightly","match":{"groups":["billing"]},"when":{"in_a_row":3},"channels":["mail"],"repeat":"4h"}`)
	if item.Definition.When.InARow != 3 || len(item.Definition.When.Ends) != 4 || item.Definition.Severity != alerting.Warning {
		t.Errorf("saved as %+v", item)
	}
	tag := a.Get("ETag")
	if read, a := want[AlertItem](w, http.StatusOK, "GET", path, nil); a.Get("ETag") != tag || read.Definition.When.InARow != 3 {
		t.Errorf("read %+v with %s, saved with %s", read, a.Get("ETag"), tag)
	}
	want[AlertItem](w, http.StatusOK, "PUT", path, `{"alert":"nightly","channels":[],"disabled":true}`, header{"If-Match", tag})
	w.problemWith([]header{{"If-Match", tag}}, 412, "precondition_failed", "PUT", path, `{"alert":"nightly","channels":[]}`)
	w.problem(400, "invalid", "PUT", path, `{"alert":"other","channels":[]}`, "as in the path")
	w.problem(400, "invalid", "PUT", path, `{"alert":"nightly","when":{"stream_full":101},"channels":[]}`, "when.stream_full")
	list, _ := want[AlertList](w, http.StatusOK, "GET", "/api/v1/alerts/rules", nil)
	if len(list.Items) != 1 || !list.Items[0].Definition.Disabled {
		t.Errorf("list %+v", list)
	}
	want[struct{}](w, http.StatusNoContent, "DELETE", path, nil)
	w.problem(404, "not_found", "GET", path, nil)
}

func TestAChannelHasALanguageAndAZone(t *testing.T) {
	w := newWorld(t)
	const path = "/api/v1/alerts/channels/chat"
	item, _ := want[ChannelItem](w, http.StatusOK, "PUT", path, `{"channel":"chat","kind":"slack"}`)
	if item.Definition.Language != alerting.English || item.Definition.Zone != "UTC" {
		t.Errorf("by default %+v", item.Definition)
	}
	item, _ = want[ChannelItem](w, http.StatusOK, "PUT", path, `{"channel":"chat","kind":"slack","language":"zh","zone":"Asia/Shanghai"}`)
	if item.Definition.Language != alerting.Chinese || item.Definition.Zone != "Asia/Shanghai" {
		t.Errorf("saved as %+v", item.Definition)
	}
	w.problem(400, "invalid", "PUT", path, `{"channel":"chat","kind":"slack","language":"cn"}`, `language \"cn\" must be one of [en zh]`)
	w.problem(400, "invalid", "PUT", path, `{"channel":"chat","kind":"slack","zone":"Peking"}`, `zone \"Peking\" must be a time zone such as`)
}

func TestASentenceComesWithItsCode(t *testing.T) {
	w := newWorld(t)
	want[AlertItem](w, http.StatusOK, "PUT", "/api/v1/alerts/rules/clocks-wrong", alert.Defaults()[4])
	if item, _ := want[AlertItem](w, http.StatusOK, "GET", "/api/v1/alerts/rules/clocks-wrong", nil); item.AboutCode != "rule_clocks_wrong" {
		t.Errorf("the built-in rule is %+v", item)
	}
	want[ChannelItem](w, http.StatusOK, "PUT", "/api/v1/alerts/channels/chat", `{"channel":"chat","kind":"slack"}`)
	inc, err := alert.NewStore(w.conn).Test(t.Context(), "chat", "mia")
	w.check(err)
	got, _ := want[Incident](w, http.StatusOK, "GET", "/api/v1/alerts/incidents/"+inc.ID, nil)
	if got.SummaryCode != "channel_test" || got.SummaryParams["by"] != "mia" || got.Summary != "This is a test of channel chat, sent by mia" || got.ResolutionCode != "was_test" {
		t.Errorf("the incident is %+v", got)
	}
	list, _ := want[DeliveryList](w, http.StatusOK, "GET", "/api/v1/alerts/deliveries", nil)
	if len(list.Items) != 1 || list.Items[0].SummaryCode != "channel_test" || list.Items[0].SummaryParams["channel"] != "chat" {
		t.Errorf("the deliveries are %+v", list)
	}
}

func TestASecretOfAChannelIsNeverReturned(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *world) { c.MasterKey = seal.NewMaster().Text() })
	const path = "/api/v1/alerts/channels/chat"
	item, _ := want[ChannelItem](w, http.StatusOK, "PUT", path, `{"channel":"chat","kind":"slack"}`)
	if len(item.Missing) != 1 || item.Missing[0] != "url" {
		t.Errorf("missing %v", item.Missing)
	}
	w.problem(400, "invalid", "PUT", path+"/secrets/url", `{"value":"ftp://x"}`, "https://")
	w.problem(400, "invalid", "PUT", path+"/secrets/routing_key", `{"value":"x"}`, "is not one that a channel of kind slack has")
	item, _ = want[ChannelItem](w, http.StatusOK, "PUT", path+"/secrets/url", `{"value":"https://example.org/T0/s3cret"}`)
	if len(item.Missing) != 0 || len(item.Secrets) != 1 {
		t.Errorf("answer %+v", item)
	}
	for _, read := range []string{path, "/api/v1/alerts/channels", "/api/v1/audit-log"} {
		if a := w.send("GET", read, nil); a.status != http.StatusOK || strings.Contains(a.text, "s3cret") {
			t.Errorf("%s: %d %s", read, a.status, a.text)
		}
	}
	want[struct{}](w, http.StatusNoContent, "DELETE", path+"/secrets/url", nil)
	w.problem(404, "not_found", "DELETE", path+"/secrets/url", nil)
	want[struct{}](w, http.StatusNoContent, "DELETE", path, nil)
	w.problem(404, "not_found", "GET", path, nil)
}

func TestATestOfAChannelSaysWhatCameOfIt(t *testing.T) {
	w := newWorld(t)
	heard := make(chan string, 1)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { heard <- r.Header.Get("Carillon-Event") }))
	defer hook.Close()
	want[ChannelItem](w, http.StatusOK, "PUT", "/api/v1/alerts/channels/ops", map[string]any{"channel": "ops", "kind": "webhook", "url": hook.URL})
	a, err := alert.New(w.conn, alert.Config{Allow: []string{strings.TrimPrefix(hook.URL, "http://")}})
	w.check(err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	defer func() { cancel(); w.check(<-done) }()
	inc, _ := want[Incident](w, http.StatusOK, "POST", "/api/v1/alerts/channels/ops/test", nil)
	if len(inc.Deliveries) != 1 || inc.Deliveries[0].State != "sent" || <-heard != "test" {
		t.Errorf("the test came to %+v", inc)
	}
	w.problem(404, "not_found", "POST", "/api/v1/alerts/channels/none/test", nil)
}

func TestAChannelSaysWhetherMessagesGetThrough(t *testing.T) {
	w := newWorld(t)
	answer := make(chan int, 1)
	hook := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(<-answer) }))
	defer hook.Close()
	const path = "/api/v1/alerts/channels/ops"
	put, _ := want[ChannelItem](w, http.StatusOK, "PUT", path, map[string]any{"channel": "ops", "kind": "webhook", "url": hook.URL})
	if diff := cmp.Diff(alerting.Health{}, put.Health); diff != "" {
		t.Errorf("a channel without a message: %s", diff)
	}
	a, err := alert.New(w.conn, alert.Config{Allow: []string{strings.TrimPrefix(hook.URL, "http://")}})
	w.check(err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	defer func() { cancel(); w.check(<-done) }()
	after := func(status int) alerting.Health {
		t.Helper()
		answer <- status
		want[Incident](w, http.StatusOK, "POST", path+"/test", nil)
		item, _ := want[ChannelItem](w, http.StatusOK, "GET", path, nil)
		list, _ := want[ChannelList](w, http.StatusOK, "GET", "/api/v1/alerts/channels", nil)
		if diff := cmp.Diff(item, list.Items[0]); diff != "" {
			t.Errorf("read and listed: %s", diff)
		}
		return item.Health
	}
	if h := after(http.StatusOK); h.SentAt.IsZero() || h.Failures != 0 {
		t.Errorf("after a message got through: %+v", h)
	}
	after(http.StatusInternalServerError)
	h := after(http.StatusBadGateway)
	if h.Failures != 2 || h.SentAt.IsZero() || !h.TriedAt.After(h.SentAt) || h.ReasonCode != "answered" || h.Answer.Status != "502 Bad Gateway" {
		t.Errorf("after two that did not: %+v", h)
	}
	if h := after(http.StatusOK); h.Failures != 0 || h.Reason != "" {
		t.Errorf("after one got through again: %+v", h)
	}
}

func TestAServerWithoutKeyTakesNoSecretOfAChannel(t *testing.T) {
	w := newWorld(t)
	want[ChannelItem](w, http.StatusOK, "PUT", "/api/v1/alerts/channels/chat", `{"channel":"chat","kind":"slack"}`)
	w.problem(409, "conflict", "PUT", "/api/v1/alerts/channels/chat/secrets/url", `{"value":"https://example.org"}`, "carillon secret keygen")
}

func TestIncidentsAreForThoseWhoSeeTheirGroup(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	id := g.incident("ops")
	mine := g.incident("billing")
	bob := ann.person("bob", rights.Access{Role: rights.Operator, Group: "billing"}, rights.Access{Role: rights.Viewer, Group: "payroll"})
	if u, _ := want[UserItem](g.world, http.StatusOK, "GET", "/api/v1/users/bob", nil, ann.headers()...); u.User != "bob" || len(u.Access) != 2 {
		t.Errorf("bob is %+v", u)
	}
	page, _ := want[IncidentPage](g.world, http.StatusOK, "GET", "/api/v1/alerts/incidents", nil, bob.headers()...)
	if len(page.Items) != 1 || page.Items[0].ID != mine || page.Items[0].Seen != nil {
		t.Errorf("bob sees %+v", page)
	}
	g.problemWith(bob.headers(), 404, "not_found", "GET", "/api/v1/alerts/incidents/"+id, nil)
	g.problemWith(bob.headers(), 404, "not_found", "POST", "/api/v1/alerts/incidents/"+id+"/acknowledge", nil)
	if inc, _ := want[Incident](g.world, http.StatusOK, "GET", "/api/v1/alerts/incidents/"+mine, nil, bob.headers()...); inc.ID != mine {
		t.Errorf("read %+v", inc)
	}
	inc, _ := want[Incident](g.world, http.StatusOK, "POST", "/api/v1/alerts/incidents/"+mine+"/acknowledge", `{"note":"on it"}`, bob.headers()...)
	if inc.AcknowledgedBy != "bob" || inc.Note != "on it" {
		t.Errorf("acknowledged %+v", inc)
	}
	in := func(state string) int {
		g.Helper()
		page, _ := want[IncidentPage](g.world, http.StatusOK, "GET", "/api/v1/alerts/incidents?state="+state, nil, bob.headers()...)
		return len(page.Items)
	}
	snooze := "/api/v1/alerts/incidents/" + mine + "/snooze"
	inc, _ = want[Incident](g.world, http.StatusOK, "POST", snooze, `{"for":"2h","note":"tomorrow"}`, bob.headers()...)
	if left := time.Until(inc.SnoozedUntil); inc.SnoozedBy != "bob" || inc.Note != "tomorrow" || left < time.Hour || left > 2*time.Hour {
		t.Errorf("incident snoozed by %q for %v: %q", inc.SnoozedBy, left, inc.Note)
	}
	if got := []int{in("open"), in("firing"), in("acknowledged"), in("snoozed"), in("resolved")}; !slices.Equal(got, []int{1, 0, 0, 1, 0}) {
		t.Errorf("snoozed, incidents by state: %v", got)
	}
	g.problemWith(bob.headers(), 400, "invalid", "POST", snooze, `{"for":"1000h"}`)
	g.problemWith(bob.headers(), 404, "not_found", "POST", "/api/v1/alerts/incidents/"+id+"/snooze", `{"for":"2h"}`)
	want[Incident](g.world, http.StatusOK, "POST", snooze, `{"for":"0s"}`, bob.headers()...)
	if got := []int{in("firing"), in("acknowledged"), in("snoozed")}; !slices.Equal(got, []int{0, 1, 0}) {
		t.Errorf("woken, incidents by state: %v", got)
	}
	want[Incident](g.world, http.StatusOK, "POST", "/api/v1/alerts/incidents/"+mine+"/resolve", nil, bob.headers()...)
	g.problemWith(bob.headers(), 409, "conflict", "POST", "/api/v1/alerts/incidents/"+mine+"/resolve", nil)
	all, _ := want[IncidentPage](g.world, http.StatusOK, "GET", "/api/v1/alerts/incidents?limit=1", nil, ann.headers()...)
	rest, _ := want[IncidentPage](g.world, http.StatusOK, "GET", "/api/v1/alerts/incidents?cursor="+all.Next, nil, ann.headers()...)
	if len(all.Items) != 1 || len(rest.Items) != 1 || rest.Next != "" || all.Items[0].ID == rest.Items[0].ID {
		t.Errorf("pages %+v and %+v", all, rest)
	}
	entries, _ := want[AuditLogPage](g.world, http.StatusOK, "GET", "/api/v1/audit-log?operation=acknowledgeIncident", nil, ann.headers()...)
	if len(entries.Items) != 1 || entries.Items[0].Object != "incident "+mine || entries.Items[0].Note != "on it" {
		t.Errorf("audit %+v", entries.Items)
	}
}

func TestASilenceIsMadeAndEnded(t *testing.T) {
	w := newWorld(t)
	made, _ := want[NewSilence](w, http.StatusCreated, "POST", "/api/v1/alerts/silences", `{"executor_group":"billing","for":"2h","reason":"we move"}`)
	s := made.Silence
	list, _ := want[SilenceList](w, http.StatusOK, "GET", "/api/v1/alerts/silences", nil)
	if len(list.Items) != 1 || list.Items[0].ID != s.ID || list.Items[0].Until.Sub(list.Items[0].MadeAt) != 2*time.Hour {
		t.Errorf("silences %+v", list)
	}
	w.problem(400, "invalid", "POST", "/api/v1/alerts/silences", `{"for":"200d"}`, "2160h")
	w.problem(400, "invalid", "POST", "/api/v1/alerts/silences", `{"for":"1h","job":"x"}`, "GROUP/NAME")
	want[struct{}](w, http.StatusNoContent, "DELETE", "/api/v1/alerts/silences/"+s.ID, nil)
	w.problem(404, "not_found", "DELETE", "/api/v1/alerts/silences/"+s.ID, nil)
}
