package webapi

import (
	"context"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"carillon/job/runlog"
	"carillon/webapi/problem"
	"carillon/webapi/runs"
)

// serveRunsExport answers GET /runs/export: all runs that match, newest fire first. The
// query was checked against the contract.
func (h *handlers) serveRunsExport(live context.Context) fiber.Handler {
	return func(c *fiber.Ctx) error {
		filter, err := runs.Filter(&ListRunsParams{
			Job: manyOf[string](c, "job"), Group: c.Query("group"), Status: manyOf[Status](c, "status"), Cause: manyOf[Cause](c, "cause"),
			Instance: c.Query("instance"), Version: c.QueryInt("version"), From: timeOf(c, "from"), To: timeOf(c, "to"), Parent: c.Query("parent"),
			RetryOf: c.Query("retry_of"), Attempts: ListRunsParamsAttempts(c.Query("attempts")), MinAttempt: c.QueryInt("min_attempt"), Limit: exportPage,
		})
		if err != nil {
			return err
		}
		e := export[runlog.Run]{
			name: "runs",
			page: func(ctx context.Context) ([]runlog.Run, bool, error) {
				found, err := h.store.Runs(ctx, filter)
				filter.Cursor = found.Next
				return found.Runs, found.Next != "", problem.StoreAway(err)
			},
			head: []string{
				"run_id", "job", "version", "attempt", "status", "retrying", "cause", "fire_time", "committed_at", "delivered_at", "started_at", "finished_at", "duration_ms",
				"instance", "exit_code", "count", "until", "parent_run_id", "by", "message", "reason",
			},
			row: runRow,
		}
		return e.serve(live, c, h.log)
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
	if !r.StartedAt.IsZero() && !r.FinishedAt.IsZero() {
		took = strconv.FormatInt(r.FinishedAt.Sub(r.StartedAt).Milliseconds(), 10)
	}
	if r.ExitCode != nil {
		code = strconv.Itoa(*r.ExitCode)
	}
	return []string{
		string(r.RunID), string(r.Job), strconv.Itoa(r.Version), strconv.Itoa(r.Attempt), string(r.Status), strconv.FormatBool(r.Retrying), string(r.Cause),
		cellTime(r.FireTime), cellTime(r.CommittedAt), cellTime(r.DeliveredAt), cellTime(r.StartedAt), cellTime(r.FinishedAt), took,
		cellText(r.Instance), code, strconv.Itoa(r.Count), cellTime(r.Until), string(r.Parent), cellText(r.By), cellText(r.Message), cellText(r.Reason),
	}
}
