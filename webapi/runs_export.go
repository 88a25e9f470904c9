package webapi

import (
	"context"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/webapi/export"
	"github.com/carillon-scheduler/carillon/webapi/problem"
	"github.com/carillon-scheduler/carillon/webapi/runs"
)

// serveRunsExport answers GET /runs/export: all runs that match, newest fire first. The
// query was checked against the contract.
func (h *runHandlers) serveRunsExport(live context.Context) fiber.Handler {
	return func(c *fiber.Ctx) error {
		filter, err := runs.Filter(c.UserContext(), h.catalog.Search(), &ListRunsParams{
			Job: manyOf[string](c, "job"), Group: c.Query("group"), Owner: c.Query("owner"), Tag: c.Query("tag"), Status: manyOf[Status](c, "status"), Cause: manyOf[Cause](c, "cause"),
			Instance: c.Query("instance"), Version: c.QueryInt("version"), From: timeOf(c, "from"), To: timeOf(c, "to"), Parent: c.Query("parent"),
			RerunOf: c.Query("rerun_of"), Attempts: ListRunsParamsAttempts(c.Query("attempts")), MinAttempt: c.QueryInt("min_attempt"), Error: c.Query("error"), Limit: export.PageSize,
		})
		if err != nil {
			return err
		}
		e := export.List[runlog.Run]{
			Name: "runs",
			Page: func(ctx context.Context) ([]runlog.Run, bool, error) {
				found, err := h.store.Runs(ctx, filter)
				filter.Cursor = found.Next
				return found.Runs, found.Next != "", problem.StoreAway(err)
			},
			Head: []string{
				"run_id", "job", "version", "attempt", "status", "retrying", "cause", "fire_time", "queued_at", "committed_at", "delivered_at", "started_at", "finished_at", "duration_ms",
				"instance", "exit_code", "count", "until", "parent_run_id", "by", "message", "reason", "first_decided_at", "first_started_at",
			},
			Row: runRow,
		}
		return e.Serve(live, c, h.users, h.log)
	}
}

// manyOf returns the values of a parameter that may be given more than once.
func manyOf[T ~string](c *fiber.Ctx, name string) (values []T) {
	for _, v := range c.Context().QueryArgs().PeekMulti(name) {
		values = append(values, T(v))
	}
	return values
}

// timeOf returns an instant, zero when it is not given.
func timeOf(c *fiber.Ctx, name string) time.Time {
	t, _ := time.Parse(time.RFC3339, c.Query(name))
	return t
}

func runRow(r *runlog.Run) []string {
	var took, code string
	if began := r.RunStartedAt(); !began.IsZero() && !r.FinishedAt.IsZero() {
		took = strconv.FormatInt(r.FinishedAt.Sub(began).Milliseconds(), 10)
	}
	if r.ExitCode != nil {
		code = strconv.Itoa(*r.ExitCode)
	}
	return []string{
		string(r.RunID), string(r.Job), strconv.Itoa(r.Version), strconv.Itoa(r.Attempt), string(r.Status), strconv.FormatBool(r.Retrying), string(r.Cause),
		export.CellTime(r.FireTime), export.CellTime(r.QueuedAt), export.CellTime(r.CommittedAt), export.CellTime(r.DeliveredAt), export.CellTime(r.StartedAt), export.CellTime(r.FinishedAt), took,
		export.CellText(r.Instance), code, strconv.Itoa(r.Count), export.CellTime(r.Until), string(r.Parent), export.CellText(r.By), export.CellText(string(r.Message)), export.CellText(string(r.Reason)),
		export.CellTime(r.FirstDecidedAt), export.CellTime(r.FirstStartedAt),
	}
}
