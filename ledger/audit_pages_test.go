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

// onWorkflow has a workflow of one step fire so many times, each an interval after the other from noon on.
func onWorkflow(t *testing.T, fires int, every time.Duration, f func(b *beat)) {
	t.Helper()
	onPatrol(t, func(b *beat) {
		anchor := noon
		j := job.Job{Job: report, Schedule: job.Schedule{FixedRate: job.Duration(every), Anchor: &anchor}, Steps: []job.Step{stepAfter("a")}}.WithDefaults()
		_, _, err := b.conn.Jobs().Put(b.Context(), j, cluster.Edit{At: time.Now().Add(-time.Millisecond)})
		b.check(err)
		var all []logstore.Update
		for i := range fires {
			fire := noon.Add(time.Duration(i) * every)
			run := logstore.Update{
				Kind: runlog.KindRecorded, RunID: job.FireRunID(report, fire.UnixMilli(), job.CauseSchedule), Job: report, Version: 1, Attempt: 1,
				Cause: job.CauseSchedule, At: fire, Status: job.StatusSucceeded,
			}
			step := run
			step.RunID, step.Cause, step.Parent, step.Step = job.StepRunID(run.RunID, "a"), job.CauseStep, run.RunID, "a"
			all = append(all, run, step)
		}
		b.check(b.store.WriteRuns(b.Context(), "", all))
		b.decided(int(time.Duration(fires) * every / time.Minute))
		f(b)
	})
}

func TestAPageOfAJobEndsInTimeAlsoOfAWorkflow(t *testing.T) {
	onWorkflow(t, 900, time.Second, func(b *beat) {
		begun := time.Now()
		page, err := ledger.New(b.conn, slow{b.store}, logstore.DefaultRetention()).Job(b.Context(), report, ledger.JobRequest{From: noon, To: at(15), Limit: 500})
		b.check(err)
		if took := time.Since(begun); took > 2*time.Minute || len(page.Items) == 0 || page.Next == "" {
			b.Errorf("a page of %d fires took %s; next is %q", len(page.Items), took, page.Next)
		}
	})
}

func TestAPageOfAnAuditEndsInTimeAlsoWithinAWorkflow(t *testing.T) {
	const fires, within = 30, 5 * time.Second
	onWorkflow(t, fires, time.Minute, func(b *beat) {
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
