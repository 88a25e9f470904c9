package alert_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
)

// line stores a notice of one line about the report's fire at an instant.
func (w *world) line(fire time.Time, s job.Status, why string, p *runlog.Ping) {
	w.t.Helper()
	o := journal.Outcome{Status: s, Cause: job.CauseSchedule, Reason: why, FireTime: fire, Jobs: []string{journal.JobVersion(report, 1)}, Ping: p}
	w.notice(o)
}

func (w *world) notice(o journal.Outcome) {
	w.t.Helper()
	m, err := (&journal.Record{Shard: report.Shard(shards), Commit: "c", Node: "n", At: time.Now(), Outcomes: []journal.Outcome{o}}).Notice()
	if err == nil {
		_, err = w.conn.JS.PublishMsg(w.t.Context(), m)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(settled)
}

func pinged() *runlog.Ping { return &runlog.Ping{ID: "01", Host: "web1"} }

func fireAt(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }

var noPing = reason.NoPing.With(job.Duration(10 * time.Minute))

func TestARunThatAPingReportsAsFailedAlertsLikeAnyOther(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{})
		code := 3
		failed := pinged()
		failed.ExitCode, failed.Message = &code, "disk full"
		w.line(fireAt(1), job.StatusFailed, "", failed)
		w.wantSent("opened billing/report failed")
		if all := w.incidents(); len(all) != 1 || all[0].Jobs[0].Message != "exit code 3: disk full" {
			w.t.Errorf("incidents: %+v", all)
		}
		w.line(fireAt(1), job.StatusSucceeded, reason.PingAgain.String(), pinged()) // the first end stands
		w.wantSent()
		w.line(fireAt(2), job.StatusSucceeded, "", pinged())
		w.wantSent("recovered Resolved: billing/report failed")
	})
}

func TestALateEndResolvesTheMissOfItsOwnFireAndOfNoLaterOne(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{})
		w.line(fireAt(1), job.StatusMissed, noPing, nil)
		w.wantSent("opened billing/report was missed")
		w.line(fireAt(1), job.StatusSucceeded, reason.ToldLate.String(), pinged())
		w.wantSent("recovered Resolved: billing/report was missed")
		w.line(fireAt(2), job.StatusMissed, noPing, nil)
		w.line(fireAt(3), job.StatusMissed, noPing, nil)
		w.wantSent("opened billing/report was missed")
		w.line(fireAt(2), job.StatusSucceeded, reason.CameLate.String(), pinged())
		w.line(fireAt(2), job.StatusFailed, reason.CameLate.String(), pinged())
		w.wantSent()
		if all := w.incidents(); all[0].State != alerting.Open || all[0].Jobs[0].RunID.Time() != fireAt(3) || all[0].Count != 2 {
			w.t.Errorf("incident: %+v; want that of the last fire", all[0])
		}
		w.line(fireAt(3), job.StatusSucceeded, reason.CameLate.String(), pinged())
		w.wantSent("recovered Resolved: billing/report was missed")
	})
}

func TestALateEndOfAnOlderFireDoesNotBreakARowOfMisses(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{Ends: []job.Status{job.StatusMissed, job.StatusFailed}, InARow: 3})
		w.line(fireAt(1), job.StatusMissed, noPing, nil)
		w.line(fireAt(2), job.StatusMissed, noPing, nil)
		w.line(fireAt(1), job.StatusSucceeded, reason.CameLate.String(), pinged())
		w.line(fireAt(2), job.StatusFailed, reason.CameLate.String(), pinged()) // it counts already
		w.wantSent()
		w.line(fireAt(3), job.StatusMissed, noPing, nil)
		w.wantSent("opened billing/report was missed, 3 times in a row")
		w.line(fireAt(3), job.StatusSucceeded, reason.CameLate.String(), pinged())
		w.wantSent("recovered Resolved: billing/report was missed, 3 times in a row")
		w.line(fireAt(4), job.StatusMissed, noPing, nil)
		w.wantSent()
	})
}

func TestMissesWhileServersWereAwayCanBeLeftOut(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{Ends: []job.Status{job.StatusMissed}, IgnoreAway: true})
		w.line(fireAt(1), job.StatusMissed, reason.NoPingAway.With(job.Duration(10*time.Minute), fireAt(30)), nil)
		w.wantSent()
		w.line(fireAt(2), job.StatusMissed, noPing, nil)
		w.wantSent("opened billing/report was missed")
	})
}

func TestPingsThatNoFireAskedForAlertUnlessTheirFireWasSkipped(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{})
		unasked := func(minute int, why string) {
			w.t.Helper()
			w.notice(journal.Outcome{
				Status: job.StatusFailed, Cause: job.CausePing, Reason: why, FireTime: fireAt(minute), Jobs: []string{journal.JobVersion(report, 1)},
				RunIDs: []job.RunID{job.PingRunID(report, "01", fireAt(minute).UnixMilli())}, Ping: pinged(),
			})
		}
		unasked(1, "the job is paused")
		w.wantSent()
		unasked(2, reason.Unasked.String())
		w.wantSent("opened billing/report failed")
	})
}
