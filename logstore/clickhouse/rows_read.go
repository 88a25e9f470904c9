package clickhouse

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// columns are what is read of rows of runs. Each column costs a list 0.15 ms, and to
// convert them all there 1.3 ms more, so they are read as they are, and no others than
// are needed.
type columns []string

var (
	// shown are the columns from which [row.run] makes a run, for whole attempts, and
	// those that show which rows count.
	shown = columns{
		"run_id", "attempt", "fire_time", "sign", "revision",
		"broadcast_total", "job", "version", "status", "run_status", "cause", "queued_at", "committed_at", "delivered_at", "started_at", "finished_at",
		"instance", "delivery", "exit_code", "message", "reason", "end_reason", "made_by", "log_lines", "count", "until", "parent_run_id", "step", "wait", "hold", "progress",
	}
	// kept are all but the result, and known those, too.
	kept  = slices.Concat(shown, columns{"broadcast_index", "reported", "reported_at", "retry", "ruled", "ruled_at", "reason_of", "batch"})
	known = slices.Concat(kept, columns{"result"})
)

// read returns the rows of runs that a query of these columns finds: the rest of it
// follows upon FROM runs.
func (s *server) read(ctx context.Context, c columns, rest string, args ...any) ([]stored, error) {
	rows, err := s.conn.Query(ctx, "SELECT "+strings.Join(c, ", ")+" FROM runs"+rest, args...)
	if err != nil {
		return nil, database.Explain(err)
	}
	defer func() { _ = rows.Close() }()
	var all []stored
	for r := newReader(c); rows.Next(); {
		if err := rows.Scan(r.into...); err != nil {
			return nil, err
		}
		all = append(all, r.row())
	}
	return all, database.Explain(rows.Err())
}

// reader takes in one row after the other, in the types that the driver has for them.
type reader struct {
	as   stored // what needs no other type
	into []any

	name, status, runStatus, cause, reported, ruled, reasonOf string

	fire, queued, committed, delivered, started, finished, until, reportedAt, ruledAt time.Time

	exitCode *int32
}

func newReader(c columns) *reader {
	r := &reader{}
	r.as.index = -1 // where it is not read
	of := map[string]any{
		"run_id": &r.as.id, "attempt": &r.as.attempt, "fire_time": &r.fire, "sign": &r.as.sign, "revision": &r.as.revision,
		"broadcast_total": &r.as.total, "job": &r.name, "version": &r.as.version, "status": &r.status, "run_status": &r.runStatus, "cause": &r.cause,
		"queued_at": &r.queued, "committed_at": &r.committed, "delivered_at": &r.delivered, "started_at": &r.started, "finished_at": &r.finished,
		"instance": &r.as.instance, "delivery": &r.as.delivery, "exit_code": &r.exitCode, "message": &r.as.message, "reason": &r.as.reason,
		"end_reason": &r.as.endReason, "made_by": &r.as.madeBy, "log_lines": &r.as.logLines, "count": &r.as.count, "until": &r.until,
		"parent_run_id": &r.as.parent, "step": &r.as.step, "wait": &r.as.wait, "hold": &r.as.hold, "progress": &r.as.progress,
		"broadcast_index": &r.as.index, "reported": &r.reported, "reported_at": &r.reportedAt, "retry": &r.as.retry, "ruled": &r.ruled, "ruled_at": &r.ruledAt,
		"reason_of": &r.reasonOf, "batch": &r.as.batch, "result": &r.as.result,
	}
	for _, name := range c {
		r.into = append(r.into, of[name])
	}
	return r
}

// row returns the row that was read.
func (r *reader) row() stored {
	s := r.as
	code := func(word string) int8 { return database.Statuses[job.Status(word)] }
	s.status, s.runStatus, s.reported, s.ruled, s.reasonOf = code(r.status), code(r.runStatus), code(r.reported), code(r.ruled), code(r.reasonOf)
	s.job, s.cause = job.Name(r.name), database.Causes[job.Cause(r.cause)]
	s.fire, s.queuedAt, s.committedAt, s.deliveredAt, s.startedAt = millis(r.fire), millis(r.queued), millis(r.committed), millis(r.delivered), millis(r.started)
	s.finishedAt, s.until, s.reportedAt, s.ruledAt = millis(r.finished), millis(r.until), millis(r.reportedAt), millis(r.ruledAt)
	if s.reported != 0 && s.reportedAt == 0 {
		s.reportedAt = s.finishedAt
	}
	if s.exited = r.exitCode != nil; s.exited {
		s.exitCode = *r.exitCode
	}
	return s
}
