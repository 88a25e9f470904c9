package ledger

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// judge lays the history beside the book of a job. Windows come in order of time.
type judge struct {
	*book
	cover *runlog.Run // several fires with one outcome, the newest that has come
}

// window yields an entry for each fire and for each row that belongs to none, oldest
// first. rows are those of the schedule's runs with fire times in the window, oldest
// first.
func (j *judge) window(fires []expected, rows []runlog.Run, yield func(*outcome.Entry) bool) bool {
	for len(fires) > 0 || len(rows) > 0 {
		if len(fires) == 0 || len(rows) > 0 && rows[0].FireTime.UnixMilli() < fires[0].At {
			if !yield(j.unexpected(&rows[0])) {
				return false
			}
			j.take(&rows[0])
			rows = rows[1:]
			continue
		}
		f := fires[0]
		fires = fires[1:]
		n := 0
		for n < len(rows) && rows[n].FireTime.UnixMilli() == f.At {
			n++
		}
		if !j.fire(f, rows[:n], yield) {
			return false
		}
		rows = rows[n:]
	}
	return true
}

// fire yields the entry of a fire for which there are these rows, and one for each row
// too many.
func (j *judge) fire(f expected, rows []runlog.Run, yield func(*outcome.Entry) bool) bool {
	owed := job.FireRunID(j.name, f.At, job.CauseSchedule)
	i := slices.IndexFunc(rows, func(r runlog.Run) bool { return r.RunID == owed })
	switch {
	case i < 0 && !j.plans[f.plan].Nominal(f.At): // only the calendars said whether a fire is moved to it
	case i < 0:
		if !yield(j.without(f)) {
			return false
		}
	default:
		if !yield(j.compare(f, &rows[i])) {
			return false
		}
		j.take(&rows[i])
	}
	for k := range rows {
		if k == i {
			continue
		}
		e := j.entry(f)
		tell(e, &rows[k])
		e.RunID = rows[k].RunID
		contradict(e, finding.SecondRun.With(owed))
		if !yield(e) {
			return false
		}
	}
	return true
}

// take notes a row that speaks for later fires too.
func (j *judge) take(r *runlog.Run) {
	if r.Count > 1 {
		j.cover = r
	}
}

// covered reports whether the row that speaks for several fires speaks for this one.
func (j *judge) covered(at int64) bool {
	return j.cover != nil && j.cover.FireTime.UnixMilli() <= at && at <= j.cover.Until.UnixMilli()
}

// entry returns what is known of a fire before the history is asked.
func (j *judge) entry(f expected) *outcome.Entry {
	return &outcome.Entry{
		FireTime: instant(f.At), Due: instant(f.Due), Version: int(j.plans[f.plan].Version),
		RunID: job.FireRunID(j.name, f.At, job.CauseSchedule),
	}
}

// tell has an entry say what a row says of its fire.
func tell(e *outcome.Entry, r *runlog.Run) {
	e.Version, e.Status, e.Attempt, e.Reason = r.Version, r.RunStatus(), r.Attempt, why(r)
	e.DecidedAt, e.StartedAt, e.FinishedAt = r.RunDecidedAt(), r.RunStartedAt(), r.FinishedAt
	e.Late, e.Host = late(e), hostOf(r)
	switch {
	case e.Status == job.StatusSkipped:
		e.Outcome = outcome.Skipped
	case e.Status == job.StatusMissed:
		e.Outcome = outcome.Missed
	case !e.Status.Final():
		e.Outcome = outcome.Pending
	case r.Reported:
		e.Outcome = outcome.Reported
	case r.Cause == job.CauseMisfire:
		e.Outcome = outcome.CaughtUp
	default:
		e.Outcome = outcome.Ran
	}
}

// hostOf returns the host from which pings have told of a run; "" if none has, or it is unknown.
func hostOf(r *runlog.Run) string {
	if !r.Reported {
		return ""
	}
	return strings.TrimPrefix(r.Instance, runlog.HostPrefix)
}

// why returns what a row says of why it ended, or else of why it was late or waits. That an
// attempt failed is no reason any more once the one that followed has ended.
func why(r *runlog.Run) reason.Text {
	said := r.Reason
	if status := r.RunStatus(); status.Final() && reason.Read(string(said)).Code == reason.NextAttempt.Code {
		said = ""
	} else if status == job.StatusFailed || status == job.StatusTimedOut {
		return cmp.Or(r.Message, said)
	}
	return cmp.Or(said, r.Message)
}

// late returns how late an entry's fire was decided.
func late(e *outcome.Entry) job.Duration {
	if e.DecidedAt.IsZero() {
		return 0
	}
	return job.Duration(max(e.DecidedAt.Sub(e.Due), 0).Truncate(time.Millisecond))
}

// compare returns the entry of a fire that has a row of its own.
func (j *judge) compare(f expected, r *runlog.Run) *outcome.Entry {
	e := j.entry(f)
	tell(e, r)
	if j.covered(f.At) && j.cover.RunID != r.RunID {
		contradict(e, finding.TwoOutcomes.With(j.cover.Count, j.cover.Status, j.cover.RunID))
	} else if why := j.tallied(r, e.Status); why != "" {
		contradict(e, why)
	}
	return e
}

func contradict(e *outcome.Entry, why string) {
	e.Outcome, e.Reason = outcome.Discrepancy, reason.Text(why)
}

// without returns the entry of a fire that has no row of its own.
func (j *judge) without(f expected) *outcome.Entry {
	e := j.entry(f)
	if j.covered(f.At) {
		tell(e, j.cover)
		return e
	}
	p := &j.plans[f.plan]
	edge := f.plan > 0 && j.plans[f.plan-1].Kind == job.KindFixedDelay && f.At <= p.From+EdgeTolerance.Milliseconds()
	switch {
	case f.Due > j.decided:
		e.Outcome, e.Reason = outcome.Undecided, reason.Text(finding.ShardNotThere.With(instant(j.decided).Format(time.RFC3339Nano)))
	case j.revs[f.plan] > j.known:
		e.Outcome, e.Reason = outcome.Undecided, reason.Text(finding.VersionNotHeard.With(p.Version))
	case f.At < j.since:
		e.Outcome, e.Reason = outcome.Unjudged, reason.Text(finding.OlderThanHistory.String())
	case !j.ingested:
		e.Outcome, e.Reason = outcome.Unjudged, reason.Text(finding.NotInHistoryYet.String())
	case edge:
		e.Outcome, e.Reason = outcome.Unjudged, reason.Text(finding.EditOfDelay.String())
	default:
		contradict(e, finding.NothingKnown.With(instant(j.decided).Format(time.RFC3339Nano)))
	}
	return e
}

// unexpected returns the entry of a row at an instant at which no plan had a fire.
func (j *judge) unexpected(r *runlog.Run) *outcome.Entry {
	at := r.FireTime.UnixMilli()
	e := &outcome.Entry{FireTime: r.FireTime, Due: r.FireTime, RunID: r.RunID}
	tell(e, r)
	if len(j.plans) == 0 || at <= j.plans[0].From || r.Version > int(j.plans[len(j.plans)-1].Version) {
		return e // by a version that is not kept any more, or is newer than what was read
	}
	if i := j.index(r.Version); i >= 0 && j.plans[i].Kind == job.KindFixedDelay {
		e.Due = instant(at + j.plans[i].Offset)
		e.Late = late(e)
		return e
	}
	contradict(e, finding.NoSuchFire.String())
	return e
}

// silence returns the entry for a fixed-delay job whose next fire has not come, or nil.
// last is its newest row; nil when there is none.
func (j *judge) silence(last *runlog.Run) *outcome.Entry {
	i := len(j.plans) - 1
	if i < 0 || j.plans[i].Kind != job.KindFixedDelay || j.plans[i].Deleted || j.revs[i] > j.known || !j.ingested {
		return nil
	}
	p := &j.plans[i]
	since := p.From
	if last != nil {
		switch status := last.RunStatus(); {
		case !status.Final():
			return nil
		case status.Executed():
			since = last.FinishedAt.UnixMilli()
		default: // no run: it waits from the fire, or from when that was noticed, or the run was given up
			since = max(last.CommittedAt.UnixMilli(), last.FireTime.UnixMilli(), last.FinishedAt.UnixMilli())
			if !last.Until.IsZero() {
				since = max(since, last.Until.UnixMilli())
			}
		}
	}
	fire, more := p.DelayFire(max(since, p.From))
	if !more || fire.Due+DelayTolerance.Milliseconds() > j.decided || fire.At < j.since {
		return nil
	}
	e := j.entry(expected{fire, i})
	contradict(e, finding.NotFiredSince.With(instant(j.decided).Format(time.RFC3339Nano)))
	return e
}

func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
