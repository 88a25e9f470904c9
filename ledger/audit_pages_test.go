package ledger_test

import (
	"context"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/logstore"
)

// slow is a history that takes a second to read a run.
type slow struct{ logstore.Store }

func (s slow) Run(ctx context.Context, id job.RunID) ([]runlog.Run, error) {
	time.Sleep(time.Second)
	return s.Store.Run(ctx, id)
}

func TestAPageOfAnAuditEndsInTimeAlsoWithinAWorkflow(t *testing.T) {
	const fires, within = 30, 5 * time.Second
	onPatrol(t, func(b *beat) {
		j := job.Job{Job: report, Schedule: job.Schedule{Cron: "* * * * *"}, Steps: []job.Step{stepAfter("a")}}.WithDefaults()
		_, _, err := b.conn.Jobs().Put(b.Context(), j, cluster.Edit{At: time.Now().Add(-time.Millisecond)})
		b.check(err)
		for m := range fires {
			id := job.FireRunID(report, at(m).UnixMilli(), job.CauseSchedule)
			of := logstore.Update{Kind: runlog.KindRecorded, Job: report, Version: 1, Attempt: 1, At: at(m), Status: job.StatusSucceeded}
			run, step := of, of
			run.RunID, run.Cause = id, job.CauseSchedule
			step.RunID, step.Cause, step.Parent, step.Step = job.StepRunID(id, "a"), job.CauseStep, id, "a"
			b.check(b.store.WriteRuns(b.Context(), "", []logstore.Update{run, step}))
		}
		b.decided(fires)
		l := ledger.New(b.conn, slow{b.store}, logstore.DefaultRetention())
		judged, pages := 0, 0
		for next := ""; pages == 0 || next != ""; pages++ {
			begun := time.Now()
			page, err := l.Audit(b.Context(), ledger.Request{From: at(0), To: at(fires), Within: within, Cursor: next})
			b.check(err)
			if took := time.Since(begun); took > 2*within {
				b.Errorf("a page took %s", took)
			}
			judged += page.Total.Fires
			next = page.Next
		}
		if judged != fires || pages < 2 {
			b.Errorf("%d fires were judged on %d pages, want %d", judged, pages, fires)
		}
	})
}
