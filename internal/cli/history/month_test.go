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

func TestAMonthIsDrawnBesideTheMonthBefore(t *testing.T) {
	row := func(name job.Name, succeeded, failed, missed, skipped int) runlog.ReportRow {
		r := runlog.ReportRow{Job: name, Statuses: map[job.Status]int{
			job.StatusSucceeded: succeeded, job.StatusFailed: failed, job.StatusMissed: missed, job.StatusSkipped: skipped,
		}}
		r.Judge(0, 0)
		r.Duration = runlog.Spread{Count: succeeded, P50: time.Second, P95: 2 * time.Second, P99: 3 * time.Second}
		r.Committed = runlog.Spread{Count: succeeded, P50: 5 * time.Millisecond, P99: 70 * time.Millisecond}
		r.Started = runlog.Spread{Count: succeeded, P50: 12 * time.Millisecond, P99: 900 * time.Millisecond}
		return r
	}
	judged := func(r runlog.ReportRow) runlog.ReportRow {
		r.Target = r.Against(&job.Target{SuccessRate: 95})
		return r
	}
	m := &client.MonthReport{
		Month: "2026-10", Zone: "Asia/Kolkata", Group: "billing", Owner: "lin.wei", Jobs: 2,
		Total: row("", 900, 100, 2, 30), Before: row("", 990, 10, 0, 30),
		Reasons: []client.MonthReason{{Status: job.StatusSkipped, Reason: "excluded by calendar holidays", Fires: 30, Before: 28}},
		Targets: []client.MonthJob{{Job: "billing/report", Total: judged(row("billing/report", 90, 10, 0, 0)), Before: judged(row("billing/report", 99, 1, 0, 0))}},
		Failures: []client.MonthFailure{{
			Failure: runlog.Failure{Fingerprint: "no answer from \x1b[31m#", Attempts: 100, JobCount: 2}, Before: 10,
		}},
		Slowest:     []client.MonthJob{{Job: "billing/report", Total: row("billing/report", 90, 10, 0, 0), Before: row("billing/report", 0, 0, 0, 0)}},
		Changes:     []client.MonthChange{{At: drawtest.At("02:00:00.000"), User: "ann", Operation: "putJob", Object: "job billing/report", Note: "a longer time limit"}},
		MoreChanges: true, RunsSince: drawtest.At("01:00:00.000"),
	}
	drawtest.Golden(t, "month", func(t *draw.Table) { drawMonth(t, m) })
	drawtest.Golden(t, "month-empty", func(t *draw.Table) { drawMonth(t, &client.MonthReport{Month: "2026-10", Zone: "UTC"}) })
}

func TestTheMonthIsTheLastFullOneUnlessOneIsNamed(t *testing.T) {
	for _, c := range []struct {
		args    []string
		present string
		want    string
	}{{nil, "2026-01", "2025-12"}, {nil, "2026-11", "2026-10"}, {[]string{"2026-02"}, "2026-11", "2026-02"}} {
		if got, err := monthOf(c.args, c.present); err != nil || got.Format(monthLayout) != c.want {
			t.Errorf("%v in %s: %s, %v; want %s", c.args, c.present, got, err, c.want)
		}
	}
	for _, wrong := range []string{"2026", "2026-13", "october", "2026-1"} {
		if _, err := monthOf([]string{wrong}, "2026-11"); err == nil {
			t.Errorf("%s is taken for a month", wrong)
		}
	}
}
