package alert_test

import (
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/alert"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/journal"
)

// save saves a job from its document.
func (w *world) save(document string) {
	w.t.Helper()
	j, err := job.Decode([]byte(document))
	if err == nil {
		_, _, err = w.conn.Jobs().Put(w.t.Context(), j, cluster.Edit{At: time.Now()})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// heard stores that a job has been pinged, as the owner of its shard does.
func (w *world) heard(name job.Name) {
	w.t.Helper()
	m, err := (&journal.Deferred{Kind: journal.DeferredHeard, Job: name}).Msg(name.Shard(shards))
	if err == nil {
		_, err = w.conn.JS.PublishMsg(w.t.Context(), m)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestAJobThatNobodyEverPingedRaisesAnIncidentUntilSomebodyDoes(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{NeverHeard: job.Duration(5 * time.Minute)}, func(r *alerting.Rule) { r.GroupBy = alerting.ByGroup })
		saved := time.Now().UTC().Format(time.DateTime) + " UTC"
		w.save(`{"job": "billing/report", "task": {"watch": "10m"}}`)
		w.save(`{"job": "billing/late", "task": {"watch": "10m"}}`)
		w.save(`{"job": "billing/heard", "task": {"watch": "10m"}}`)
		w.save(`{"job": "billing/paused", "paused": true, "task": {"watch": "10m"}}`)
		w.save(`{"job": "billing/executed", "task": {"shell": "true"}}`)
		w.heard("billing/heard")
		time.Sleep(4 * time.Minute)
		w.wantSent()
		time.Sleep(90 * time.Second)
		both := "nobody has pinged billing/late since it was saved at " + saved + ", and 1 other job"
		w.wantSent("opened " + both)

		w.notice(journal.Outcome{
			Status: job.StatusSucceeded, Cause: job.CausePing, Reason: reason.Unasked.String(), FireTime: time.Now(), Jobs: []string{journal.JobVersion(report, 1)},
			RunIDs: []job.RunID{job.PingRunID(report, "01", time.Now().UnixMilli())}, Ping: pinged(),
		})
		time.Sleep(10 * time.Second)
		w.wantSent()
		if all := w.incidents(); len(all) != 1 || len(all[0].Jobs) != 1 || all[0].Jobs[0].Job != "billing/late" {
			w.t.Errorf("incidents after a ping of one job: %+v", all)
		}
		w.heard("billing/late") // a start, of which no notice tells
		time.Sleep(11 * time.Minute)
		sent := w.wantSent("recovered Resolved: nobody has pinged billing/late since it was saved at " + saved)
		if len(sent) == 1 && time.Since(sent[0].at) > 11*time.Minute {
			w.t.Error("resolved late")
		}
	})
}

func TestANewClusterHasARuleForJobsThatNobodyEverPinged(t *testing.T) {
	i := slices.IndexFunc(alert.Defaults(), func(r alerting.Rule) bool { return r.Alert == "never-heard" })
	if i < 0 {
		t.Fatal("there is no such rule")
	}
	r := alert.Defaults()[i].WithDefaults()
	if err := r.Validate(); err != nil || r.When.NeverHeard.Std() != 24*time.Hour || r.Disabled {
		t.Errorf("rule %+v, %v", r, err)
	}
}

func TestALoopOfPingsRaisesAnIncidentUntilItEnds(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{Unasked: 3})
		unasked := func(minute int, why string) {
			w.t.Helper()
			w.notice(journal.Outcome{
				Status: job.StatusSucceeded, Cause: job.CausePing, Reason: why, FireTime: fireAt(minute), Jobs: []string{journal.JobVersion(report, 1)},
				RunIDs: []job.RunID{job.PingRunID(report, "01", fireAt(minute).UnixMilli())}, Ping: pinged(),
			})
		}
		unasked(1, reason.Unasked.String())
		unasked(50, reason.Unasked.String())
		unasked(51, "the job is paused") // it is expected then
		unasked(62, reason.Unasked.String())
		w.wantSent() // never three within an hour
		unasked(40, reason.Unasked.String())
		w.wantSent("opened pings reported 3 runs of billing/report within an hour that no fire asked for")
		w.line(fireAt(70), job.StatusSucceeded, "", pinged())
		w.wantSent()
		w.line(fireAt(130), job.StatusSucceeded, "", pinged())
		w.wantSent("recovered Resolved: pings reported 3 runs of billing/report within an hour that no fire asked for")
	})
}

func TestFailuresOfRunsThatNoFireAskedForAreNoLoop(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{Unasked: 1})
		w.ends(report, job.StatusFailed)
		w.line(fireAt(1), job.StatusFailed, "", pinged())
		w.line(fireAt(1), job.StatusSucceeded, reason.CameLate.String(), pinged())
		w.wantSent()
	})
}
