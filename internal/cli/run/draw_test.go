package run

import (
	"encoding/json"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/draw/drawtest"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

func TestRunsAreDrawn(t *testing.T) {
	drawtest.Golden(t, "runs", func(tab *draw.Table) { drawRuns(tab, client.RunPage{Items: drawtest.Runs(), Next: "x"}) })
	drawtest.Wide(t, "runs-wide", func(tab *draw.Table) { drawRuns(tab, client.RunPage{Items: drawtest.Runs()}) })
	drawtest.Golden(t, "run", func(tab *draw.Table) {
		run := drawtest.Runs()[1]
		run.Result, run.Delivery = json.RawMessage(`{"rows":12}`), 2
		drawRun(tab, client.RunDetail{RunID: run.RunID, Job: run.Job, Status: run.Status, Attempts: []client.Run{run}, Changes: []client.Change{
			{At: drawtest.At("03:00:01.000"), Attempt: 2, Kind: "recorded", Status: job.StatusPending},
			{At: drawtest.At("03:00:01.500"), Attempt: 2, Kind: "started", Status: job.StatusRunning, Instance: "a1"},
			{At: drawtest.At("03:00:03.250"), Attempt: 2, Kind: "finished", Status: job.StatusFailed, Instance: "a1", Detail: "exit code 1"},
			{At: drawtest.At("04:00:00.000"), Attempt: 2, Kind: "marked", Status: job.StatusFailed, Mark: job.MarkSucceeded, By: "ann", Detail: "sent by hand"},
		}, Mark: &client.RunMark{As: job.MarkSucceeded, Note: "sent by hand", By: "ann", At: drawtest.At("04:00:00.000")}}, kin{})
	})
	drawtest.Golden(t, "run-in-pieces", func(tab *draw.Table) {
		first := client.Run{
			QueuedAt: drawtest.At("03:00:01.002"), CommittedAt: drawtest.At("03:00:01.005"), DeliveredAt: drawtest.At("03:00:01.008"),
			RunID: "019b76da-a800-7c3e-9d5b-0f4e2a6c8b06", Job: "ops/rotate", Attempt: 1, Total: 3, Status: job.StatusFailed, Retrying: true, Cause: job.CauseParent,
			FireTime: drawtest.At("03:00:01.000"), StartedAt: drawtest.At("03:00:01.010"), FinishedAt: drawtest.At("03:00:03.250"), Count: 1, Reason: "1 of 3 pieces failed",
		}
		piece := func(index, attempt int, status job.Status) client.Run {
			p := first
			p.Piece, p.Attempt, p.Status, p.Retrying, p.Instance, p.Reason = runlog.PieceAt(index), attempt, status, false, "a1", ""
			return p
		}
		failed := piece(1, 1, job.StatusFailed)
		failed.Retrying, failed.Message = true, "exit code 1"
		list := client.PieceList{Items: []client.Run{piece(0, 1, job.StatusSucceeded), failed}, Total: 3, Counts: client.StatusCounts{job.StatusSucceeded: 1, job.StatusQueued: 1, job.StatusPending: 1}}
		runs := drawtest.Runs()
		drawRun(tab, client.RunDetail{RunID: first.RunID, Job: first.Job, Status: job.StatusQueued, Attempts: []client.Run{first}},
			kin{pieces: list, parents: []client.Run{runs[0], {RunID: runs[2].RunID}}, children: client.RunPage{Items: runs[3:], Next: "x"}})
	})
	drawtest.Golden(t, "deadlines", func(tab *draw.Table) {
		drawDeadlines(tab, client.DeadlineList{Items: []client.Deadline{
			{Job: "billing/nightly", RunID: drawtest.Runs()[0].RunID, At: drawtest.At("06:00:00.000"), By: "alert", Alert: "in-time", Late: true, ExpectedEnd: drawtest.At("06:12:00.000"), UsualMs: 2_400_000, Runs: 12},
			{Job: "ops/rotate", RunID: drawtest.Runs()[1].RunID, At: drawtest.At("07:00:00.000"), By: "timeout"},
		}})
	})
	drawtest.Golden(t, "runs-empty", func(tab *draw.Table) { drawRuns(tab, client.RunPage{}) })
}
