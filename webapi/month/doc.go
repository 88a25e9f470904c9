// Package month reports a calendar month beside the month before: for all jobs, or those of a
// group, an owner or a tag.
//
// Each figure is the one that other reports have: success and lateness are those of
// [runlog.ReportRow], which the overview shows, and a verdict is that of [runlog.ReportRow.Against].
// Counts come from the counters that outlive the runs, causes and reasons from the runs, and what
// changed from the audit log.
package month
