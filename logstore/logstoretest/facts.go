package logstoretest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/trail"
	"github.com/carillon-scheduler/carillon/logstore"
)

// deed is an entry of the audit log, a minute of the epoch's hour after another.
func deed(n int) logstore.Fact {
	return logstore.Fact{
		Kind: logstore.FactAudit, ID: fmt.Sprintf("entry-%03d", n), At: epoch.Add(time.Duration(n) * time.Minute), Revision: int64(n + 1),
		Group: "billing", Who: "ann", What: "putJob", Object: fmt.Sprintf("job billing/%d", n), State: "done", Doc: []byte(fmt.Sprintf(`{"id":"entry-%03d"}`, n)),
	}
}

func writeFacts(t *testing.T, s logstore.Store, facts ...logstore.Fact) {
	t.Helper()
	token := fmt.Sprintf("AUDIT:%d-%d", facts[0].Revision, facts[len(facts)-1].Revision)
	if err := s.WriteFacts(t.Context(), token, facts); err != nil {
		t.Fatal(err)
	}
}

func listFacts(t *testing.T, s logstore.Store, f logstore.FactFilter) []logstore.Fact {
	t.Helper()
	var all []logstore.Fact
	for {
		page, err := s.Facts(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Facts...)
		if f.Cursor = page.Next; f.Cursor == "" {
			return all
		}
	}
}

func wantFacts(t *testing.T, s logstore.Store, f logstore.FactFilter, ids ...string) {
	t.Helper()
	got := []string{}
	for _, fact := range listFacts(t, s, f) {
		got = append(got, fact.ID)
	}
	if diff := cmp.Diff(append([]string{}, ids...), got); diff != "" {
		t.Errorf("facts of %+v differ (-want +got):\n%s", f, diff)
	}
}

func factsPaged(t *testing.T, s logstore.Store) {
	var facts []logstore.Fact
	for n := range 30 {
		f := deed(n)
		f.At = epoch.Add(time.Duration(n/3) * time.Millisecond) // some share their instant
		facts = append(facts, f)
	}
	writeFacts(t, s, facts[10:]...)
	writeFacts(t, s, facts[:15]...) // the old ones come late, and some again
	slices.Reverse(facts)
	for _, limit := range []int{1, 7, 29, 30, 1000} {
		if diff := cmp.Diff(facts, listFacts(t, s, logstore.FactFilter{Kind: logstore.FactAudit, Limit: limit})); diff != "" {
			t.Errorf("pages of %d differ (-want +got):\n%s", limit, diff)
		}
	}
	wantFacts(t, s, logstore.FactFilter{Kind: logstore.FactIncident})
}

func factsReplaced(t *testing.T, s logstore.Store) {
	incident := func(revision int64, state, doc string) logstore.Fact {
		return logstore.Fact{Kind: logstore.FactIncident, ID: "i1", At: epoch, Revision: revision, What: "night", Object: "job billing/x", State: state, Doc: []byte(doc)}
	}
	opened, grown, over := incident(3, "open", `{"count":1}`), incident(5, "open", `{"count":2}`), incident(9, "resolved", `{"count":2}`)
	for _, order := range [][]logstore.Fact{{opened, grown, over}, {over, opened}, {grown}, {opened, over, grown, over}} {
		for _, f := range order {
			writeFacts(t, s, f)
		}
	}
	if diff := cmp.Diff([]logstore.Fact{over}, listFacts(t, s, logstore.FactFilter{Kind: logstore.FactIncident})); diff != "" {
		t.Errorf("the incident differs (-want +got):\n%s", diff)
	}
	wantFacts(t, s, logstore.FactFilter{Kind: logstore.FactIncident, State: "open"}) // it was, and is not
	wantFacts(t, s, logstore.FactFilter{Kind: logstore.FactIncident, State: "resolved", ID: "i1"}, "i1")

	both := []logstore.Fact{incident(20, "open", `{"n":1}`), incident(21, "resolved", `{"n":2}`)} // in one write
	writeFacts(t, s, both...)
	if diff := cmp.Diff(both[1:], listFacts(t, s, logstore.FactFilter{Kind: logstore.FactIncident})); diff != "" {
		t.Errorf("the incident differs (-want +got):\n%s", diff)
	}
}

func factsFiltered(t *testing.T, s logstore.Store) {
	a, b, c, d := deed(1), deed(2), deed(3), deed(4)
	b.Who, b.Group, b.Object = "bob's", "ops", "job ops/2%"
	c.What, c.Object = "deleteJob", `calendar x_y`
	d.State, d.Group, d.Object = "unknown", "", "user ünı\\"
	writeFacts(t, s, a, b, c, d)
	f := func(filter logstore.FactFilter, ids ...string) {
		t.Helper()
		filter.Kind = logstore.FactAudit
		wantFacts(t, s, filter, ids...)
	}
	f(logstore.FactFilter{}, d.ID, c.ID, b.ID, a.ID)
	f(logstore.FactFilter{Who: "bob's"}, b.ID)
	f(logstore.FactFilter{What: "deleteJob"}, c.ID)
	f(logstore.FactFilter{State: "unknown"}, d.ID)
	f(logstore.FactFilter{Object: "job "}, b.ID, a.ID)
	f(logstore.FactFilter{Object: "%"}, b.ID)
	f(logstore.FactFilter{Object: "_"}, c.ID)
	f(logstore.FactFilter{Object: `ı\`}, d.ID)
	f(logstore.FactFilter{Object: "JOB"})
	f(logstore.FactFilter{Group: "billing", Who: "ann"}, c.ID, a.ID)
	f(logstore.FactFilter{Groups: []string{"ops", "x"}}, b.ID)
	f(logstore.FactFilter{Groups: []string{"o*"}}, b.ID)
	f(logstore.FactFilter{Groups: []string{}})
	f(logstore.FactFilter{From: b.At, To: d.At}, c.ID, b.ID)
	f(logstore.FactFilter{From: b.At.Add(time.Microsecond), To: d.At.Add(time.Microsecond)}, d.ID, c.ID)
	f(logstore.FactFilter{ID: c.ID}, c.ID)

	alone, together := deed(5), deed(6)
	alone.Object = "job billing/5"
	together.What, together.Object, together.Doc = trail.PatchJobs, "jobs", []byte(`{"changes":[{"field":"owner"},{"field":"billing/5","from":1,"to":2}]}`)
	writeFacts(t, s, alone, together)
	f(logstore.FactFilter{Job: "billing/5"}, together.ID, alone.ID)
	f(logstore.FactFilter{Job: "billing/"})

	for field, filter := range map[string]logstore.FactFilter{
		"kind": {Kind: "rumour"}, "limit": {Kind: logstore.FactAudit, Limit: logstore.MaxFacts + 1}, "cursor": {Kind: logstore.FactAudit, Cursor: "12"},
	} {
		_, err := s.Facts(t.Context(), filter)
		wantInvalid(t, err, field)
	}
}

func factsInvalid(t *testing.T, s logstore.Store) {
	refuse := func(field string, change func(*logstore.Fact)) {
		t.Helper()
		bad := deed(2)
		change(&bad)
		wantInvalid(t, s.WriteFacts(t.Context(), "AUDIT:1-2", []logstore.Fact{deed(1), bad}), field)
	}
	refuse("kind", func(f *logstore.Fact) { f.Kind = "rumour" })
	refuse("id", func(f *logstore.Fact) { f.ID = "a'b" })
	refuse("id", func(f *logstore.Fact) { f.ID = "" })
	refuse("at", func(f *logstore.Fact) { f.At = time.Time{} })
	refuse("revision", func(f *logstore.Fact) { f.Revision = 0 })
	refuse("doc", func(f *logstore.Fact) { f.Doc = []byte("{") })
	refuse("doc", func(f *logstore.Fact) { f.Doc = []byte(`"` + strings.Repeat("x", 2<<20) + `"`) })
	refuse("doc", func(f *logstore.Fact) { f.Who = "\xff" })
	wantFacts(t, s, logstore.FactFilter{Kind: logstore.FactAudit})
}

func factsTrimmed(t *testing.T, s logstore.Store) {
	var facts []logstore.Fact
	for _, kind := range logstore.FactKinds {
		for n := range 3 {
			f := deed(0)
			f.Kind, f.At, f.ID = kind, epoch.Add(time.Duration(n)*day), fmt.Sprintf("%s-%d", kind, n)
			if kind == logstore.FactDiscrepancy {
				f.ID = fmt.Sprintf("019b76da-a800-7c3e-9d5b-0f4e2a6c8b1%d", n)
			}
			facts = append(facts, f)
		}
	}
	writeFacts(t, s, facts...)
	r := keeping(days(1000), forever)
	r.Facts = job.KeepFacts{Alerts: days(10), Discrepancies: days(20)}
	trim := func(after int, want int64) {
		t.Helper()
		got, err := s.Trim(t.Context(), epoch.Add(time.Duration(after)*day+time.Hour), r)
		if err != nil || got != (logstore.Trimmed{Facts: want}) {
			t.Errorf("after %d days a trim deletes %+v, with %v; want %d facts", after, got, err, want)
		}
	}
	trim(9, 0)
	trim(11, 4)
	wantFacts(t, s, logstore.FactFilter{Kind: logstore.FactIncident}, "incident-2")
	wantFacts(t, s, logstore.FactFilter{Kind: logstore.FactDelivery}, "delivery-2")
	trim(21, 4) // the last of the alerts, and two discrepancies
	wantFacts(t, s, logstore.FactFilter{Kind: logstore.FactDiscrepancy}, "019b76da-a800-7c3e-9d5b-0f4e2a6c8b12")
	wantFacts(t, s, logstore.FactFilter{Kind: logstore.FactAudit}, "audit-2", "audit-1", "audit-0")
}
