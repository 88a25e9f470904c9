package webapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/trail"
	"github.com/carillon-scheduler/carillon/logstore"
)

// moveAudit puts n entries of the audit log into the store, as ingest does.
func (w *world) moveAudit(n int) {
	w.Helper()
	consumer, err := w.conn.JS.Consumer(w.Context(), bus.StreamAudit, bus.ConsumerFacts)
	w.check(err)
	batch, err := consumer.Fetch(n)
	w.check(err)
	var last jetstream.Msg
	for m := range batch.Messages() {
		var e trail.Entry
		w.check(json.Unmarshal(m.Data(), &e))
		w.keep(logstore.Fact{
			Kind: logstore.FactAudit, ID: e.ID, At: e.At, Group: e.Group, Who: e.User, What: e.Operation, Object: e.Object, State: string(e.Result), Doc: m.Data(),
		})
		last = m
	}
	w.check(last.DoubleAck(w.Context()))
}

// keep writes facts into the store.
func (w *world) keep(facts ...logstore.Fact) {
	w.Helper()
	for i := range facts {
		facts[i].Revision = 1
		w.check(w.store.WriteFacts(w.Context(), fmt.Sprint(facts[i].Kind, facts[i].ID), facts[i:i+1]))
	}
}

func TestTheAuditIsReadFromTheStoreAndFromTheStreamWhatIsNotThereYet(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	for n := range 7 {
		g.putAs(ann, job.Name(fmt.Sprintf("billing/j%d", n)))
	}
	all := func(query string) []string {
		var ids []string
		for cursor := ""; ; {
			page, _ := want[AuditLogPage](g.world, http.StatusOK, "GET", "/api/v1/audit-log?"+query+cursor, nil, ann.headers()...)
			for _, e := range page.Items {
				ids = append(ids, e.ID)
			}
			if page.Next == "" {
				return ids
			}
			cursor = "&cursor=" + page.Next
		}
	}
	before := all("limit=1000") // all from the stream
	if len(before) < 8 || !slices.IsSortedFunc(before, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Fatalf("the entries are %v", before)
	}
	g.moveAudit(5)
	old := trail.Entry{ID: "0old", At: noon.AddDate(-3, 0, 0), User: "zoe", How: "session", Operation: "putJob", Object: "job billing/old", Group: "billing", Result: trail.Done}
	doc, err := json.Marshal(old)
	g.check(err)
	g.keep(logstore.Fact{Kind: logstore.FactAudit, ID: old.ID, At: old.At, Group: old.Group, Who: old.User, What: old.Operation, Object: old.Object, State: "done", Doc: doc})
	expected := append(slices.Clone(before), old.ID)
	for _, limit := range []int{1, 2, 3, 100} {
		if diff := cmp.Diff(expected, all(fmt.Sprintf("limit=%d", limit))); diff != "" {
			t.Errorf("pages of %d differ (-want +got):\n%s", limit, diff)
		}
	}
	if got := all("user=zoe&object=old&group=billing&operation=putJob&result=done&limit=1"); len(got) != 1 {
		t.Errorf("a search finds %v", got)
	}
	if got := all("object=billing/j&limit=2"); len(got) != 7 {
		t.Errorf("a search finds %d entries; want 7", len(got))
	}
	if a := g.send("GET", "/api/v1/audit-log/export?object=old", nil, ann.headers()...); !strings.Contains(a.text, `"user":"zoe"`) {
		t.Errorf("an export has %q", a.text)
	}
	g.moveAudit(len(before) - 5)
	if diff := cmp.Diff(expected, all("limit=3")); diff != "" {
		t.Errorf("with all in the store, pages differ (-want +got):\n%s", diff)
	}
	g.check(g.store.Close())
	if diff := cmp.Diff(before, all("limit=3")); diff != "" {
		t.Errorf("with the store away, pages differ (-want +got):\n%s", diff)
	}

	// What the stream has let go nobody has but the store.
	gaps := func() AuditLogPage {
		page, _ := want[AuditLogPage](g.world, http.StatusOK, "GET", "/api/v1/audit-log", nil, ann.headers()...)
		return page
	}
	if page := gaps(); !page.Since.IsZero() || !page.AsOf.IsZero() {
		t.Errorf("all is there, and something may be missing before %v and after %v", page.Since, page.AsOf)
	}
	stream, err := g.conn.JS.Stream(t.Context(), bus.StreamAudit)
	g.check(err)
	config := stream.CachedInfo().Config
	config.MaxMsgs = 3
	_, err = g.conn.JS.UpdateStream(t.Context(), config)
	g.check(err)
	if page := gaps(); len(page.Items) != 3 || page.Since.IsZero() || page.Items[2].At.After(page.Since) || !page.AsOf.IsZero() {
		t.Errorf("%d entries, and something may be missing before %v and after %v", len(page.Items), page.Since, page.AsOf)
	}
	a := g.send("GET", "/api/v1/audit-log/export?format=csv", nil, ann.headers()...)
	if since, err := time.Parse(time.RFC3339, a.header.Get("Carillon-Since")); err != nil || !since.Equal(gaps().Since) || a.header.Get("Carillon-As-Of") != "" {
		t.Errorf("an export may lack what came before %v, says its header: %v", since, err)
	}
}

func TestTheAuditOfTheStoreAloneSaysUpToWhenItIsWhole(t *testing.T) {
	g := newGuardedWorld(t, hasty)
	ann := g.administrator()
	g.putAs(ann, "billing/x")
	stream, err := g.conn.JS.Stream(t.Context(), bus.StreamAudit)
	g.check(err)
	g.moveAudit(int(stream.CachedInfo().State.Msgs))
	whole, _ := want[AuditLogPage](g.world, http.StatusOK, "GET", "/api/v1/audit-log", nil, ann.headers()...)
	g.putAs(ann, "billing/y")
	g.broker.Stop()
	page, _ := want[AuditLogPage](g.world, http.StatusOK, "GET", "/api/v1/audit-log", nil, ann.headers()...)
	if diff := cmp.Diff(whole.Items, page.Items); diff != "" || !page.AsOf.Equal(whole.Items[0].At) || !whole.AsOf.IsZero() {
		t.Errorf("what is whole up to %v is told to be up to %v (-want +got):\n%s", whole.Items[0].At, page.AsOf, diff)
	}
	a := g.send("GET", "/api/v1/audit-log/export", nil, ann.headers()...)
	if asOf, err := time.Parse(time.RFC3339, a.header.Get("Carillon-As-Of")); err != nil || !asOf.Equal(page.AsOf) || a.header.Get("Carillon-Since") != "" {
		t.Errorf("an export may lack what came after %v, says its header: %v", asOf, err)
	}
}

func TestIncidentsThatTheBusHasForgottenAreInTheStore(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	bob := ann.person("bob", rights.Access{Role: rights.Viewer, Group: "ops"})
	present := g.incident("billing")
	past := func(n int, group string) string {
		at := noon.AddDate(0, -2, n)
		inc := alerting.NewTest("mail", "x", at)
		inc.Rule, inc.Group, inc.Subject, inc.Jobs = "night", group, "job "+group+"/x", []alerting.Affected{{Job: job.Name(group + "/x"), At: at, Count: 1}}
		inc.Deliveries[0].State = alerting.Sent
		doc, err := json.Marshal(inc)
		g.check(err)
		message, err := json.Marshal(map[string]any{"incident": inc.ID, "alert": "night", "summary": inc.Summary, "delivery": inc.Deliveries[0]})
		g.check(err)
		g.keep(
			logstore.Fact{Kind: logstore.FactIncident, ID: inc.ID, At: at, Group: group, What: "night", Object: inc.Subject, State: "resolved", Doc: doc},
			logstore.Fact{Kind: logstore.FactDelivery, ID: inc.ID + "-000001", At: at, Group: group, What: "test", Object: "mail", State: "sent", Doc: message})
		return inc.ID
	}
	a, b, c := past(0, "billing"), past(1, "ops"), past(2, "billing")
	// What is in both is shown as the bus has it.
	g.keep(logstore.Fact{Kind: logstore.FactIncident, ID: present, At: noon, Group: "billing", State: "open", Doc: []byte(`{"incident":"` + present + `","opened_at":"2020-01-01T00:00:00Z"}`)})
	list := func(by *browser, query string) []string {
		ids := []string{}
		for cursor := ""; ; {
			page, _ := want[IncidentPage](g.world, http.StatusOK, "GET", "/api/v1/alerts/incidents?"+query+cursor, nil, by.headers()...)
			for _, inc := range page.Items {
				ids = append(ids, inc.ID)
			}
			if page.Next == "" {
				return ids
			}
			cursor = "&cursor=" + page.Next
		}
	}
	f := func(by *browser, query string, ids ...string) {
		t.Helper()
		if diff := cmp.Diff(append([]string{}, ids...), list(by, query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	f(ann, "limit=1", present, c, b, a)
	f(ann, "limit=2", present, c, b, a)
	f(ann, "limit=100", present, c, b, a)
	f(ann, "alert=night&group=billing&limit=1", c, a)
	f(ann, "job=ops/x", b)
	f(bob, "limit=1", b)
	want[Incident](g.world, http.StatusOK, "GET", "/api/v1/alerts/incidents/"+b, nil, bob.headers()...)
	g.problemWith(bob.headers(), http.StatusNotFound, "not_found", "GET", "/api/v1/alerts/incidents/"+a, nil)
	g.problemWith(ann.headers(), http.StatusBadRequest, "invalid", "GET", "/api/v1/alerts/incidents?cursor=x", nil, `"field":"cursor"`)

	between := func(from, to time.Time, incidents ...string) {
		t.Helper()
		q := url.Values{"channel": {"mail"}, "from": {from.Format(time.RFC3339)}, "to": {to.Format(time.RFC3339)}}
		found, _ := want[DeliveryList](g.world, http.StatusOK, "GET", "/api/v1/alerts/deliveries?"+q.Encode(), nil, ann.headers()...)
		ids := []string{}
		for i := range found.Items {
			ids = append(ids, found.Items[i].Incident)
		}
		if diff := cmp.Diff(append([]string{}, incidents...), ids); diff != "" {
			t.Errorf("from %s to %s (-want +got):\n%s", from, to, diff)
		}
	}
	first := noon.AddDate(0, -2, 0)
	between(first, first.AddDate(0, 0, 2), b, a)
	between(first.Add(time.Second), first.AddDate(0, 0, 3), c, b)
	between(first.AddDate(0, 0, 3), noon)
	g.problemWith(ann.headers(), http.StatusBadRequest, "invalid", "GET", "/api/v1/alerts/deliveries?from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z", nil, `"field":"to"`)

	deliveries, _ := want[DeliveryList](g.world, http.StatusOK, "GET", "/api/v1/alerts/deliveries?channel=mail&state=sent", nil, bob.headers()...)
	if len(deliveries.Items) != 1 || deliveries.Items[0].Incident != b || deliveries.Items[0].Delivery.State != alerting.Sent {
		t.Errorf("the deliveries are %+v", deliveries.Items)
	}
}

func TestDiscrepanciesAreListedFromTheBusAndTheStore(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	bob := ann.person("bob", rights.Access{Role: rights.Viewer, Group: "ops"})
	finding := func(name job.Name, n int) *outcome.Finding {
		at := noon.Add(time.Duration(n) * time.Hour)
		return &outcome.Finding{Job: name, FireTime: at, RunID: job.FireRunID(name, at.UnixMilli(), job.CauseSchedule), Version: 1, Reason: "there is no run", FoundAt: at.Add(time.Minute)}
	}
	keep := func(f *outcome.Finding) {
		doc, err := json.Marshal(f)
		g.check(err)
		g.keep(logstore.Fact{Kind: logstore.FactDiscrepancy, ID: string(f.RunID), At: f.FireTime, Group: f.Job.Group(), What: string(f.Job), Object: string(f.Job), Doc: doc})
	}
	for n := range 4 {
		if n < 3 {
			keep(finding("billing/x", n))
		}
		if n > 1 {
			_, err := g.conn.Findings().Put(t.Context(), finding("billing/x", n))
			g.check(err)
		}
	}
	keep(finding("ops/y", 9))
	healed := finding("billing/x", 2) // the store has heard of it, and not yet that it has healed
	healed.HealedAt, healed.Healed = noon.Add(5*time.Hour), "its fire is recorded as ran now"
	g.check(g.conn.Findings().Heal(t.Context(), healed))
	page, _ := want[DiscrepancyPage](g.world, http.StatusOK, "GET", "/api/v1/ledger/discrepancies?job=billing/x", nil, ann.headers()...)
	for i := range page.Items {
		if it := &page.Items[i]; it.HealedAt.IsZero() != (it.RunID != healed.RunID) || (it.Healed == "") != it.HealedAt.IsZero() {
			t.Errorf("%+v", it)
		}
	}
	f := func(by *browser, query string, hours ...int) {
		t.Helper()
		got := []int{}
		for cursor := ""; ; {
			page, _ := want[DiscrepancyPage](g.world, http.StatusOK, "GET", "/api/v1/ledger/discrepancies?"+query+cursor, nil, by.headers()...)
			for i := range page.Items {
				got = append(got, int(page.Items[i].FireTime.Sub(noon).Hours()))
			}
			if page.Next == "" {
				break
			}
			cursor = "&cursor=" + page.Next
		}
		if diff := cmp.Diff(append([]int{}, hours...), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	f(ann, "limit=1", 9, 3, 2, 1, 0)
	f(ann, "limit=3", 9, 3, 2, 1, 0)
	f(ann, "group=billing", 3, 2, 1, 0)
	f(ann, "job=ops/y", 9)
	f(ann, "from="+noon.Add(time.Hour).Format(time.RFC3339)+"&to="+noon.Add(3*time.Hour).Format(time.RFC3339), 2, 1)
	f(bob, "limit=1", 9)

	for name, owner := range map[job.Name]string{"billing/x": "ann", "ops/y": "bob"} {
		want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/"+string(name), job.Job{Job: name, Owner: owner, Tags: []string{"money"}, Task: job.Task{Handler: "h"}}, ann.headers()...)
	}
	f(ann, "owner=bob", 9)
	f(ann, "owner=ann&limit=1", 3, 2, 1, 0)
	f(ann, "tag=money&limit=2", 9, 3, 2, 1, 0)
	g.problemWith(ann.headers(), 400, "invalid", "GET", "/api/v1/ledger/discrepancies?owner=nobody", nil, `"field":"owner"`)
}

func TestTheGravestIncidentsAreFirstOverAllPages(t *testing.T) {
	w := newWorld(t)
	inOrder := []string{}
	for _, severity := range []alerting.Severity{alerting.Info, alerting.Warning, alerting.Critical} {
		for i := range 3 {
			at := noon.Add(time.Duration(i) * time.Minute)
			inc := alerting.Incident{ID: alerting.NewID(at, string(severity)), Rule: "r", Severity: severity, State: alerting.Resolved, OpenedAt: at, UpdatedAt: at}
			doc, err := json.Marshal(inc)
			w.check(err)
			w.keep(logstore.Fact{Kind: logstore.FactIncident, ID: inc.ID, At: at, What: "r", State: "resolved", Doc: doc})
			inOrder = append(inOrder, inc.ID)
		}
	}
	slices.Reverse(inOrder) // the gravest, and of these the newest
	for _, limit := range []int{1, 2, 3, 4, 9, 50} {
		var got []string
		for cursor := "start"; cursor != ""; {
			page, _ := want[IncidentPage](w, http.StatusOK, "GET", fmt.Sprintf("/api/v1/alerts/incidents?sort=severity&limit=%d&cursor=%s", limit, strings.TrimPrefix(cursor, "start")), nil)
			if len(page.Items) > limit {
				t.Fatalf("%d items with the limit %d", len(page.Items), limit)
			}
			for i := range page.Items {
				got = append(got, page.Items[i].ID)
			}
			cursor = page.Next
		}
		if d := cmp.Diff(inOrder, got); d != "" {
			t.Errorf("pages of %d: %s", limit, d)
		}
	}
	w.problem(400, "invalid", "GET", "/api/v1/alerts/incidents?sort=severity&cursor=grave.x", nil, "next")
}
