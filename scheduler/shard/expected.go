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

// awayGrace is how long a ping may still come for a fire for which there was no server, in milliseconds:
// whoever keeps pings for later sends them by then.
const awayGrace = 10 * 60_000

// expect begins to expect a ping for a run that is done elsewhere. It takes one message.
func (ws *watches) expect(b *builder, id uint32, r attempt, body body) admission {
	rule := ws.rule(id)
	w := ws.byJob[id]
	if r.cause.Scheduled() && w != nil && !w.heard && !rule.Now {
		return admission{status: job.StatusSkipped, reason: reason.WatchNotHeard.String()}
	}
	a := &watchedRun{
		attempt: r, jobID: id, job: ws.jobs.at(id).name, stage: expected, body: unique.Make(body), since: b.now.UnixMilli(),
		due: r.fireTime + rule.Grace,
	}
	if r.cause == job.CauseMisfire {
		a.extend(b.now.UnixMilli())
	}
	ws.writeExpected(b, a)
	ws.add(a)
	return admission{status: job.StatusQueued, reason: reason.ExpectsPing.With(instant(a.due))}
}

// rule returns by what pings of a job are judged: its newest version, as long as that is done elsewhere.
func (ws *watches) rule(id uint32) *job.WatchRule {
	if rule := ws.jobs.at(id).newest().Watch; rule != nil {
		return rule
	}
	return &job.WatchRule{Grace: job.DefaultWatchGrace.Milliseconds(), Early: 0, Timeout: job.DefaultWatchTimeout.Milliseconds()}
}

// extend gives a run more time, because there was no server for some of it.
func (a *watchedRun) extend(now int64) {
	if a.due < now+awayGrace {
		a.due, a.told.Away = now+awayGrace, true
	}
}

// writeExpected writes the item of a run that is done elsewhere.
func (ws *watches) writeExpected(b *builder, a *watchedRun) {
	ws.items.release(a.item)
	told := a.told
	a.item = b.waitIn(&journal.Deferred{Kind: journal.DeferredExpected, Due: instant(a.due), Told: &told}, a)
}

// begun reports whether a ping has said that a run done elsewhere has begun.
func (a *watchedRun) begun() bool { return !a.told.StartedAt.IsZero() }

// tell does what a ping tells of a run: that it has begun, or how it ended. The caller has found room for what follows.
func (ws *watches) tell(b *builder, a *watchedRun, p ping, why string) {
	if p.Kind == bus.PingStart {
		if !a.begun() {
			a.told.Key, a.told.Host, a.told.StartedAt = p.Key, p.Host, instant(p.at)
			a.due = p.at + ws.rule(a.jobID).Timeout
			ws.writeExpected(b, a)
			ws.arm(a.jobID)
		}
		b.record.addPing(a.job, a.attempt, job.StatusRunning, why, p.report(a.told.StartedAt.UnixMilli()))
		return
	}
	b.record.addPing(a.job, a.attempt, p.Status(), why, p.report(millis(a.told.StartedAt)))
	a.told.Key = cmp.Or(a.told.Key, p.Key)
	ws.remember(a)
	ws.end(b, a, p.Status(), nil, p.at)
}

// wake ends a run that is done elsewhere if no ping came in time, or if nobody is to wait for one any more.
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
		ws.remember(a)
		ws.endHere(b, a, job.StatusTimedOut, reason.NoEndCame.With(job.Duration(rule.Timeout*1e6)))
	case a.told.Away:
		ws.endHere(b, a, job.StatusMissed, reason.NoPingAway.With(grace, instant(a.due)))
	default:
		ws.endHere(b, a, job.StatusMissed, reason.NoPing.With(grace))
	}
	if a.cause.Scheduled() {
		ws.fellSilent(b, a.jobID, a.fireTime)
	}
}

// endHere ends a run of which no ping tells that it has ended, and records it.
func (ws *watches) endHere(b *builder, a *watchedRun, s job.Status, why string) {
	b.record.addRun(a.job, a.attempt, s, why)
	ws.end(b, a, s, nil, b.now.UnixMilli())
}

// wasAway gives the runs that an earlier owner has expected more time, if that is over: pings of them may be among
// the events that were not read yet.
func (ws *watches) wasAway(now int64) {
	for id := range ws.byJob {
		for _, a := range ws.open(id) {
			if a.due <= now {
				a.extend(now)
			}
		}
		ws.arm(id)
	}
}

// report returns what a record says of a ping. startedAt is when the run began, as an earlier ping said; 0 if none did.
func (p ping) report(startedAt int64) *runlog.Ping {
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

// addPing records what a ping says of a run.
func (r *recorder) addPing(name job.Name, of attempt, s job.Status, why string, p *runlog.Ping) {
	r.addRun(name, of, s, why).Ping = p
	r.size += len(p.Output) + len(p.Message) + len(p.Host)
}
