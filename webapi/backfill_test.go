package webapi

import (
	"net/http"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/logstore"
)

func TestABackfillRunsWhatTheLedgerSaysWasMissed(t *testing.T) {
	w := newWorld(t)
	saved := w.put("billing/x", "* * * * * ?")
	first := saved.Definition.EffectiveFrom.Truncate(time.Second).Add(time.Second)
	at := func(i int) time.Time { return first.Add(time.Duration(i) * time.Second) }
	updateOf := func(i int, s job.Status) logstore.Update {
		u := begun("billing/x", at(i))
		u.Status, u.Reason = s, "for a reason"
		return u
	}
	ran := begun("billing/x", at(1))
	again := begun("billing/x", at(3))
	again.Cause, again.RunID = job.CauseBackfill, job.BackfillRunID("billing/x", at(3).UnixMilli(), "b0")
	w.history(updateOf(0, job.StatusMissed), ran, finished(ran, job.StatusFailed, 0, at(2)), updateOf(2, job.StatusSkipped),
		updateOf(3, job.StatusMissed), again, finished(again, job.StatusSucceeded, 0, at(9)), updateOf(4, job.StatusMissed), updateOf(5, job.StatusMissed))
	w.decide(at(10))
	var asked []journal.BackfillRequest
	owner(w, bus.VerbBackfill, func(r journal.BackfillRequest) (job.Backfill, error) {
		asked = append(asked, r)
		return job.Backfill{ID: r.ID, AskedAt: noon, AtOnce: r.AtOnce, First: at(0), Last: at(5), Total: len(r.Fires)}, nil
	})
	owner(w, bus.VerbBackfills, func(r journal.BackfillsRequest) (journal.BackfillList, error) {
		b := job.Backfill{ID: "b1", AskedAt: noon, AtOnce: 1, First: at(4), Last: at(5), Total: 2, Begun: 1}
		if r.Fires { // of which the first has been run
			b.Fires = []int64{at(4).UnixMilli(), at(5).UnixMilli()}
		}
		return journal.BackfillList{Backfills: []job.Backfill{b}}, nil
	})
	path := "/api/v1/jobs/billing/x/backfills"
	body := func(more string) string {
		return `{"from":"` + at(0).Format(time.RFC3339Nano) + `","to":"` + at(6).Format(time.RFC3339Nano) + `"` + more + `}`
	}
	plan := func(more string, leftOut int, fires ...int) {
		t.Helper()
		got, _ := want[BackfillResult](w, http.StatusOK, "POST", path, body(`,"dry_run":true`+more))
		ok := len(got.Fires) == len(fires) && got.LeftOut == leftOut && got.Backfill == nil
		for i := range fires {
			ok = ok && got.Fires[i].FireTime.Equal(at(fires[i]))
		}
		if !ok {
			t.Errorf("%s: %+v", more, got)
		}
	}
	plan(``, 2, 0, 4) // not 3, which has been run, nor 5, which is about to be
	plan(`,"again":true`, 1, 0, 3, 4)
	plan(`,"only":"failed"`, 0, 1)
	plan(`,"only":"skipped"`, 0, 2)
	plan(`,"only":"all"`, 2, 0, 1, 2, 4)
	if len(asked) != 0 {
		t.Fatalf("a dry run has asked for %+v", asked)
	}
	got, _ := want[BackfillResult](w, http.StatusOK, "POST", path, body(`,"at_once":3,"note":"the outage"`))
	if got.Backfill == nil || got.Backfill.Total != 2 || len(asked) != 1 || asked[0].AtOnce != 3 || asked[0].Note != "the outage" || asked[0].ID == "" || asked[0].By != "local" {
		t.Errorf("%+v; asked for %+v", got, asked)
	}
	list, _ := want[BackfillList](w, http.StatusOK, "GET", path, nil)
	if len(list.Items) != 1 || list.Items[0].ID != "b1" {
		t.Errorf("%+v", list)
	}
	owner(w, bus.VerbCancelBackfill, func(r journal.BackfillCancel) (job.Backfill, error) {
		return job.Backfill{ID: r.ID, AskedAt: noon, AtOnce: 1, First: at(4), Last: at(5), Total: 2, Begun: 1}, nil
	})
	if b, _ := want[Backfill](w, http.StatusOK, "POST", path+"/b1/cancel", `{"note":"enough"}`); b.ID != "b1" || b.Begun != 1 {
		t.Errorf("cancelled %+v", b)
	}
	w.problem(400, "invalid", "POST", path, `{"from":"2020-01-01T00:00:00Z"}`, "to")
	w.problem(400, "invalid", "POST", path, body(`,"only":"some"`), "only")
	w.problem(404, "not_found", "POST", "/api/v1/jobs/billing/none/backfills", body(``))
}

func TestABackfillOfAllReachesBackBeforeTheJobWasThere(t *testing.T) {
	w := newWorld(t)
	saved := w.put("billing/x", "0 * * * *")
	from := saved.Definition.EffectiveFrom.Truncate(time.Hour).Add(-3 * time.Hour)
	w.decide(time.Now())
	owner(w, bus.VerbBackfills, func(journal.BackfillsRequest) (journal.BackfillList, error) { return journal.BackfillList{}, nil })
	got, _ := want[BackfillResult](w, http.StatusOK, "POST", "/api/v1/jobs/billing/x/backfills",
		map[string]any{"from": from.Format(time.RFC3339), "to": from.Add(150 * time.Minute).Format(time.RFC3339), "only": "all", "dry_run": true})
	if len(got.Fires) != 3 || !got.Fires[0].FireTime.Equal(from) || got.Fires[0].Outcome != outcome.Unjudged {
		t.Errorf("%+v", got)
	}
}
