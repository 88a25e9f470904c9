package clickhouse

import (
	"cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// take merges an update into a row, as package logstore says, and tells whether it is
// an end that came too late. The row of an attempt that is new has only its place.
func (r *row) take(u *logstore.Update) (late bool) {
	status := database.Statuses[u.Tells()]
	ends := u.Kind == runlog.KindFinished
	if ends && r.reported != 0 {
		return r.reported != status || r.reportedAt != reportedAt(u)
	}
	if r.job == "" {
		r.job, r.version, r.cause, r.attempt, r.count = u.Job, toUint32(u.Version), database.Causes[u.Cause], toUint32(u.Attempt), 1
	}
	if at := millis(u.Committed()); at != 0 && (r.committedAt == 0 || at < r.committedAt) {
		r.committedAt = at
	}
	if at := millis(u.Queued()); at != 0 && (r.queuedAt == 0 || at < r.queuedAt) {
		r.queuedAt = at
	}
	r.total = max(r.total, toUint32(u.Total))
	if u.Hold.Newer(runlog.ReadHold(r.hold)) {
		r.hold = u.Hold.Text()
	}
	switch u.Kind {
	case runlog.KindRecorded:
		r.takeRecord(u, status)
	case runlog.KindStarted, runlog.KindProgress, runlog.KindFinished:
		r.takeEvent(u, ends)
	case runlog.KindHeld, runlog.KindLate, runlog.KindMarked, runlog.KindOnHold, runlog.KindResumed:
	}
	r.status = cmp.Or(r.ruled, r.reported, max(r.status, status))
	r.finishedAt = r.reportedAt
	if r.ruled != 0 && r.ruled != r.reported {
		r.finishedAt = r.ruledAt
	}
	if r.runStatus = r.status; r.retrying() {
		r.runStatus = database.Statuses[job.StatusQueued]
	}
	return false
}

func (r *row) takeRecord(u *logstore.Update, status int8) {
	switch {
	case status >= database.FirstFinal:
		if r.ruled == 0 {
			r.ruled, r.ruledAt, r.endReason = status, millis(u.At), u.Reason
		}
	case u.Reason != "" && status > r.reasonOf:
		r.reasonOf, r.reason = status, u.Reason
	}
	if u.Parent != "" && r.parent == noRun {
		r.parent = packID(u.Parent)
	}
	if r.madeBy == "" {
		r.madeBy = u.By
	}
	if r.step == "" {
		r.step = u.Step
	}
	if wait := u.Wait.Text(); len(wait) > len(r.wait) { // approvals are added
		r.wait = wait
	}
	r.until, r.count = max(r.until, millis(u.Until)), max(r.count, uint64(max(u.Count, 1)))
}

func (r *row) takeEvent(u *logstore.Update, ends bool) {
	// An update speaks when its instance is the one to show. A whole that is done in
	// pieces has no instance, and began when the first piece did; of two that began at one
	// instant, the one counts that was delivered first.
	delivery, delivered, started := toUint32(u.Delivery), millis(u.DeliveredAt), millis(u.StartedAt)
	speaks := u.Instance != "" && (r.instance == "" || ends || r.reported == 0 && delivery > r.delivery)
	earlier := u.Instance == "" && r.instance == "" && (started < r.startedAt ||
		started == r.startedAt && delivered != 0 && (r.deliveredAt == 0 || delivered < r.deliveredAt))
	if started != 0 && (r.startedAt == 0 || speaks || earlier) {
		r.deliveredAt, r.startedAt = delivered, started
	}
	if speaks {
		r.instance, r.delivery = u.Instance, delivery
	}
	r.progress = r.progress || u.Kind == runlog.KindProgress
	if status := database.Statuses[u.Tells()]; u.Heard() && status > r.reasonOf {
		r.reasonOf, r.reason = status, u.Reason
	}
	if !ends {
		return
	}
	r.reported, r.reportedAt, r.retry = database.Statuses[u.Status], reportedAt(u), u.Retry
	r.message, r.result, r.logLines = u.Message, string(u.Result), toUint32(u.LogLines)
	if u.ExitCode != nil {
		r.exited, r.exitCode = true, toInt32(*u.ExitCode)
	}
}

// retrying says that another attempt follows, as far as is known of this one.
func (r *row) retrying() bool { return r.retry && r.ruled == 0 }

// measurable says that an attempt has ended and it is known how long it took.
func (r *row) measurable() bool {
	return r.status >= database.FirstFinal && r.startedAt != 0 && r.finishedAt != 0
}

// reportedAt is when the end was that an event tells.
func reportedAt(u *logstore.Update) int64 {
	if u.FinishedAt.IsZero() {
		return millis(u.At)
	}
	return millis(u.FinishedAt)
}
