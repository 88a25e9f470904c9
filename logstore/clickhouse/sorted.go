package clickhouse

import (
	"context"
	"fmt"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// What lists are sorted by, and NULL where a row has none: of attempts, and of runs, which
// [firstStarts] is joined to.
var (
	attemptValues = valuesOf("toUnixTimestamp64Milli(started_at)", "nullIf(duration_ms, -1)")
	runValues     = valuesOf(runStarted, "if("+runStarted+" > 0 AND toUnixTimestamp64Milli(finished_at) > 0, greatest(toUnixTimestamp64Milli(finished_at) - "+runStarted+", 0), NULL)")
)

const runStarted = "if(first_started > 0, first_started, toUnixTimestamp64Milli(started_at))"

func valuesOf(started, duration string) map[logstore.SortKey]string {
	return map[logstore.SortKey]string{
		logstore.SortFire:     "fire_time",
		logstore.SortStarted:  "nullIf(" + started + ", 0)",
		logstore.SortFinished: instantOrNull("finished_at"),
		logstore.SortDuration: duration,
		logstore.SortDelay: "if(cause IN (" + list(job.ScheduledCauses) + ") AND " + started + " > 0, " +
			"greatest(" + started + " - toUnixTimestamp64Milli(fire_time), 0), NULL)",
	}
}

// firstStarts is the join to the runs that f selects of when each with several attempts
// began. These are few.
func firstStarts(f *logstore.RunFilter) (string, []any, error) {
	c, err := where(&logstore.RunFilter{From: f.From, To: f.To, Group: f.Group, Groups: f.Groups, Jobs: f.Jobs})
	if err != nil {
		return "", nil, err
	}
	c.add("broadcast_index = -1")
	attempts := c.clause() + " AND run_id IN (SELECT run_id FROM runs" + c.clause() + " AND attempt > 1)"
	return " LEFT ANY JOIN (SELECT run_id, minIf(started, started > 0) AS first_started FROM (" +
		"SELECT run_id, attempt, argMax(toUnixTimestamp64Milli(started_at), revision) AS started FROM runs" + attempts + " GROUP BY run_id, attempt" +
		") GROUP BY run_id) AS firsts USING (run_id)", slices.Concat(c.args, c.args), nil
}

func instantOrNull(column string) string {
	return "nullIf(toUnixTimestamp64Milli(" + column + "), 0)"
}

// sorted returns the first runs that filter selects in another order than that in which
// they are stored. ClickHouse looks at all of them.
func (h *runHistory) sorted(ctx context.Context, f *logstore.RunFilter, limit int) ([]runlog.Run, error) {
	c, err := ofRuns(f)
	if err != nil {
		return nil, err
	}
	values, join := attemptValues, ""
	if !f.AllAttempts {
		values = runValues
		var args []any
		if join, args, err = firstStarts(f); err != nil {
			return nil, err
		}
		c.args = slices.Concat(args, c.args)
	}
	way := " DESC"
	if f.Sort.Rising {
		way = " ASC"
	}
	order := " ORDER BY " + values[f.Sort.By] + way + " NULLS LAST, fire_time DESC, toUInt128(run_id) DESC, attempt DESC"
	for ask := spare(limit); ; ask *= 4 {
		all, err := h.read(ctx, shown, fmt.Sprintf("%s%s%s LIMIT %d", join, c.clause(), order, ask), c.args...)
		if err != nil {
			return nil, err
		}
		cut := len(all) == ask
		if cut { // perhaps within the rows of the last attempt: those that cancel out have one value, and are side by side
			last := all[ask-1].row
			for len(all) > 0 && compareRows(&all[len(all)-1].row, &last) == 0 {
				all = all[:len(all)-1]
			}
		}
		rows := standing(all)
		if len(rows) < limit && cut {
			continue
		}
		runs, err := h.listed(ctx, f, rows)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(runs, func(a, b runlog.Run) int { return f.Sort.Compare(&a, &b) })
		return runs[:min(len(runs), limit)], nil
	}
}
