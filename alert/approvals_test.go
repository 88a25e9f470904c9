package alert_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/alert"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
)

const release job.Name = "deploy/release"

// stepped stores the notice of what becomes of a step of a run, and waits until it has had its effect.
func (w *world) stepped(of job.RunID, step string, status job.Status, why string, wait *runlog.Wait) {
	w.t.Helper()
	r := &journal.Record{Shard: release.Shard(shards), Commit: "c", Node: "n", At: time.Now(), Outcomes: []journal.Outcome{{
		Status: status, Cause: job.CauseStep, Reason: why, FireTime: of.Time(), ParentRun: of, Step: step, Wait: wait,
		Jobs: []string{journal.JobVersion(release, 1)}, RunIDs: []job.RunID{job.StepRunID(of, step)},
	}}}
	m, err := r.Notice()
	if err == nil {
		_, err = w.conn.JS.PublishMsg(w.t.Context(), m)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(settled)
}

func TestEachApprovalThatBeginsIsToldOnceWithALinkToItsStep(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{ApprovalWanted: true}, func(r *alerting.Rule) { r.GroupBy, r.Match.Groups = alerting.ByRule, []string{"deploy"} })
		first, second := job.NewRunID(time.Now()), job.NewRunID(time.Now())
		wait := &runlog.Wait{Kind: runlog.WaitApproval, Since: time.Now(), By: []string{"role:operator", "user:ann"}}
		w.stepped(first, "ok", job.StatusQueued, "", wait)
		sent := w.wantSent("opened deploy/release: step ok waits for approval by role:operator, user:ann")
		var m alert.Message
		if err := json.Unmarshal([]byte(sent[0].body), &m); err != nil {
			t.Fatal(err)
		}
		if link := "https://carillon.test/runs/" + string(first) + "?step=ok"; m.Link != link || m.Incident.Group != "deploy" {
			t.Errorf("the message has the link %q of group %q, want %q", m.Link, m.Incident.Group, link)
		}
		until := *wait
		until.Expires = start.Add(8 * time.Hour)
		w.stepped(second, "ok", job.StatusQueued, "", &until)
		w.wantSent("opened deploy/release: step ok waits for approval by role:operator, user:ann until 2026-01-05 20:00:00 UTC")

		one := until
		one.Approvals = []runlog.Approval{{By: "ann", At: time.Now()}}
		w.stepped(second, "ok", job.StatusQueued, "", &one) // a further one is needed
		w.stepped(second, "build", job.StatusFailed, "", nil)
		w.wantSent()
		w.stepped(second, "ok", job.StatusSucceeded, "it is fine", nil)
		w.wantSent("recovered Resolved: deploy/release: step ok waits for approval by role:operator, user:ann until 2026-01-05 20:00:00 UTC")
		list := w.incidents()
		if len(list) != 2 || list[0].State != alerting.Resolved || list[0].Resolution != "step ok succeeded: it is fine" || list[1].State != alerting.Open {
			t.Errorf("incidents %+v", list)
		}
		w.stepped(first, "ok", job.StatusFailed, reason.StepRetried.With("ann"), nil)
		w.wantSent("recovered Resolved: deploy/release: step ok waits for approval by role:operator, user:ann")
		w.stepped(first, "ok", job.StatusQueued, "", wait) // in its next round
		w.wantSent("opened deploy/release: step ok waits for approval by role:operator, user:ann")
	})
}

func TestOnlyRulesAboutApprovalsTellOfThem(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{})
		w.rule(alerting.Condition{ApprovalWanted: true}, func(r *alerting.Rule) { r.Alert, r.Match.Groups = "other", []string{"other"} })
		of := job.NewRunID(time.Now())
		w.stepped(of, "ok", job.StatusQueued, "", &runlog.Wait{Kind: runlog.WaitApproval, Since: time.Now(), By: []string{"role:operator"}})
		w.rule(alerting.Condition{ApprovalWanted: true}, func(r *alerting.Rule) { r.Alert = "late" })
		w.stepped(of, "ok", job.StatusTimedOut, "", nil)
		w.wantSent()
		if n := w.notices(); n > 0 || len(w.incidents()) > 0 {
			t.Errorf("%d notices are left, and there are the incidents %+v", n, w.incidents())
		}
	})
}
