package webapi

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// daily is a schedule whose next fire is half a day ahead, so that no test is overtaken by it.
type daily time.Time

func newDaily() daily { return daily(time.Now().UTC().Truncate(time.Hour).Add(12 * time.Hour)) }

func (d daily) String() string { return fmt.Sprintf("0 %d * * *", time.Time(d).Hour()) }

// fire returns the next fire, or the one so many days after it.
func (d daily) fire(days int) time.Time { return time.Time(d).AddDate(0, 0, days) }

func fireBody(at time.Time, reason string) map[string]any {
	return map[string]any{"fire_time": at, "reason": reason}
}

func TestAFireIsCalledOffAndTakenBack(t *testing.T) {
	w, d := newWorld(t), newDaily()
	w.put("billing/x", d.String())
	const x = "/api/v1/jobs/billing/x"
	ann := header{"Carillon-User", "ann"}
	item, _ := want[JobItem](w, http.StatusOK, "POST", x+"/skip", fireBody(d.fire(1), "no data"), ann)
	if s := item.Definition.SkipOf(d.fire(1)); s == nil || s.By != "ann" || s.Reason != "no data" || item.Definition.Version != 2 {
		t.Errorf("called off: %+v", item.Definition)
	}
	if f := item.NextFires; f[0].Skipped || !f[1].Skipped || f[1].Reason != "skipped by ann: no data" || f[1].Skip == nil || f[2].Skipped {
		t.Errorf("next fires: %+v", f)
	}
	again, _ := want[JobItem](w, http.StatusOK, "POST", x+"/skip", fireBody(d.fire(1), "another reason"), ann)
	if again.Revision != item.Revision {
		t.Error("a fire that was called off already made a version")
	}
	page, _ := want[FirePage](w, http.StatusOK, "GET", "/api/v1/fires?to="+d.fire(2).Format(time.RFC3339), nil)
	if len(page.Items) != 1 || len(page.Items[0].Fires) != 2 {
		t.Errorf("what will fire: %+v", page.Items)
	}
	counts, _ := want[FireCounts](w, http.StatusOK, "GET", "/api/v1/fires/counts?to="+d.fire(2).Format(time.RFC3339), nil)
	if counts.Counts[0] != 2 {
		t.Errorf("how much will fire: %v", counts.Counts)
	}
	// A document knows of no skips.
	want[PutJobResult](w, http.StatusOK, "PUT", x, document("billing/x", "0 "+d.String()[:len(d.String())-1]+"?"))
	kept, _ := want[JobItem](w, http.StatusOK, "GET", x, nil)
	if kept.Definition.SkipOf(d.fire(1)) == nil {
		t.Error("an edit has the fire run again")
	}
	back, _ := want[JobItem](w, http.StatusOK, "POST", x+"/unskip", fireBody(d.fire(1), ""), ann)
	if len(back.Definition.Skips) != 0 || back.NextFires[1].Skipped {
		t.Errorf("taken back: %+v", back)
	}
	diff, _ := want[JobDiff](w, http.StatusOK, "GET", x+"/diff?from=1&to=2", nil)
	if len(diff.Changes) != 1 || diff.Changes[0].Field != "skips" {
		t.Errorf("the difference: %+v", diff.Changes)
	}
	w.problem(400, "invalid", "POST", x+"/skip", fireBody(d.fire(1).Add(time.Minute), ""), "has no fire at")
	w.problem(400, "invalid", "POST", x+"/skip", fireBody(d.fire(-2), ""), "must be at least 1s in the future")
	w.problem(404, "not_found", "POST", "/api/v1/jobs/billing/none/skip", fireBody(d.fire(1), ""), "")
}

func TestAJobKeepsABoundedNumberOfSkips(t *testing.T) {
	w, d := newWorld(t), newDaily()
	w.put("billing/x", d.String())
	_, err := w.conn.Jobs().Edit(t.Context(), "billing/x", cluster.Edit{At: time.Now()}, func(v *job.Version) {
		for day := range job.MaxSkips {
			v.Skip(job.Skip{FireTime: d.fire(day), At: time.Now()})
		}
	})
	w.check(err)
	w.problem(409, "conflict", "POST", "/api/v1/jobs/billing/x/skip", fireBody(d.fire(job.MaxSkips), ""), "the most that a job can have")
}

func TestAFireThatRunsEarlyIsCalledOffByTheSameWrite(t *testing.T) {
	w, d := newWorld(t), newDaily()
	w.put("billing/x", d.String())
	const x = "/api/v1/jobs/billing/x"
	w.problem(503, "unavailable", "POST", x+"/run-early", fireBody(d.fire(0), ""), "scheduler node")
	entry, err := w.conn.Jobs().Get(t.Context(), "billing/x")
	w.check(err)
	off := entry.SkipOf(d.fire(0))
	if off == nil || off.RunID == "" {
		t.Fatalf("nobody knows whether it runs early, and it is to run: %+v", entry.Version)
	}
	asked := make(chan bus.TriggerRequest, 8)
	owner(w, "trigger", func(q bus.TriggerRequest) (bus.TriggerReply, error) {
		asked <- q
		return bus.TriggerReply{RunID: q.RunID, Version: 2, Status: job.StatusPending}, nil
	})
	accepted, _ := want[RunAccepted](w, http.StatusAccepted, "POST", x+"/run-early", fireBody(d.fire(0), ""))
	if q := <-asked; accepted.RunID != off.RunID || q.RunID != off.RunID || !q.InsteadOf.Equal(d.fire(0)) {
		t.Errorf("asked again: %+v, want run %s; the owner heard %+v", accepted, off.RunID, q)
	}
	w.problem(409, "conflict", "POST", x+"/unskip", fireBody(d.fire(0), ""), "it would run twice")
	w.check(w.store.WriteRuns(t.Context(), "one", []logstore.Update{{
		Kind: runlog.KindRecorded, RunID: off.RunID, Job: "billing/x", Version: 2, Attempt: 1, Cause: job.CauseManual, At: time.Now(), Status: job.StatusPending,
	}}))
	want[RunAccepted](w, http.StatusAccepted, "POST", x+"/run-early", fireBody(d.fire(0), ""))
	if len(asked) != 0 {
		t.Error("a run that the history has is asked for again")
	}
	// One that is called off for good may still be wanted early.
	want[JobItem](w, http.StatusOK, "POST", x+"/skip", fireBody(d.fire(3), "no need"))
	accepted, _ = want[RunAccepted](w, http.StatusAccepted, "POST", x+"/run-early", fireBody(d.fire(3), ""))
	entry, err = w.conn.Jobs().Get(t.Context(), "billing/x")
	w.check(err)
	if s := entry.SkipOf(d.fire(3)); s == nil || s.RunID != accepted.RunID || len(asked) != 1 {
		t.Errorf("a fire that was called off before: %+v, accepted as %+v", s, accepted)
	}
}

func TestAJobIsPausedUntilAnInstant(t *testing.T) {
	w, d := newWorld(t), newDaily()
	w.put("billing/x", d.String())
	w.put("billing/y", d.String())
	const x = "/api/v1/jobs/billing/x"
	until := d.fire(2)
	body := map[string]any{"until": until, "note": "month end"}
	paused, _ := want[JobItem](w, http.StatusOK, "POST", x+"/pause", body)
	if v := paused.Definition; v.Paused || !v.PausedUntil.Equal(until) || !paused.NextFires[0].FireTime.Equal(until) {
		t.Errorf("paused: %+v", paused)
	}
	again, _ := want[JobItem](w, http.StatusOK, "POST", x+"/pause", body)
	if again.Revision != paused.Revision {
		t.Error("pausing until the same instant made a version")
	}
	list, _ := want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs?paused=true", nil)
	if len(list.Items) != 1 || list.Items[0].Definition.Job.Job != "billing/x" {
		t.Errorf("paused jobs: %+v", list.Items)
	}
	p, _ := want[Preview](w, http.StatusOK, "GET", x+"/preview?n=3", nil)
	if f := p.Fires; !f[0].Skipped || !f[1].Skipped || f[2].Skipped || string(p.Note) != "the job is paused until "+until.Format(time.RFC3339) {
		t.Errorf("preview: %+v", p)
	}
	page, _ := want[FirePage](w, http.StatusOK, "GET", "/api/v1/fires?to="+d.fire(3).Format(time.RFC3339), nil)
	if len(page.Items) != 2 || len(page.Items[0].Fires) != 2 || len(page.Items[1].Fires) != 4 {
		t.Errorf("what will fire: %+v", page.Items)
	}
	good, _ := want[JobItem](w, http.StatusOK, "POST", x+"/pause", nil)
	if v := good.Definition; !v.Paused || v.PausedUntil != nil {
		t.Errorf("paused for good: %+v", v)
	}
	resumed, _ := want[JobItem](w, http.StatusOK, "POST", x+"/resume", nil)
	if v := resumed.Definition; v.Paused || v.PausedUntil != nil || len(resumed.NextFires) == 0 {
		t.Errorf("resumed: %+v", v)
	}
	w.problem(400, "invalid", "POST", x+"/pause", map[string]any{"until": d.fire(-3)}, "must be in the future")

	bulk, _ := want[JobBulkResult](w, http.StatusOK, "POST", "/api/v1/jobs/bulk", map[string]any{"action": "pause", "until": until, "filter": map[string]any{}})
	for _, b := range bulk.Items {
		if b.Result != BulkOutcomeChanged {
			t.Errorf("bulk: %+v", b)
		}
	}
	w.problem(400, "invalid", "POST", "/api/v1/jobs/bulk", map[string]any{"action": "run", "until": until, "filter": map[string]any{}}, "is only for pausing")
	// Its instant has come: nobody has to do anything.
	_, err := w.conn.Jobs().Edit(t.Context(), "billing/y", cluster.Edit{At: time.Now()}, func(v *job.Version) { past := time.Now().UTC(); v.PausedUntil = &past })
	w.check(err)
	ended, _ := want[JobItem](w, http.StatusOK, "POST", "/api/v1/jobs/billing/y/resume", nil)
	if ended.Definition.PausedUntil == nil || ended.NextFires[0].Skipped {
		t.Errorf("a pause that has ended is resumed, or holds: %+v", ended)
	}
}

func TestThePauseOfEverythingCanHaveAnEnd(t *testing.T) {
	w, d := newWorld(t), newDaily()
	w.put("billing/x", d.String())
	until := d.fire(1)
	hold, _ := want[Pause](w, http.StatusOK, "PUT", "/api/v1/pause", map[string]any{"paused": true, "until": until})
	if !hold.Paused || !hold.Until.Equal(until) {
		t.Errorf("paused: %+v", hold)
	}
	p, _ := want[Preview](w, http.StatusOK, "GET", "/api/v1/jobs/billing/x/preview?n=2", nil)
	if !p.Fires[0].Skipped || p.Fires[1].Skipped {
		t.Errorf("preview: %+v", p)
	}
	w.problem(400, "invalid", "PUT", "/api/v1/pause", map[string]any{"paused": false, "until": until}, "is only for pausing")
	now := time.Now()
	_, _, err := w.conn.Pauses().Set(t.Context(), "", true, now, cluster.Edit{At: now.Add(-time.Second)})
	w.check(err)
	if hold, _ = want[Pause](w, http.StatusOK, "GET", "/api/v1/pause", nil); hold.Paused || !hold.Until.IsZero() {
		t.Errorf("its end has come: %+v", hold)
	}
}
