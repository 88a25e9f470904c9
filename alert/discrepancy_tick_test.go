package alert_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/outcome"
)

func TestADiscrepancyOfTheLedgerIsToldOnceThoughEverySessionReadsIt(t *testing.T) {
	run(t, func(w *world) {
		a := w.start("a")
		w.rule(alerting.Condition{Discrepancy: true})
		fired := time.Now().UTC().Truncate(time.Second)
		_, err := w.conn.Findings().Put(w.t.Context(), &outcome.Finding{
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
			if _, err := w.conn.Findings().Put(w.t.Context(), f); err != nil {
				w.t.Fatal(err)
			}
			found = append(found, f)
		}
		time.Sleep(settled)
		w.wantSent("opened the ledger of billing/report has a discrepancy")
		heal := func(f *outcome.Finding) {
			w.t.Helper()
			f.HealedAt, f.Healed = time.Now(), "its run is there"
			if err := w.conn.Findings().Heal(w.t.Context(), f); err != nil {
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
		if inc := w.incidents()[0]; inc.State != alerting.Resolved || inc.Resolution != "the missing records of the ledger have arrived" || inc.Count != 2 {
			w.t.Errorf("%+v", inc)
		}
	})
}
