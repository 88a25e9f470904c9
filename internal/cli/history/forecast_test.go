package history

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/draw/drawtest"
	"github.com/carillon-scheduler/carillon/internal/client"
)

func TestForecastsHaveRequestedRuns(t *testing.T) {
	fires := client.FirePage{
		Items: []client.JobFires{{Job: "ops/backup", Fires: []time.Time{drawtest.At("03:00:00.000")}, More: true}},
		Requested: &client.RequestedRuns{Runs: []client.RequestedRun{
			{Job: "mail/reminder", RunID: "019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d", FireTime: drawtest.At("01:17:00.000")},
		}},
	}
	drawtest.Golden(t, "fires", func(tab *draw.Table) { drawFires(tab, fires) })
	fires.Requested = &client.RequestedRuns{Hours: []client.RequestedHour{{From: drawtest.At("01:00:00.000"), Runs: 1204}}}
	drawtest.Golden(t, "fires-many", func(tab *draw.Table) { drawFires(tab, fires) })
	drawtest.Golden(t, "fires-none", func(tab *draw.Table) {
		drawFires(tab, client.FirePage{From: drawtest.At("01:00:00.000"), To: drawtest.At("02:00:00.000")})
	})
	load := client.FireCounts{From: drawtest.At("01:00:00.000"), To: drawtest.At("03:00:00.000"), Counts: []int{3, 1}, Jobs: 2, Complete: true}
	drawtest.Golden(t, "load", func(tab *draw.Table) { drawLoad(tab, load) })
	load.Requested = []int{0, 5}
	drawtest.Golden(t, "load-requested", func(tab *draw.Table) { drawLoad(tab, load) })
}
