package orphans

import (
	"context"
	"maps"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

const (
	// overdueAfter is how long after its time limit, and the grace that its job gives it, an attempt
	// is ended here. Executors end theirs long before.
	overdueAfter = time.Minute
	// endWait is how long the owner of a shard has to end one.
	endWait = 15 * time.Second
)

// sighting is since when an attempt has been seen running. That is later than its start by the
// clock of its executor, which may be wrong.
type sighting struct {
	started time.Time // as its executor says: another delivery is another start
	first   time.Time
	cycle   int // in which it was seen last
}

// overdue returns why an attempt is overdue, "" if it is not.
func (f *Finder) overdue(t *bus.Trigger, r *runlog.Run, now time.Time) string {
	grace := t.KillGrace.Std() + overdueAfter
	switch {
	case !t.EndBy.IsZero() && now.Sub(t.EndBy) > grace:
		return reason.EndBy.With(t.EndBy)
	case t.Timeout > 0 && t.Total == 0 && r.Attempt == t.Attempt && r.Status == job.StatusRunning && now.Sub(f.seenRunning(t, r, now)) > t.Timeout.Std()+grace:
		return reason.Join(reason.TimedOut.With(t.Timeout), reason.NotEnded.String())
	}
	return ""
}

// seenRunning returns since when an attempt has been seen running.
func (f *Finder) seenRunning(t *bus.Trigger, r *runlog.Run, now time.Time) time.Time {
	s, ok := f.running[t.Ref()]
	if !ok || !s.started.Equal(r.StartedAt) {
		s = sighting{started: r.StartedAt, first: now}
	}
	s.cycle = f.cycle
	f.running[t.Ref()] = s
	return s.first
}

// endCycle forgets the attempts that were not seen since all rows were looked at last.
func (f *Finder) endCycle() {
	maps.DeleteFunc(f.running, func(_ bus.AttemptRef, s sighting) bool { return s.cycle != f.cycle })
	f.cycle++
}

// endOverdue asks the owner of the shard to end an overdue attempt.
func (f *Finder) endOverdue(ctx context.Context, t *bus.Trigger, why string) {
	f.log.WarnContext(ctx, "run ended, as nobody ended it in time", "executor_group", t.Job.Group(), "job", t.Job, "run_id", t.RunID, "attempt", t.Attempt, "reason", why)
	request := bus.CancelRequest{RunID: t.RunID, Job: t.Job, Attempt: t.Attempt, Status: job.StatusTimedOut, Reason: why}
	var reply bus.CancelReply
	if err := f.conn.Shards().AskOwner(ctx, t.Job, "cancel", 0, request, &reply, endWait); err != nil {
		f.log.DebugContext(ctx, "overdue run not ended", "run_id", t.RunID, "error", err) // the next round tries again
	}
}
