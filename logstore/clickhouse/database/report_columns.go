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
// [Layout.ReportColumns], [Layout.DeliveredColumns] and [Layout.UnscheduledColumns].
var (
	reportSums   = []string{"attempts", "begun", "firsts", "duration_sum_ms", "duration_max_ms"}
	reportStates = []string{"duration_q", "committed_q", "started_q", "finished_q"}
	reportLater  = []string{"delivered", "delivered_q", "unscheduled", "unscheduled_succeeded"}
)

// ReportNames are the columns that a report adds up.
func ReportNames() []string {
	return slices.Concat(ReportStatuses, reportSums, reportStates, reportLater)
}

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

// ReportColumns are the columns that a report adds up from rows of runs: of the final
// statuses of column by, and of the times of rows for which measured is true.
func (Layout) ReportColumns(by, measured string) string {
	var columns []string
	weight := weightOf(by)
	for _, status := range ReportStatuses {
		columns = append(columns, fmt.Sprintf("sumIf(%s, %s = '%s') AS %s", weight, by, status, status))
	}
	columns = append(columns,
		"sumIf(toInt64(sign), status < 'skipped') AS attempts",
		fmt.Sprintf("countIf(%s) AS begun", measured),
		fmt.Sprintf("countIf(%s) AS firsts", measured+delayed),
		fmt.Sprintf("toUInt64(sumIf(duration_ms, %s)) AS duration_sum_ms", measured),
		fmt.Sprintf("toUInt64(greatest(maxIf(duration_ms, %s), 0)) AS duration_max_ms", measured))
	for _, q := range []struct{ name, value, condition string }{
		{"duration_q", "duration_ms", measured},
		{"committed_q", "commit_ms", measured + delayed + " AND commit_ms >= 0"},
		{"started_q", "lateness_ms", measured + delayed},
		{"finished_q", "(lateness_ms + duration_ms)", measured + delayed},
	} {
		columns = append(columns, quantiles(q.value, q.condition, q.name))
	}
	return "    " + strings.Join(columns, ",\n    ")
}

// weightOf is how much a row counts by a column of final statuses.
func weightOf(by string) string {
	if by == "run_status" {
		return "sign * toInt64(count)"
	}
	return "toInt64(sign)" // of an instance, attempts are counted
}

// UnscheduledColumns are those of what no schedule asked for among the fires by which success is
// judged, which reports have besides DeliveredColumns.
func (Layout) UnscheduledColumns(by string) string {
	const column = "sumIf(%s, %s IN (%s) AND cause NOT IN ('schedule', 'misfire')) AS %s"
	return "    " + fmt.Sprintf(column, weightOf(by), by, "'succeeded', 'failed', 'timed_out', 'lost', 'missed'", "unscheduled") + ",\n    " +
		fmt.Sprintf(column, weightOf(by), by, "'succeeded'", "unscheduled_succeeded")
}

// DeliveredColumns are those of when the trigger was delivered, which reports have besides
// ReportColumns.
func (Layout) DeliveredColumns(measured string) string {
	condition := measured + delayed + " AND deliver_ms >= 0"
	return "    countIf(" + condition + ") AS delivered,\n    " + quantiles("deliver_ms", condition, "delivered_q")
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
