package shard

import (
	"cmp"
	"unique"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
)

// Bounds of how long a ping may still come after the shard had no owner, in milliseconds. Clients that keep pings on disk
// send them by then.
const (
	minOutageGrace = 30_000
	maxOutageGrace = 10 * 60_000
)

// maxOpen is how many runs of a job may be expected or have begun elsewhere: what pings can keep has a bound.
const maxOpen = 1000

// expect admits a run that is done elsewhere. It takes one message.
func (ws *watches) expect(b *builder, id uint32, r attempt, body body) admission {
	rule := ws.rule(id)
	w := ws.byJob[id]
	if r.cause.Scheduled() && w != nil && !w.heard && !rule.Now {
		return admission{status: job.StatusSkipped, reason: reason.WatchNotHeard.String()}
	}
	if open := len(ws.open(id)); open >= maxOpen {
		return admission{status: job.StatusMissed, reason: reason.TooManyOpen.With(open)}
	}
	a := &watchedRun{
		attempt: r, jobID: id, job: ws.jobs.at(id).name, stage: expected, body: unique.Make(body), since: b.now.UnixMilli(),
		due: r.fireTime + rule.Grace,
	}
	if r.cause == job.CauseMisfire {
		a.extend(b.now.UnixMilli(), rule.Grace)
	}
	ws.writeExpected(b, a)
	ws.add(a)
	return admission{status: job.StatusQueued, reason: reason.ExpectsPing.With(instant(a.due))}
}

// rule returns the rule for the pings of a job, by its newest version.
func (ws *watches) rule(id uint32) *job.WatchRule {
	if rule := ws.jobs.at(id).newest().Watch; rule != nil {
		return rule
	}
	return &job.WatchRule{Grace: job.DefaultWatchGrace.Milliseconds(), Early: 0, Timeout: job.DefaultWatchTimeout.Milliseconds()}
}

// extend extends the deadline of a run for which the shard had no owner: by another grace, within bounds.
func (a *watchedRun) extend(now, grace int64) {
	if due := now + min(max(grace, minOutageGrace), maxOutageGrace); a.due < due {
		a.due, a.reported.Outage = due, true
	}
}

// writeExpected writes the item of a run.
func (ws *watches) writeExpected(b *builder, a *watchedRun) {
	ws.items.release(a.item)
	state := a.reported
	a.item = b.waitIn(&journal.Deferred{Kind: journal.DeferredExpected, Due: instant(a.due), Reported: &state}, a)
}

// begun reports whether a ping has reported the start of the run.
func (a *watchedRun) begun() bool { return !a.reported.StartedAt.IsZero() }

// report applies a ping to a run that has not ended. The caller has found room for what follows.
func (ws *watches) report(b *builder, a *watchedRun, p ping, why string) {
	if p.Kind == bus.PingStart {
		if !a.begun() {
			a.reported.Key, a.reported.Host, a.reported.StartedAt = p.Key, p.Host, instant(p.at)
			a.due = p.at + ws.rule(a.jobID).Timeout
			ws.writeExpected(b, a)
			ws.arm(a.jobID)
		}
		b.record.addPing(a.job, a.attempt, job.StatusRunning, why, p.detail(a.reported.StartedAt.UnixMilli()))
		return
	}
	b.record.addPing(a.job, a.attempt, p.Status(), why, p.detail(millis(a.reported.StartedAt)))
	a.reported.Key = cmp.Or(a.reported.Key, p.Key)
	ws.rememberKey(a)
	ws.end(b, a, p.Status(), nil, p.at)
}

// wake ends a run whose deadline is over, or whose job is no longer watched.
func (ws *watches) wake(b *builder, a *watchedRun, now int64) {
	e, rule := ws.jobs.at(a.jobID), ws.rule(a.jobID)
	switch grace := job.Duration(rule.Grace * 1e6); {
	case e.newest().Deleted:
		ws.endHere(b, a, job.StatusCancelled, reason.JobDeleted.String())
		return
	case !e.elsewhere():
		ws.endHere(b, a, job.StatusCancelled, reason.WatchEnded.String())
		return
	case a.due+startMargin.Milliseconds() > now:
		return
	case a.begun():
		ws.rememberKey(a)
		ws.endHere(b, a, job.StatusTimedOut, reason.NoEndCame.With(job.Duration(rule.Timeout*1e6)))
	case a.reported.Outage:
		ws.endHere(b, a, job.StatusMissed, reason.NoPingAway.With(grace, instant(a.due)))
	default:
		ws.endHere(b, a, job.StatusMissed, reason.NoPing.With(grace))
	}
	if a.cause.Scheduled() {
		ws.noteUnreported(b, a.jobID, a.fireTime)
	}
}

// endHere ends a run without a ping, and records it.
func (ws *watches) endHere(b *builder, a *watchedRun, s job.Status, why string) {
	b.record.addRun(a.job, a.attempt, s, why)
	ws.end(b, a, s, nil, b.now.UnixMilli())
}

// extendDeadlines extends the deadlines that are over of runs that an earlier owner has admitted: their pings may be among
// the events that are not read yet.
func (ws *watches) extendDeadlines(now int64) {
	for id := range ws.byJob {
		for _, a := range ws.open(id) {
			if a.due <= now {
				a.extend(now, ws.rule(id).Grace)
			}
		}
		ws.arm(id)
	}
}

// detail returns what a record keeps of a ping. startedAt is when the run began by an earlier ping; 0: not known.
func (p ping) detail(startedAt int64) *runlog.Ping {
	r := &runlog.Ping{ID: p.ID, Host: p.Host, By: p.By}
	if p.Kind == bus.PingStart {
		r.StartedAt = instant(cmp.Or(startedAt, p.at))
		return r
	}
	r.FinishedAt, r.ExitCode, r.Message, r.Output, r.OutputCut = instant(p.at), p.ExitCode, p.Message, p.Output, p.OutputCut
	switch {
	case startedAt != 0:
		r.StartedAt = instant(min(startedAt, p.at))
	case p.Took > 0:
		r.StartedAt = instant(p.begun())
	}
	return r
}

// addPing records a ping of a run.
func (r *recorder) addPing(name job.Name, of attempt, s job.Status, why string, p *runlog.Ping) {
	r.addRun(name, of, s, why).Ping = p
	r.size += len(p.Output) + len(p.Message) + len(p.Host)
}
