package alert_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
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

func TestATestOfADraftAndAStepAreNoAlarm(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{})
		w.ends("billing/x-draft-1", job.StatusFailed, func(e *bus.Event) { e.Cause = job.CauseTest })
		w.ends("billing/x-draft-1", job.StatusFailed, func(e *bus.Event) { e.Cause = job.CauseStep })
		w.wantSent()
		w.ends(report, job.StatusFailed)
		w.wantSent("opened billing/report failed")
		w.ends("billing/x-draft-1", job.StatusFailed, func(e *bus.Event) { e.Cause = job.CauseTest })
		if all := w.incidents(); len(all) != 1 || all[0].Count != 1 {
			w.t.Errorf("incidents: %+v", all)
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

func TestAnEndThatComesAgainLaterCountsOnce(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{Ends: []job.Status{job.StatusFailed}, InARow: 3})
		w.rule(alerting.Condition{}, func(r *alerting.Rule) { r.Alert = "each" })
		var end *bus.Event
		w.ends(report, job.StatusFailed, func(e *bus.Event) { end = e })
		w.ends(report, job.StatusFailed)
		w.wantSent("opened billing/report failed")
		time.Sleep(3 * time.Minute) // the stream has forgotten the first
		w.publish(end)
		time.Sleep(settled)
		w.wantSent()
		if all := w.incidents(); len(all) != 1 || all[0].Count != 2 {
			w.t.Errorf("incidents: %+v", all)
		}
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
		time.Sleep(10 * time.Minute)
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

func TestAtLengthADeliveryThatFailsForADayIsGivenUp(t *testing.T) {
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
		w.wantSent("opened billing/report failed", "recovered Closed: billing/report failed")
		w.ends(report, job.StatusFailed)
		w.wantSent()
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
		time.Sleep(10 * time.Minute)
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
		time.Sleep(time.Second) // the alerter hears of it
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
