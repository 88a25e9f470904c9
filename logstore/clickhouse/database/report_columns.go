package database

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/logstore"
)

// ReportStatuses are the final statuses, in the order of the columns of reports.
var ReportStatuses = []string{"succeeded", "failed", "timed_out", "cancelled", "lost", "skipped", "missed"}

// reportSums and reportStates are the other columns that reports count in, in the order of
// [Layout.ReportColumns].
var (
	reportSums   = []string{"unscheduled", "unscheduled_succeeded", "attempts", "begun", "firsts", "delivered", "duration_sum_ms", "duration_max_ms"}
	reportStates = []string{"duration_q", "committed_q", "delivered_q", "started_q", "finished_q"}
)

// ReportNames are the columns that a report adds up.
func ReportNames() []string { return slices.Concat(ReportStatuses, reportSums, reportStates) }

// NothingCounted is what to set columns of a report to, so that its rows count nothing.
func NothingCounted() string {
	const noState = "arrayReduce('quantilesTimingState(0.5, 0.9, 0.95, 0.99)', emptyArrayUInt64())"
	names := ReportNames()
	for i, name := range names {
		if strings.HasSuffix(name, "_q") {
			names[i] += " = " + noState
		} else {
			names[i] += " = 0"
		}
	}
	return strings.Join(names, ", ")
}

// delayed is true of rows whose times after the fire time are delays: of first attempts of
// what a schedule asked for. Whoever asks for a fire of the past does not wait for it since.
const delayed = " AND attempt = 1 AND cause IN ('schedule', 'misfire')"

// delivered is true of rows whose delivery is known.
const delivered = " AND deliver_ms >= 0"

// ReportColumns are the columns that a report adds up from rows of runs: of the final
// statuses of column by, and of the times of rows for which measured is true. What no schedule
// asked for is counted among the fires by which success is judged.
func (Layout) ReportColumns(by, measured string) string {
	var columns []string
	weight, delay := weightOf(by), measured+delayed
	for _, status := range ReportStatuses {
		columns = append(columns, fmt.Sprintf("sumIf(%s, %s = '%s') AS %s", weight, by, status, status))
	}
	const unscheduled = "sumIf(%s, %s IN (%s) AND cause NOT IN ('schedule', 'misfire')) AS %s"
	columns = append(columns,
		fmt.Sprintf(unscheduled, weight, by, "'succeeded', 'failed', 'timed_out', 'lost', 'missed'", "unscheduled"),
		fmt.Sprintf(unscheduled, weight, by, "'succeeded'", "unscheduled_succeeded"),
		"sumIf(toInt64(sign), status < 'skipped') AS attempts",
		fmt.Sprintf("countIf(%s) AS begun", measured),
		fmt.Sprintf("countIf(%s) AS firsts", delay),
		fmt.Sprintf("countIf(%s) AS delivered", delay+delivered),
		fmt.Sprintf("toUInt64(sumIf(duration_ms, %s)) AS duration_sum_ms", measured),
		fmt.Sprintf("toUInt64(greatest(maxIf(duration_ms, %s), 0)) AS duration_max_ms", measured),
		quantiles("duration_ms", measured, "duration_q"),
		quantiles("commit_ms", delay+" AND commit_ms >= 0", "committed_q"),
		quantiles("deliver_ms", delay+delivered, "delivered_q"),
		quantiles("lateness_ms", delay, "started_q"),
		quantiles("(lateness_ms + duration_ms)", delay, "finished_q"))
	return "    " + strings.Join(columns, ",\n    ")
}

// weightOf is how much a row counts by a column of final statuses.
func weightOf(by string) string {
	if by == "run_status" {
		return "sign * toInt64(count)"
	}
	return "toInt64(sign)" // of an instance, attempts are counted
}

// HourPart is the beginning of the part of an hour, as [logstore.HourParts] has them, in which
// an instant lies.
func (Layout) HourPart(instant string) string {
	parts := make([]string, len(logstore.HourParts))
	for i, part := range logstore.HourParts {
		parts[i] = strconv.Itoa(int(part / time.Second))
	}
	return fmt.Sprintf("toDateTime(intDiv(toUnixTimestamp(%[1]s), 86400) * 86400 + roundDown(toUnixTimestamp(%[1]s) %% 86400, [%[2]s]), 'UTC')", instant, strings.Join(parts, ", "))
}

// quantiles is the column of some milliseconds, in steps of a logarithmic scale.
func quantiles(value, condition, name string) string {
	return fmt.Sprintf("quantilesTimingStateIf(0.5, 0.9, 0.95, 0.99)(toUInt64(round(32 * log2(1 + greatest(%s, 0)))), %s) AS %s", value, condition, name)
}
