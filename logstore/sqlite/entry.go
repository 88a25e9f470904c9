package sqlite

import (
	"database/sql"
	"encoding/json"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// entry is a row of runs or pieces: a run, and what the file has of how it came to be.
type entry struct {
	runlog.Run
	reported, ruled       int64 // how events and records say that it ended
	reportedAt, ruledAt   int64
	reasonOf              int64 // the status of the record that gave reason
	reason, endedByReason string
}

func asRuns(entries []entry) []runlog.Run {
	var runs []runlog.Run
	for i := range entries {
		runs = append(runs, entries[i].Run)
	}
	return runs
}

// scan reads rows of listColumns, attemptColumns or pieceColumns, with the result after them if so,
// and closes them.
func (d *database) scan(rows *sql.Rows, withResult bool) ([]entry, error) {
	var entries []entry
	err := d.each(rows, withResult, func(e *entry) { entries = append(entries, *e) })
	return entries, err
}

// each is scan for who keeps less of a row.
func (d *database) each(rows *sql.Rows, withResult bool, take func(*entry)) error {
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var (
			e                            entry
			number, state, status, cause int64
			queuedAt, committedAt        int64
			deliveredAt                  int64
			startedAt, untilTime         int64
			firstDecided, firstStarted   int64
			exitCode                     sql.Null[int]
			result, wait, hold           string
		)
		into := []any{
			(*file.ScanID)(&e.RunID), &e.Attempt, &e.Piece, &state, &firstDecided, &firstStarted,
			&number, &e.Version, &status, &cause, &queuedAt, &committedAt, &deliveredAt, &startedAt, &e.reportedAt, &e.Delivery, &e.LogLines, &exitCode, &e.reported, &e.ruled, &e.ruledAt,
			&untilTime, &e.Count, &e.Total, &e.Progress, (*file.ScanID)(&e.Parent), &e.Instance, &e.By, &e.Step, &wait, &hold, &e.reasonOf, &e.reason, &e.endedByReason, &e.ProgressText, &e.Message,
		}
		if withResult {
			into = append(into, &result)
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		e.Job, e.Status, e.Cause, e.FireTime = d.jobs.Name(number), statusOf[status], causeOf[cause], e.RunID.Time()
		e.CommittedAt, e.DeliveredAt, e.StartedAt, e.Until = file.Instant(committedAt), file.Instant(deliveredAt), file.Instant(startedAt), file.Instant(untilTime)
		e.QueuedAt, e.FirstDecidedAt, e.FirstStartedAt = file.Instant(queuedAt), file.Instant(firstDecided), file.Instant(firstStarted)
		e.Reported = runlog.IsHost(e.Instance)
		e.FinishedAt, e.Reason = file.Instant(e.reportedAt), reason.Text(e.reason)
		if e.ruled != 0 && e.ruled != e.reported {
			e.FinishedAt = file.Instant(e.ruledAt)
		}
		if e.endedByReason != "" {
			e.Reason = reason.Text(e.endedByReason)
		}
		e.Retrying = status >= firstFinal && state == statusCodes[job.StatusQueued]
		if exitCode.Valid {
			e.ExitCode = &exitCode.V
		}
		e.Wait, e.Hold = runlog.ReadWait(wait), runlog.ReadHold(hold)
		if result != "" {
			e.Result = json.RawMessage(result)
		}
		take(&e)
	}
	return rows.Err()
}
