package history

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/draw/drawtest"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

func TestTheOverviewIsDrawn(t *testing.T) {
	row := func(of runlog.ReportRow, succeeded, failed, missed int, p50 time.Duration) runlog.ReportRow {
		of.Statuses = map[job.Status]int{job.StatusSucceeded: succeeded, job.StatusFailed: failed, job.StatusMissed: missed}
		of.Judge(0, 0)
		of.Attempts = succeeded + failed
		of.Duration = runlog.Spread{Count: of.Attempts, Mean: p50, Max: 4 * p50, P50: p50, P90: 2 * p50, P95: 2 * p50, P99: 3 * p50}
		of.Started = runlog.Spread{Count: of.Attempts, P50: 12 * time.Millisecond, P95: 48 * time.Millisecond}
		return of
	}
	o := client.Overview{
		From: drawtest.At("00:00:00.000"), To: drawtest.At("03:00:00.000"), Alive: map[job.Status]int{job.StatusRunning: 3, job.StatusQueued: 1},
		Total:   row(runlog.ReportRow{}, 90, 10, 2, 1500*time.Millisecond),
		Trend:   []runlog.ReportRow{row(runlog.ReportRow{At: drawtest.At("00:00:00.000")}, 60, 0, 2, time.Second), row(runlog.ReportRow{At: drawtest.At("02:00:00.000")}, 30, 10, 0, time.Second)},
		Busiest: []runlog.ReportRow{row(runlog.ReportRow{At: drawtest.At("02:17:00.000")}, 30, 0, 0, time.Second)},
		Slowest: []runlog.ReportRow{row(runlog.ReportRow{Job: "ops/backup"}, 9, 0, 0, 90*time.Minute)},
		Failing: []runlog.ReportRow{row(runlog.ReportRow{Job: "billing/\x1b[31mreport"}, 10, 10, 0, 20*time.Second)},
		Failures: []runlog.Failure{{
			Fingerprint: "no answer from #", Message: "no answer from 10.0.0.7:5432", Attempts: 10, Jobs: []job.Name{"billing/report", "ops/backup"},
			First: drawtest.At("02:00:00.000"), Last: drawtest.At("02:50:00.000"), LastRun: "019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d",
		}},
	}
	late := row(runlog.ReportRow{Job: "ops/backup"}, 9, 0, 0, 90*time.Minute)
	late.Committed = runlog.Spread{Count: 9, P50: 5 * time.Millisecond, P95: 7 * time.Millisecond}
	late.Delivered = runlog.Spread{Count: 9, P50: 9 * time.Millisecond, P95: 40 * time.Millisecond}
	late.Finished = runlog.Spread{Count: 9, P50: 90 * time.Minute, P95: 3 * time.Hour}
	older := row(runlog.ReportRow{Job: "ops/report"}, 1, 0, 0, time.Second) // its executor does not tell when runs were delivered
	met, missed := row(runlog.ReportRow{Job: "ops/backup"}, 90, 0, 0, time.Second), row(runlog.ReportRow{Job: "ops/report"}, 90, 9, 1, time.Second)
	met.Target = met.Against(&job.Target{SuccessRate: 98})
	missed.Target = missed.Against(&job.Target{SuccessRate: 95, StartDelay: job.Duration(20 * time.Millisecond)})
	barely := row(runlog.ReportRow{Job: "ops/sync"}, 94, 6, 0, time.Second)
	barely.Target = barely.Against(&job.Target{SuccessRate: 95})
	none := row(runlog.ReportRow{Job: "ops/off"}, 0, 0, 0, 0)
	drawtest.Golden(t, "targets", func(t *draw.Table) { drawRows(t, "JOB", []runlog.ReportRow{met, missed, barely, none}, rowName) })
	drawtest.Golden(t, "late", func(t *draw.Table) { drawStages(t, "JOB", []runlog.ReportRow{late, older}, rowName) })
	drawtest.Golden(t, "overview", func(t *draw.Table) { drawOverview(t, o) })
	drawtest.Golden(t, "overview-empty", func(t *draw.Table) { drawOverview(t, client.Overview{From: o.From, To: o.To}) })
}

func TestTheUsageOfAGroupIsDrawn(t *testing.T) {
	usage := client.GroupUsage{Items: []runlog.UsagePart{
		{At: drawtest.At("03:00:00.000"), Waiting: 12.345, LongestWait: 95_120, Started: 14, Ended: 9, SlotsInUse: 3.96},
		{At: drawtest.At("03:05:00.000")},
	}}
	drawtest.Golden(t, "usage", func(tab *draw.Table) { drawUsage(tab, usage) })
}
