package ingest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/logstore"
)

// change publishes an entry of the audit log.
func (w *world) change(n int) {
	w.t.Helper()
	doc := fmt.Sprintf(`{"id":"e%d","at":%q,"user":"ann","how":"session","operation":"putJob","object":"job billing/%d","group":"billing","result":"done"}`, n, stamp(n), n)
	if _, err := w.conn.JS.PublishMsg(w.t.Context(), bus.NewMessage(bus.SubjectAudit, bus.MessageAudit, []byte(doc))); err != nil {
		w.t.Fatal(err)
	}
}

func stamp(n int) string {
	return start.Add(time.Duration(n) * time.Second).Format("2006-01-02T15:04:05.000Z")
}

func (w *world) alerts() jetstream.KeyValue {
	w.t.Helper()
	kv, err := w.conn.JS.KeyValue(w.t.Context(), bus.BucketAlert)
	if err != nil {
		w.t.Fatal(err)
	}
	return kv
}

// incident writes the version of an incident that has so many deliveries.
func (w *world) incident(key, id, state string, deliveries int) {
	w.t.Helper()
	var list []string
	for i := range deliveries {
		list = append(list, fmt.Sprintf(`{"delivery":"%d","channel":"mail","kind":"opened","state":"sent","attempts":1,"made_at":%q,"node":"a"}`, i+1, stamp(i)))
	}
	doc := fmt.Sprintf(`{"incident":%q,"alert":"night","subject":"job billing/x","executor_group":"billing","state":%q,"summary":"it failed","summary_code":"run_ended","summary_params":{"job":"billing/x"},"opened_at":%q,"deliveries":[%s]}`,
		id, state, stamp(0), strings.Join(list, ","))
	if _, err := w.alerts().Put(w.t.Context(), key, []byte(doc)); err != nil {
		w.t.Fatal(err)
	}
}

// wantFacts checks what the store has of a kind, the oldest first, as id, object and
// state.
func (w *world) wantFacts(kind logstore.FactKind, want ...string) {
	w.t.Helper()
	page, err := w.store.Facts(w.t.Context(), logstore.FactFilter{Kind: kind, Limit: logstore.MaxFacts})
	if err != nil {
		w.t.Fatal(err)
	}
	got := []string{}
	for i := range page.Facts {
		f := page.Facts[len(page.Facts)-1-i]
		got = append(got, strings.TrimSpace(f.ID+" "+f.Object+" "+f.State))
	}
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		w.t.Errorf("facts of %s differ (-want +got):\n%s", kind, diff)
	}
}

func TestFactsAreInTheStoreAtOnce(t *testing.T) {
	run(t, func(w *world) {
		w.change(1) // before there is an ingester
		w.start("a")
		time.Sleep(settled)
		w.change(2)
		w.incident("incident.s1", "i1", "open", 1)
		w.incident("rule.night", "r", "", 0) // is none
		f := fire{report, 7}
		found := &outcome.Finding{Job: report, FireTime: f.time(), RunID: f.id(), Version: 3, Reason: "there is no run", FoundAt: f.time().Add(time.Minute)}
		if isNew, err := w.conn.Findings().Put(w.t.Context(), found); err != nil || !isNew {
			w.t.Fatal(isNew, err)
		}
		time.Sleep(settled)
		w.wantFacts(logstore.FactAudit, "e1 job billing/1 done", "e2 job billing/2 done")
		w.wantFacts(logstore.FactIncident, "i1 job billing/x open")
		w.wantFacts(logstore.FactDelivery, "i1-000001 mail sent")
		sent, err := w.store.Facts(w.t.Context(), logstore.FactFilter{Kind: logstore.FactDelivery, Limit: 1})
		if err != nil || !strings.Contains(string(sent.Facts[0].Doc), `"summary":"it failed","summary_code":"run_ended","summary_params":{"job":"billing/x"}`) {
			w.t.Errorf("the message is kept as %+v, %v", sent, err)
		}
		w.wantFacts(logstore.FactDiscrepancy, string(f.id())+" billing/report")

		w.incident("incident.s1", "i1", "open", 2)
		w.incident("incident.s1", "i1", "resolved", 3)
		w.incident("past.i0", "i0", "resolved", 0)
		time.Sleep(settled)
		for _, key := range []string{"incident.s1", "past.i0"} { // which their bucket forgets, in time
			if err := w.alerts().Purge(w.t.Context(), key); err != nil {
				w.t.Fatal(err)
			}
		}
		time.Sleep(settled)
		w.wantFacts(logstore.FactIncident, "i0 job billing/x resolved", "i1 job billing/x resolved")
		w.wantFacts(logstore.FactDelivery, "i1-000001 mail sent", "i1-000002 mail sent", "i1-000003 mail sent")
		if backlogs, err := w.conn.Ingest().Backlogs(w.t.Context()); err != nil || len(backlogs) != 6 || backlogs[3].Messages+backlogs[4].Messages+backlogs[5].Messages != 0 {
			w.t.Errorf("the backlogs are %+v, with %v; want six, and the last three empty", backlogs, err)
		}
	})
}

func TestFactsAreWrittenOnceInEffectThroughCrashes(t *testing.T) {
	run(t, func(w *world) {
		const n = 40
		var want []string
		in := w.start("a")
		time.Sleep(settled)
		for i := range n {
			w.change(i)
			w.incident(fmt.Sprintf("incident.s%d", i%3), fmt.Sprintf("i%d", i%3), "open", i%5)
			want = append(want, fmt.Sprintf("e%d job billing/%d done", i, i))
			if i%10 == 5 {
				in.crashAfterWrite()
				time.Sleep(settled)
				w.store.hook(nil, nil)
				time.Sleep(leaseEnd)
				in = w.start(fmt.Sprintf("a%d", i))
			}
		}
		time.Sleep(leaseEnd)
		w.wantFacts(logstore.FactAudit, want...)
		w.wantFacts(logstore.FactIncident, "i0 job billing/x open", "i1 job billing/x open", "i2 job billing/x open")
	})
}

func TestFactsThatAreDamagedAreLeftOut(t *testing.T) {
	run(t, func(w *world) {
		in := w.start("a")
		for _, doc := range []string{"{", `{"id":"a b","at":"2026-01-05T03:00:00Z"}`, `{"id":"e9"}`} {
			if _, err := w.conn.JS.PublishMsg(w.t.Context(), bus.NewMessage(bus.SubjectAudit, bus.MessageAudit, []byte(doc))); err != nil {
				w.t.Fatal(err)
			}
		}
		w.change(1)
		time.Sleep(settled)
		w.wantFacts(logstore.FactAudit, "e1 job billing/1 done")
		if n := in.counter("carillon_ingest_refused_total", "stream", bus.StreamAudit); n != 3 {
			w.t.Errorf("%g messages were refused; want 3", n)
		}
	})
}
