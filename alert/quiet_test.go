package alert_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

func TestAtLengthQuietHoursHoldBackWhatIsNotCriticalAndDropWhatHasPassed(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.channel(alerting.Channel{Channel: "hook", Kind: alerting.KindWebhook, URL: "https://hook.test/x", Quiet: &alerting.Quiet{From: "11:00", To: "13:20", Zone: "Europe/Berlin"}})
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
		time.Sleep(20 * time.Minute) // until 12:20 UTC, when it is 13:20
		sent := w.wantSent("opened billing/report failed", "opened billing/vital failed")
		if at := sent[0].at; at.Before(start.Add(20*time.Minute)) || at.After(start.Add(20*time.Minute+settled)) {
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
		w.rule(alerting.Condition{}, func(r *alerting.Rule) { r.Repeat = job.Duration(2 * time.Minute) })
		w.ends(report, job.StatusFailed)
		w.wantSent("opened billing/report failed")
		time.Sleep(2*time.Minute + 10*time.Second)
		w.wantSent("reminder Still open: billing/report failed")
		_, err := w.book.EditIncident(w.t.Context(), w.incidents()[0].ID, func(inc *alerting.Incident) { inc.Acknowledge("ann", "on it", time.Now()) })
		if err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(9 * time.Minute)
		w.wantSent()
		w.ends(report, job.StatusSucceeded)
		w.wantSent("recovered Resolved: billing/report failed")
	})
}

func TestAtLengthASnoozedIncidentIsHeardOfWhenTheSnoozeEnds(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{}, func(r *alerting.Rule) { r.Repeat = job.Duration(2 * time.Minute) })
		w.ends(report, job.StatusFailed)
		w.wantSent("opened billing/report failed")
		edit := func(change func(*alerting.Incident)) {
			w.t.Helper()
			if _, err := w.book.EditIncident(w.t.Context(), w.incidents()[0].ID, change); err != nil {
				w.t.Fatal(err)
			}
		}
		snooze := func(inc *alerting.Incident) { inc.Snooze("ann", "", time.Now(), time.Now().Add(7*time.Minute)) }
		edit(snooze)
		time.Sleep(6 * time.Minute)
		if inc := w.incidents()[0]; !inc.IsSnoozed(time.Now()) || inc.SnoozedBy != "ann" {
			w.t.Errorf("incident snoozed until %v by %q", inc.SnoozedUntil, inc.SnoozedBy)
		}
		w.wantSent() // though it is repeated every two minutes
		time.Sleep(time.Minute + settled)
		w.wantSent("reminder Still open: billing/report failed")

		edit(snooze)
		edit(snooze)
		edit(func(inc *alerting.Incident) { inc.Wake(time.Now()) })
		time.Sleep(time.Minute)
		w.wantSent()
		time.Sleep(time.Minute + settled)
		w.wantSent("reminder Still open: billing/report failed")

		edit(snooze)
		w.ends(report, job.StatusSucceeded)
		w.wantSent("recovered Resolved: billing/report failed")
		time.Sleep(9 * time.Minute)
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
