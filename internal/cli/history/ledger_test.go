package history

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/draw/drawtest"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
)

func TestTheLedgerAndTheAuditAreDrawn(t *testing.T) {
	entry := func(clock string, is outcome.Outcome, status job.Status, why reason.Text) outcome.Entry {
		e := outcome.Entry{FireTime: drawtest.At(clock), Due: drawtest.At(clock), Version: 3, Outcome: is, Status: status, Reason: why, RunID: "019b76da-a800-7c3e-9d5b-0f4e2a6c8b01"}
		if status != "" {
			e.Late = job.Duration(12 * time.Millisecond)
			e.DecidedAt = e.Due.Add(e.Late.Std())
		}
		return e
	}
	bad := entry("03:20:00.000", outcome.Discrepancy, "", "nothing is known of it, though its shard has come up to 2026-03-01T04:00:00Z")
	page := client.LedgerPage{
		Items: []outcome.Entry{
			entry("03:00:00.000", outcome.Ran, job.StatusSucceeded, ""),
			entry("03:10:00.000", outcome.CaughtUp, job.StatusFailed, "noticed 9m late"),
			bad,
			entry("03:30:00.000", outcome.Undecided, "", "its shard has come up to 2026-03-01T03:25:00Z"),
		},
		DecidedUntil: drawtest.At("03:25:00.000"), HistorySince: drawtest.At("01:00:00.000"), VersionsSince: drawtest.At("02:00:00.500"), Next: "1",
	}
	for i := range page.Items {
		page.Counts.Add(&page.Items[i])
	}
	drawtest.Golden(t, "ledger", func(tab *draw.Table) { drawLedger(tab, page) })
	drawtest.Golden(t, "ledger-empty", func(tab *draw.Table) { drawLedger(tab, client.LedgerPage{DecidedUntil: drawtest.At("03:25:00.000")}) })

	days := []outcome.Day{
		{Job: "billing/report", Date: drawtest.At("00:00:00.000"), Tally: page.Counts},
		{Job: "billing/sums", Date: drawtest.At("00:00:00.000"), Tally: outcome.Tally{Fires: 2, Ran: 2}},
		{Job: "ops/backup", Date: drawtest.At("00:00:00.000"), Tally: outcome.Tally{Fires: 1, Skipped: 1}},
		{Job: "ops/backup", Date: drawtest.At("00:00:00.000").AddDate(0, 0, 1), Tally: outcome.Tally{Fires: 1, Unjudged: 1}},
	}
	audited := client.VerifiedPage{Days: days, DecidedUntil: drawtest.At("03:25:00.000"), Discrepancies: []outcome.JobEntry{{Job: "billing/report", Entry: bad}}}
	for _, d := range days {
		audited.Total.Merge(d.Tally)
	}
	for _, by := range []rowsBy{byGroup, byJob, byDay} {
		drawtest.Golden(t, "audit-by-"+string(by), func(tab *draw.Table) { drawVerified(tab, audited, by) })
	}

	found := client.Discrepancy{Job: "billing/report", FireTime: bad.FireTime, RunID: bad.RunID, Version: 3, Reason: "nothing is known of it", FoundAt: drawtest.At("04:01:00.000")}
	healed := found
	healed.HealedAt, healed.Healed = drawtest.At("04:31:00.000"), "its fire is recorded as ran now"
	drawtest.Golden(t, "audit-found", func(tab *draw.Table) { drawFound(tab, []client.Discrepancy{found, healed}, 1) })
}
