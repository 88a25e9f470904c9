package webapi

import (
	"net/http"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/logstore"
)

// decide has all shards decided up to an instant.
func (w *world) decide(at time.Time) {
	w.Helper()
	for shard := range shards {
		m, err := (&journal.Cursor{Shard: shard, Epoch: 1, Node: "n", Commit: "1.1", Done: at, JobsSeq: 1000}).Msg()
		w.check(err)
		bus.Rollup(m)
		_, err = w.conn.JS.PublishMsg(w.Context(), m)
		w.check(err)
	}
}

func TestTheLedgerOfAJobIsReadInPagesAndByOutcome(t *testing.T) {
	w := newWorld(t)
	saved := w.put("billing/x", "* * * * * ?")
	first := saved.Definition.EffectiveFrom.Truncate(time.Second).Add(time.Second)
	for i := range 5 {
		if i != 3 {
			w.history(begun("billing/x", first.Add(time.Duration(i)*time.Second)))
		}
	}
	w.decide(first.Add(6 * time.Second))
	to := first.Add(5 * time.Second).Format(time.RFC3339Nano)
	path := "/api/v1/jobs/billing/x/ledger?to=" + to
	page, _ := want[outcome.JobPage](w, http.StatusOK, "GET", path+"&limit=2", nil)
	if len(page.Items) != 2 || page.Next == "" || !page.Items[0].FireTime.Equal(first.Add(4*time.Second)) || page.Items[1].Outcome != outcome.Discrepancy || page.Counts.Discrepancies != 1 {
		t.Errorf("%+v", page)
	}
	rest, _ := want[outcome.JobPage](w, http.StatusOK, "GET", path+"&cursor="+page.Next, nil)
	if len(rest.Items) != 3 || rest.Next != "" || !rest.Items[2].FireTime.Equal(first) || rest.Items[2].Outcome != outcome.Pending || rest.Counts.Fires != 3 {
		t.Errorf("%+v", rest)
	}
	bad, _ := want[outcome.JobPage](w, http.StatusOK, "GET", path+"&outcome=discrepancy", nil)
	if len(bad.Items) != 1 || bad.Counts.Fires != 5 || bad.Items[0].RunID != job.FireRunID("billing/x", first.Add(3*time.Second).UnixMilli(), job.CauseSchedule) {
		t.Errorf("%+v", bad)
	}
	w.problem(404, "not_found", "GET", "/api/v1/jobs/billing/none/ledger", nil)
	w.problem(400, "invalid", "GET", path+"&cursor=x", nil, "cursor")
	w.problem(400, "invalid", "GET", path+"&from="+to, nil, "must be after from")
}

// Each page is one shorter than what is left: the newest fire is on the first, the oldest on the last.
func TestPagesOfALedgerGoFromTheNewestFireToTheOldest(t *testing.T) {
	w := newWorld(t)
	saved := w.put("billing/x", "0 * * * * ?")
	first := saved.Definition.EffectiveFrom.Truncate(time.Minute).Add(time.Minute)
	const fires = 150
	for _, i := range []int{0, 1, 75, fires - 1} {
		w.history(begun("billing/x", first.Add(time.Duration(i)*time.Minute)))
	}
	w.decide(first.Add(fires * time.Minute))
	next := first.Add((fires - 1) * time.Minute)
	path := "/api/v1/jobs/billing/x/ledger?limit=100&to=" + first.Add(fires*time.Minute).Format(time.RFC3339Nano)
	for cursor, pages := "", 1; ; pages++ {
		page, _ := want[outcome.JobPage](w, http.StatusOK, "GET", path+cursor, nil)
		if page.Counts.Fires != len(page.Items) {
			t.Errorf("page %d counts %d of its %d fires", pages, page.Counts.Fires, len(page.Items))
		}
		for _, e := range page.Items {
			if !e.FireTime.Equal(next) {
				t.Fatalf("on page %d is %v, want %v", pages, e.FireTime, next)
			}
			next = next.Add(-time.Minute)
		}
		if cursor = "&cursor=" + page.Next; page.Next == "" {
			if pages != 2 || !next.Before(first) {
				t.Errorf("page %d is the last, and comes down to %v, not to %v", pages, next, first)
			}
			return
		}
	}
}

func TestTheAuditAddsUpJobsAndDaysAndListsDiscrepancies(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	eve := ann.person("eve", rights.Access{Role: rights.Viewer, Group: "orders"})
	for _, name := range []job.Name{"billing/x", "orders/y"} {
		g.putAs(ann, name)
	}
	entry, err := g.conn.Jobs().Get(t.Context(), "billing/x")
	g.check(err)
	// A daily job: what it owes is days away, and the shards have come further.
	fire := entry.EffectiveFrom.Truncate(24 * time.Hour).Add(24 * time.Hour)
	g.history(begun("billing/x", fire), begun("orders/y", entry.EffectiveFrom.Add(-48*time.Hour)))
	g.decide(fire.Add(72 * time.Hour))
	path := "/api/v1/ledger?from=" + fire.Add(-time.Hour).Format(time.RFC3339) + "&to=" + fire.Add(36*time.Hour).Format(time.RFC3339)
	all, _ := want[outcome.Page](g.world, http.StatusOK, "GET", path, nil, ann.headers()...)
	if len(all.Days) != 4 || all.Total.Fires != 4 || all.Total.Pending != 1 || all.Total.Discrepancies != 3 || len(all.Discrepancies) != 3 || all.Next != "" {
		t.Errorf("%+v", all)
	}
	one, _ := want[outcome.Page](g.world, http.StatusOK, "GET", path+"&limit=1", nil, ann.headers()...)
	two, _ := want[outcome.Page](g.world, http.StatusOK, "GET", path+"&limit=1&cursor="+one.Next, nil, ann.headers()...)
	if one.Next == "" || two.Next != "" || one.Days[0].Job != "billing/x" || two.Days[0].Job != "orders/y" {
		t.Errorf("%+v\n%+v", one, two)
	}
	seen, _ := want[outcome.Page](g.world, http.StatusOK, "GET", path, nil, eve.headers()...)
	if len(seen.Days) != 2 || seen.Days[0].Job != "orders/y" {
		t.Errorf("a viewer of orders sees %+v", seen.Days)
	}
}

// The first instant of year 1 is Go's zero time, which says that a parameter is absent.
func TestTheLedgerRefusesRangesThatCannotBe(t *testing.T) {
	w := newWorld(t)
	w.echoes = true
	w.put("billing/x", "@hourly")
	for _, path := range []string{"/api/v1/ledger", "/api/v1/jobs/billing/x/ledger"} {
		for _, from := range []string{"0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z"} {
			w.problem(400, "invalid", "GET", path+"?from="+from+"&to=9999-12-31T23:59:59Z", nil, `"field":"from"`, "before 1970")
		}
		w.problem(400, "invalid", "GET", path+"?to=9999-12-31T23:59:59Z", nil, `"field":"to"`, "lies too far in the future")
		w.problem(400, "invalid", "GET", path+"?from=1970-01-01T00:00:00Z", nil, `"field":"to"`, "at most")
	}
	w.problem(400, "invalid", "POST", "/api/v1/jobs/billing/x/backfills", `{"from":"2026-01-01T00:00:00Z","to":"9999-12-31T23:59:59Z"}`, "lies too far in the future")
}

func TestTheAuditNamesThePartThatDoesNotAnswer(t *testing.T) {
	w := newWorld(t, func(_ *Config, w *world) { w.store = away{w.store} })
	w.put("billing/x", "* * * * * ?")
	w.decide(time.Now().Add(time.Hour))
	for _, path := range []string{"/api/v1/ledger", "/api/v1/jobs/billing/x/ledger"} {
		w.problem(503, "unavailable", "GET", path, nil, "the log store does not answer")
	}
	n := startWorld(t, hasty)
	n.put("billing/x", "@hourly")
	n.broker.Stop()
	n.problem(503, "unavailable", "GET", "/api/v1/ledger", nil, "NATS does not answer")
}

func TestTheLedgerOfAWorkflowHasItsStepsIfTheyAreAskedFor(t *testing.T) {
	w := newWorld(t)
	doc := map[string]any{
		"job": "billing/x", "schedule": map[string]any{"cron": "* * * * * ?"},
		"steps": []any{
			map[string]any{"step": "extract", "task": map[string]any{"handler": "extract"}},
			map[string]any{"step": "load", "after": "extract", "task": map[string]any{"handler": "load"}},
		},
	}
	saved, _ := want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/x", doc)
	fire := saved.Definition.EffectiveFrom.Truncate(time.Second).Add(time.Second)
	whole := begun("billing/x", fire)
	step := func(name string) logstore.Update {
		u := whole
		u.RunID, u.Cause, u.Parent, u.Step = job.StepRunID(whole.RunID, name), job.CauseStep, whole.RunID, name
		return u
	}
	w.history(whole, started(whole, ""), step("extract"), step("load"), finished(step("extract"), job.StatusFailed, 0, fire.Add(time.Second)),
		finished(step("load"), job.StatusSucceeded, 0, fire.Add(2*time.Second)), finished(whole, job.StatusFailed, 0, fire.Add(3*time.Second)))
	w.decide(fire.Add(time.Hour))
	path := "/api/v1/jobs/billing/x/ledger?from=" + fire.Format(time.RFC3339Nano) + "&to=" + fire.Add(time.Millisecond).Format(time.RFC3339Nano)
	page, _ := want[outcome.JobPage](w, http.StatusOK, "GET", path, nil)
	if len(page.Items) != 1 || page.Items[0].Outcome != outcome.Discrepancy || page.Items[0].Steps != nil || page.Counts.Discrepancies != 1 {
		t.Fatalf("%+v", page)
	}
	page, _ = want[outcome.JobPage](w, http.StatusOK, "GET", path+"&steps=true", nil)
	steps := page.Items[0].Steps
	if len(steps) != 2 || steps[0].Outcome != outcome.StepRan || steps[1].Outcome != outcome.StepDiscrepancy || steps[1].RunID != step("load").RunID {
		t.Errorf("%+v", steps)
	}
}
