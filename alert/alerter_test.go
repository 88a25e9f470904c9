package alert_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/outcome"
)

func TestAFailureIsToldOnceAndItsEndToo(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{})
		w.ends(report, job.StatusSucceeded)
		w.wantSent()
		w.ends(report, job.StatusFailed)
		sent := w.wantSent("opened billing/report failed")
		if !strings.Contains(sent[0].body, "it said no") || !strings.Contains(sent[0].body, "https://carillon.test/alerts/incidents/") {
			w.t.Errorf("the message lacks what the run said, or a link: %s", sent[0].body)
		}
		w.ends(report, job.StatusTimedOut)
		w.ends("billing/other", job.StatusSucceeded)
		w.wantSent()
		w.ends(report, job.StatusSucceeded)
		w.wantSent("recovered Resolved: billing/report timed out")
		inc := w.wantDeliveries("hook opened sent 1", "hook recovered sent 1")
		if inc.Count != 2 || inc.State != alerting.Resolved || inc.Resolution != "billing/report succeeded" || inc.Jobs[0].Count != 2 {
			w.t.Errorf("incident %+v", inc)
		}
		w.ends(report, job.StatusLost)
		w.wantSent("opened billing/report was lost with its executor")
		if n := len(w.incidents()); n != 2 {
			w.t.Errorf("%d incidents, want the one before to be kept", n)
		}
	})
}

func TestAnAttemptThatIsTriedAgainIsNoAlarmAndTheLastOneIs(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{})
		w.ends(report, job.StatusFailed, func(e *bus.Event) { e.Retry = true })
		w.wantSent()
		w.decided(job.StatusFailed, "no attempts are left", report)
		w.wantSent("opened billing/report failed")
		if n := w.notices(); n != 0 {
			w.t.Errorf("%d notices are left", n)
		}
	})
}

func TestFailuresInARowAreCountedThroughACrash(t *testing.T) {
	run(t, func(w *world) {
		a := w.start("a")
		w.rule(alerting.Condition{Ends: []job.Status{job.StatusFailed}, InARow: 3})
		w.ends(report, job.StatusFailed)
		w.ends(report, job.StatusFailed)
		w.ends(report, job.StatusSucceeded)
		w.ends(report, job.StatusFailed)
		w.ends(report, job.StatusFailed)
		w.wantSent()
		a.crash()
		time.Sleep(leaseEnd)
		w.start("b")
		w.wantSent()
		w.ends(report, job.StatusFailed)
		w.wantSent("opened billing/report failed, 3 times in a row")
	})
}

func TestWhatHappensWhileNoAlerterRunsIsToldLater(t *testing.T) {
	run(t, func(w *world) {
		a := w.start("a")
		w.rule(alerting.Condition{})
		a.stop()
		w.ends(report, job.StatusFailed)
		w.decided(job.StatusMissed, "noticed too late", "billing/a", "billing/b")
		time.Sleep(5 * time.Hour)
		w.wantSent()
		w.start("b")
		w.wantSent("opened billing/report failed", "opened billing/a was missed", "opened billing/b was missed")
	})
}

func TestANodeThatDiesWhileItSendsIsFollowedByOneThatSendsUnderTheSameKey(t *testing.T) {
	run(t, func(w *world) {
		a := w.start("a")
		w.rule(alerting.Condition{})
		w.answers(func(request) int { // it arrives, and its sender dies before it can write that down
			a.conn.NC.Close()
			return http.StatusOK
		})
		w.ends(report, job.StatusFailed)
		first := w.wantSent("opened billing/report failed")
		w.answers(nil)
		a.crash()
		time.Sleep(leaseEnd)
		w.start("b")
		again := w.wantSent("opened billing/report failed")
		if x, y := first[0].header.Get("Idempotency-Key"), again[0].header.Get("Idempotency-Key"); x == "" || x != y {
			w.t.Errorf("sent under the keys %q and %q, want one", x, y)
		}
		w.wantDeliveries("hook opened sent 2")
		w.start("c")
		time.Sleep(time.Hour)
		w.wantSent()
		if n := len(w.incidents()); n != 1 {
			w.t.Errorf("%d incidents, want 1", n)
		}
	})
}

func TestADeliveryThatFailsIsTriedAgainLessAndLessOften(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{})
		w.answers(func(request) int { return http.StatusBadGateway })
		w.ends(report, job.StatusFailed)
		time.Sleep(3 * time.Minute)
		w.mu.Lock()
		var waits []string
		for i, r := range w.got[1:] {
			waits = append(waits, r.at.Sub(w.got[i].at).Round(time.Second).String())
		}
		w.got = nil
		w.mu.Unlock()
		if got := strings.Join(waits, " "); got != "10s 30s 1m30s" {
			w.t.Errorf("tried again after %s", got)
		}
		w.wantDeliveries("hook opened waiting 4 answered 502 Bad Gateway:")
		w.answers(nil)
		time.Sleep(5 * time.Minute)
		w.wantSent("opened billing/report failed")
		w.wantDeliveries("hook opened sent 5")
	})
}

func TestADeliveryThatFailsForADayIsGivenUp(t *testing.T) {
	run(t, func(w *world) {
		a := w.start("a")
		w.rule(alerting.Condition{})
		w.answers(func(request) int { return http.StatusNotFound })
		w.ends(report, job.StatusFailed)
		a.stop()
		time.Sleep(25 * time.Hour)
		w.start("b")
		if d := w.incidents()[0].Deliveries[0]; d.State != alerting.Failed || d.Reason != "answered 404 Not Found: " {
			w.t.Errorf("delivery %+v, want it given up", d)
		}
	})
}

func TestQuietHoursHoldBackWhatIsNotCriticalAndDropWhatHasPassed(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.channel(alerting.Channel{Channel: "hook", Kind: alerting.KindWebhook, URL: "https://hook.test/x", Quiet: &alerting.Quiet{From: "11:00", To: "15:00", Zone: "Europe/Berlin"}})
		w.rule(alerting.Condition{})
		w.ends(report, job.StatusFailed) // 12:00 UTC is 13:00
		w.ends("billing/passes", job.StatusFailed)
		w.ends("billing/passes", job.StatusSucceeded)
		w.wantSent()
		w.rule(alerting.Condition{}, func(r *alerting.Rule) {
			r.Alert, r.Severity, r.Match.Jobs = "s", alerting.Critical, []job.Name{"billing/vital"}
		})
		w.ends("billing/vital", job.StatusFailed)
		w.wantSent("opened billing/vital failed")
		time.Sleep(2 * time.Hour) // until 14:00 UTC, when it is 15:00
		sent := w.wantSent("opened billing/report failed", "opened billing/vital failed")
		if at := sent[0].at; at.Before(start.Add(2*time.Hour)) || at.After(start.Add(2*time.Hour+settled)) {
			w.t.Errorf("sent at %s", at)
		}
	})
}

func TestASilenceHoldsBackUntilItEnds(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{})
		s, err := alerting.NewSilence(alerting.Silence{Group: "billing"}, time.Hour, "ann", time.Now())
		if err == nil {
			err = w.book.AddSilence(w.t.Context(), s)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(settled) // the alerter hears of it by another way than of the runs
		w.ends(report, job.StatusFailed)
		w.ends("other/job", job.StatusFailed)
		w.wantSent("opened other/job failed")
		if err := w.book.EndSilence(w.t.Context(), s.ID); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(time.Minute + settled)
		w.wantSent("opened billing/report failed")
	})
}

func TestAcknowledgementEndsReminders(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{}, func(r *alerting.Rule) { r.Repeat = job.Duration(time.Hour) })
		w.ends(report, job.StatusFailed)
		w.wantSent("opened billing/report failed")
		time.Sleep(time.Hour + 10*time.Second)
		w.wantSent("reminder Still open: billing/report failed")
		_, err := w.book.EditIncident(w.t.Context(), w.incidents()[0].ID, func(inc *alerting.Incident) { inc.Acknowledge("ann", "on it", time.Now()) })
		if err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(5 * time.Hour)
		w.wantSent()
		w.ends(report, job.StatusSucceeded)
		w.wantSent("recovered Resolved: billing/report failed")
	})
}

func TestASnoozedIncidentIsHeardOfWhenTheSnoozeEnds(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{}, func(r *alerting.Rule) { r.Repeat = job.Duration(time.Hour) })
		w.ends(report, job.StatusFailed)
		w.wantSent("opened billing/report failed")
		edit := func(change func(*alerting.Incident)) {
			w.t.Helper()
			if _, err := w.book.EditIncident(w.t.Context(), w.incidents()[0].ID, change); err != nil {
				w.t.Fatal(err)
			}
		}
		snooze := func(inc *alerting.Incident) { inc.Snooze("ann", "", time.Now(), time.Now().Add(5*time.Hour)) }
		edit(snooze)
		time.Sleep(5*time.Hour - time.Minute)
		if inc := w.incidents()[0]; !inc.IsSnoozed(time.Now()) || inc.SnoozedBy != "ann" {
			w.t.Errorf("incident snoozed until %v by %q", inc.SnoozedUntil, inc.SnoozedBy)
		}
		w.wantSent() // though it is repeated each hour
		time.Sleep(time.Minute + settled)
		w.wantSent("reminder Still open: billing/report failed")

		edit(snooze)
		edit(snooze)
		edit(func(inc *alerting.Incident) { inc.Wake(time.Now()) })
		time.Sleep(59 * time.Minute)
		w.wantSent()
		time.Sleep(time.Minute + settled)
		w.wantSent("reminder Still open: billing/report failed")

		edit(snooze)
		w.ends(report, job.StatusSucceeded)
		w.wantSent("recovered Resolved: billing/report failed")
		time.Sleep(6 * time.Hour)
		w.wantSent()
	})
}

func TestAnIncidentSnoozedBeforeItIsToldIsToldWhenItIsWoken(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{}, func(r *alerting.Rule) { r.Wait = job.Duration(time.Minute) })
		w.ends(report, job.StatusFailed)
		edit := func(change func(*alerting.Incident)) {
			w.t.Helper()
			if _, err := w.book.EditIncident(w.t.Context(), w.incidents()[0].ID, change); err != nil {
				w.t.Fatal(err)
			}
		}
		edit(func(inc *alerting.Incident) { inc.Snooze("ann", "later", time.Now(), time.Now().Add(time.Hour)) })
		time.Sleep(10 * time.Minute)
		w.wantSent()
		edit(func(inc *alerting.Incident) { inc.Wake(time.Now()) })
		time.Sleep(settled)
		w.wantSent("opened billing/report failed")
	})
}

func TestAHundredJobsOfAGroupAreOneMessage(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{}, func(r *alerting.Rule) { r.GroupBy, r.Wait = alerting.ByGroup, job.Duration(30*time.Second) })
		names := []job.Name{}
		for i := range 100 {
			names = append(names, job.Name(fmt.Sprintf("billing/j%d", i)))
		}
		w.decided(job.StatusMissed, "noticed 1h late", names...)
		w.wantSent()
		time.Sleep(time.Minute)
		w.wantSent("opened billing/j99 was missed, and 99 other jobs")
		if inc := w.incidents()[0]; inc.Count != 100 || len(inc.Jobs) != 50 || inc.More != 50 {
			w.t.Errorf("incident of %d runs, %d jobs and %d more", inc.Count, len(inc.Jobs), inc.More)
		}
	})
}

func TestAnIncidentWhoseRuleIsGoneIsOver(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{})
		w.ends(report, job.StatusFailed)
		if err := w.book.DeleteRule(w.t.Context(), "r", cluster.Edit{}); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		w.wantSent("opened billing/report failed", "recovered Resolved: billing/report failed")
		w.ends(report, job.StatusFailed)
		w.wantSent()
	})
}

func TestARunThatIsNotBegunOrNotDoneInTimeIsTold(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{StartsWithin: job.Duration(time.Minute)})
		w.rule(alerting.Condition{EndsWithin: job.Duration(time.Hour)}, func(r *alerting.Rule) { r.Alert = "s" })
		waits, runs := w.trigger("billing/waits"), w.trigger("billing/runs")
		for _, tr := range []*bus.Trigger{waits, runs} {
			body, err := tr.Encode()
			if err != nil {
				w.t.Fatal(err)
			}
			w.put(bus.AppendTrigger(nil, tr, body), bus.SubjectTrigger(tr.Shard, "billing"))
		}
		w.publish(bus.EventOf(runs, bus.EventStarted, time.Now()))
		time.Sleep(50 * time.Second)
		w.wantSent()
		time.Sleep(20 * time.Second)
		w.wantSent("opened billing/waits has not begun 1m after its fire time")
		w.publish(bus.EventOf(waits, bus.EventStarted, time.Now()))
		time.Sleep(settled)
		w.wantSent("recovered Resolved: billing/waits has not begun 1m after its fire time")
		time.Sleep(time.Hour)
		w.wantSent("opened billing/waits has not ended 1h after its fire time", "opened billing/runs has not ended 1h after its fire time")
		e := bus.EventOf(runs, bus.EventFinished, time.Now())
		e.Status = job.StatusFailed
		w.publish(e)
		time.Sleep(settled)
		w.wantSent("recovered Resolved: billing/runs has not ended 1h after its fire time")
	})
}

func TestANodeThatTakesOverKnowsWhichRunsHaveBegun(t *testing.T) {
	run(t, func(w *world) {
		a := w.start("a")
		w.rule(alerting.Condition{StartsWithin: job.Duration(time.Minute)})
		runs := w.trigger("billing/runs")
		body, err := runs.Encode()
		if err != nil {
			w.t.Fatal(err)
		}
		w.put(bus.AppendTrigger(nil, runs, body), bus.SubjectTrigger(runs.Shard, "billing"))
		w.publish(bus.EventOf(runs, bus.EventStarted, time.Now()))
		time.Sleep(10 * time.Second)
		a.crash()
		time.Sleep(leaseEnd)
		w.start("b")
		time.Sleep(time.Hour)
		w.wantSent()
	})
}

func TestARunThatIsMuchSlowerThanUsualIsTold(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{Slower: 3})
		takes := func(d time.Duration) {
			w.t.Helper()
			w.ends(report, job.StatusSucceeded, func(e *bus.Event) { e.StartedAt = e.FinishedAt.Add(-d) })
		}
		takes(50 * time.Minute)
		for range 20 {
			takes(2 * time.Second)
		}
		takes(5 * time.Second)
		w.wantSent()
		takes(16 * time.Second)
		w.wantSent("opened billing/report took 16s, which is slow: 95 of 100 runs take 5s at most")
	})
}

func TestAGroupWithoutExecutorIsTold(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{NoExecutor: job.Duration(time.Minute)})
		j, err := job.Decode([]byte(`{"job": "billing/report", "task": {"shell": "true"}}`))
		if err == nil {
			_, _, err = w.conn.PutJob(w.t.Context(), j, cluster.Edit{At: time.Now()})
		}
		if err != nil {
			w.t.Fatal(err)
		}
		w.beat("billing")
		time.Sleep(fleet.InstanceTTL + 50*time.Second)
		w.wantSent()
		time.Sleep(20 * time.Second)
		w.wantSent("opened group billing has jobs, and no executor to run them")
		w.beat("billing")
		time.Sleep(10 * time.Second)
		w.wantSent("recovered Resolved: group billing has jobs, and no executor to run them")
	})
}

func TestAStreamThatFillsUpIsTold(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{StreamFull: 80})
		time.Sleep(10 * time.Second)
		w.wantSent()
		for range 14 {
			w.put(make([]byte, 64<<10), "trig.0.any.x")
		}
		time.Sleep(10 * time.Second)
		if sent := w.incidents(); len(sent) != 1 || sent[0].Subject != "stream TRIG" || !strings.HasPrefix(sent[0].Summary, "stream TRIG is 8") {
			w.t.Errorf("incidents %+v", sent)
		}
	})
}

// A stream of lines that is full of what the log store has is as it should be.
func TestLinesThatWaitForTheLogStoreAreToldBeforeTheyAreLost(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{StreamFull: 80})
		lines, err := w.conn.JS.Consumer(w.t.Context(), bus.StreamLog, bus.ConsumerLogs)
		if err != nil {
			w.t.Fatal(err)
		}
		wave := func() (waiting jetstream.MessageBatch) {
			for range 14 {
				noise := make([]byte, 64<<10)
				_, _ = rand.Read(noise) // never fails; the stream is compressed
				w.put(noise, "log.billing.x")
			}
			batch, err := lines.Fetch(14, jetstream.FetchMaxWait(time.Second))
			if err != nil {
				w.t.Fatal(err)
			}
			return batch
		}
		for m := range wave().Messages() { // ingest has them at once
			if err := m.Ack(); err != nil {
				w.t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Second)
		if all := w.incidents(); len(all) != 0 {
			w.t.Errorf("with all lines in the store there are the incidents %+v", all)
		}
		var taken []jetstream.Msg
		for m := range wave().Messages() {
			taken = append(taken, m)
		}
		time.Sleep(10 * time.Second)
		if all := w.incidents(); len(all) != 1 || all[0].Subject != "stream LOG" || all[0].State != alerting.Open {
			w.t.Errorf("with lines that wait there are the incidents %+v", all)
		}
		for _, m := range taken {
			if err := m.Ack(); err != nil {
				w.t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Second)
		if all := w.incidents(); len(all) != 1 || all[0].State != alerting.Resolved {
			w.t.Errorf("with all lines in the store again there are the incidents %+v", all)
		}
	})
}

func TestADiskOfTheLogStoreThatFillsUpIsTold(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{StoreFull: 90})
		measured := func(free int64, incidents int, state alerting.State) {
			w.t.Helper()
			if err := w.conn.PutStoreDisk(w.t.Context(), &cluster.StoreDisk{Total: 1000, Free: free, At: time.Now()}); err != nil {
				w.t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
			all := w.incidents()
			if len(all) != incidents || incidents > 0 && (all[0].Subject != "disk of the log store" || all[0].State != state) {
				w.t.Errorf("with %d of 1000 free there are the incidents %+v; want %d, the newest %s", free, all, incidents, state)
			}
		}
		time.Sleep(10 * time.Second) // nothing is measured yet
		measured(110, 0, "")
		measured(95, 1, alerting.Open)
		measured(120, 1, alerting.Open) // not clearly less full
		measured(200, 1, alerting.Resolved)
		measured(100, 2, alerting.Open)
		time.Sleep(time.Hour) // while the store is away
		if all := w.incidents(); len(all) != 2 || all[0].State != alerting.Open {
			w.t.Errorf("after an hour without measurement the incidents are %+v", all)
		}
	})
}

func TestADiscrepancyOfTheLedgerIsToldOnceThoughEverySessionReadsIt(t *testing.T) {
	run(t, func(w *world) {
		a := w.start("a")
		w.rule(alerting.Condition{Discrepancy: true})
		fired := time.Now().UTC().Truncate(time.Second)
		_, err := w.conn.PutFinding(w.t.Context(), &outcome.Finding{
			Job: report, FireTime: fired, RunID: job.FireRunID(report, fired.UnixMilli(), job.CauseSchedule), Reason: "nothing is known of it", FoundAt: time.Now(),
		})
		if err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(settled)
		w.wantSent("opened the ledger of billing/report has a discrepancy")
		a.crash()
		time.Sleep(leaseEnd)
		w.start("b")
		w.ends(report, job.StatusSucceeded) // which proves nothing
		w.wantSent()
		if _, err := w.book.EditIncident(w.t.Context(), w.incidents()[0].ID, func(inc *alerting.Incident) { inc.Resolve("ann", "looked into", time.Now()) }); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(settled)
		w.wantSent("recovered Resolved: the ledger of billing/report has a discrepancy")
	})
}

func TestADiscrepancyThatHasHealedResolvesItsIncidentOnceAllHave(t *testing.T) {
	run(t, func(w *world) {
		a := w.start("a")
		w.rule(alerting.Condition{Discrepancy: true})
		var found []*outcome.Finding
		for n := range 2 {
			fired := time.Now().UTC().Truncate(time.Second).Add(time.Duration(n) * time.Second)
			f := &outcome.Finding{Job: report, FireTime: fired, RunID: job.FireRunID(report, fired.UnixMilli(), job.CauseSchedule), Reason: "nothing is known of it", FoundAt: time.Now()}
			if _, err := w.conn.PutFinding(w.t.Context(), f); err != nil {
				w.t.Fatal(err)
			}
			found = append(found, f)
		}
		time.Sleep(settled)
		w.wantSent("opened the ledger of billing/report has a discrepancy")
		heal := func(f *outcome.Finding) {
			w.t.Helper()
			f.HealedAt, f.Healed = time.Now(), "its run is there"
			if err := w.conn.HealFinding(w.t.Context(), f); err != nil {
				w.t.Fatal(err)
			}
			time.Sleep(settled)
		}
		heal(found[0])
		w.wantSent()
		a.crash()
		time.Sleep(leaseEnd)
		w.start("b")
		time.Sleep(settled)
		w.wantSent()
		heal(found[1])
		w.wantSent("recovered Resolved: the ledger of billing/report has a discrepancy")
		if inc := w.incidents()[0]; inc.State != alerting.Resolved || inc.Resolution != "what was missing in the ledger has come" || inc.Count != 2 {
			w.t.Errorf("%+v", inc)
		}
	})
}

func TestATestIsSentWhateverHoldsOthersBackAndTriedOnce(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.answers(func(request) int { return http.StatusInternalServerError })
		inc, err := w.book.Test(w.t.Context(), "hook", "ann")
		if err == nil {
			inc, err = w.book.Tested(w.t.Context(), inc.ID)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		if d := inc.Deliveries[0]; d.State != alerting.Failed || !strings.HasPrefix(d.Reason, "answered 500") {
			w.t.Errorf("delivery %+v", d)
		}
		w.wantSent("test This is a test of channel hook, sent by ann")
		time.Sleep(time.Hour)
		w.wantSent()
	})
}

func TestSecretsReachTheChannelAndNobodyElse(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.channel(alerting.Channel{Channel: "chat", Kind: alerting.KindSlack})
		w.rule(alerting.Condition{}, func(r *alerting.Rule) { r.Channels = []string{"chat"} })
		w.ends("billing/one", job.StatusFailed)
		w.wantDeliveries(`chat opened waiting 1 the channel has no secret "url" yet`)
		entry, err := w.book.SetSecret(w.t.Context(), w.master, "chat", alerting.SecretURL, "https://chat.test/T0/B0/s3cret", cluster.Edit{At: time.Now()})
		if err != nil {
			w.t.Fatal(err)
		}
		if strings.Contains(string(entry.Sealed[alerting.SecretURL]), "s3cret") {
			w.t.Error("the secret is stored as it is")
		}
		w.answers(func(request) int { return http.StatusForbidden })
		w.ends(report, job.StatusFailed)
		time.Sleep(settled) // the first incident is tried again meanwhile, with the secret
		if d := w.incidents()[0].Deliveries[0]; d.Reason != "answered 403 Forbidden: " {
			w.t.Errorf("delivery %+v", d)
		}
		w.channel(alerting.Channel{Channel: "chat", Kind: alerting.KindTeams})
		if entry, err := w.book.Channel(w.t.Context(), "chat"); err != nil || len(entry.Sealed) != 0 {
			w.t.Errorf("a channel of another kind keeps its secrets: %v, %v", entry, err)
		}
	})
}
