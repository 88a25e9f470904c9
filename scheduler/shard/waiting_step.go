package shard

import (
	"container/heap"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// throttled reports whether so many items wait to be deleted that no further ones of waiting runs are
// released: they must not keep the rest of the shard from deciding.
func (ws *waitingRuns) throttled() bool {
	return len(ws.items.released)+len(ws.items.due) >= maxReleased/2
}

// end ends the runs that are to be cancelled, and those of deleted jobs, as far as b has room.
func (ws *waitingRuns) end(b *builder) {
	for left := maxWaitingStep; left > 0 && len(ws.wishes)+len(ws.doomed) > 0 && b.fits(0) && !ws.throttled(); left-- {
		if len(ws.wishes) > 0 {
			c := ws.wishes[0]
			ws.wishes = ws.wishes[1:]
			ws.endRun(b, c.waitingRun, job.StatusCancelled, c.why)
			b.Cancelled = append(b.Cancelled, Cancelled{c.id, job.StatusQueued})
			continue
		}
		w := ws.doomed[0]
		ws.doomed = ws.doomed[1:]
		ws.endRun(b, w, job.StatusCancelled, reason.JobDeleted.String())
	}
}

// endRun ends a run that has not been admitted, if it is not over. Nothing follows from that.
func (ws *waitingRuns) endRun(b *builder, w *waitingRun, s job.Status, why string) {
	if w.over {
		return
	}
	b.record.addRun(w.job, w.attempt(ws.asked(w)), s, why)
	ws.drop(w)
}

// admit admits the runs that are due, as far as b has room, in the order in which they are.
func (ws *waitingRuns) admit(b *builder) {
	now := b.now.UnixMilli()
	ws.resume(now)
	for left := maxWaitingStep; left > 0 && len(ws.next) > 0 && ws.next[0].wakesAt() <= now && b.fits(roomAsked) && !ws.throttled(); left-- {
		w := ws.next[0]
		id, _ := ws.jobs.find(w.job) // else it is doomed
		if w.expires != 0 && w.expires <= now {
			ws.endRun(b, w, job.StatusMissed, reason.Expired.With(instant(w.expires)))
			continue
		}
		if why := ws.cluster.whyPaused(w.job.Group(), ws.jobs.at(id).newest(), now); why != "" && w.program {
			ws.hold(b, w, why)
			continue
		}
		ws.launch(b, id, w, now)
	}
}

// launch admits a run.
func (ws *waitingRuns) launch(b *builder, id uint32, w *waitingRun, now int64) {
	wish := ws.asked(w)
	w.version = ws.jobs.at(id).newest().Version
	r, f := w.attempt(wish), admission{status: job.StatusSkipped}
	of, given, err := ws.body(id, wish)
	switch {
	case ws.jobs.at(id).elsewhere():
		f.reason = refusal.RunsElsewhere.With(w.job)
	case err != nil:
		f.reason = err.Error()
	default:
		r.given = given
		f = ws.runs.admit(b, id, r, of)
	}
	r.total = f.total
	if f.status == job.StatusPending && f.reason == "" && overdue(w.due, now) == "" { // in the place of why it waited
		f.reason = reason.RequestedFor.With(instant(w.due))
	}
	b.record.addRun(w.job, r, f.status, reason.Join(overdue(w.due, now), f.reason))
	ws.drop(w)
}

// overdue says how late a run is that somebody has asked for, "" if it is not.
func overdue(due, now int64) string {
	if now-due < tellAfter {
		return ""
	}
	return reason.WasDue.With(lateness(due, now))
}

// whyLate says why a run has not begun by when it had to: by why, a limit of its job's, or by its own.
func (a *watchedRun) whyLate(within job.Duration, why reason.One) string {
	if within > 0 {
		return why.With(within)
	}
	return reason.Expired.With(instant(a.startBy))
}

// hold keeps a run that is due until its job is not paused any more, or it expires.
func (ws *waitingRuns) hold(b *builder, w *waitingRun, why string) {
	heap.Pop(&ws.next)
	w.held = true
	if w.expires != 0 {
		heap.Push(&ws.next, w)
	}
	of := ws.byJob[w.job]
	if len(of.held) == 0 && !slices.Contains(ws.holding, w.job) {
		ws.holding = append(ws.holding, w.job)
	}
	of.held = append(of.held, w)
	if !w.noted {
		w.noted = true
		b.record.addRun(w.job, w.attempt(ws.asked(w)), job.StatusQueued, why)
	}
}

// resume lets the held runs of jobs that are not paused any more be due.
func (ws *waitingRuns) resume(now int64) {
	if len(ws.holding) == 0 || now < ws.lookAt && ws.lookAt <= now+lookEvery {
		return
	}
	ws.lookAt = now + lookEvery
	ws.holding = slices.DeleteFunc(ws.holding, func(name job.Name) bool {
		id, _ := ws.jobs.find(name)
		of := ws.byJob[name]
		if ws.cluster.whyPaused(name.Group(), ws.jobs.at(id).newest(), now) != "" {
			return false
		}
		for _, w := range of.held {
			if w.over || w.slot < 0 && !ws.linked(w) {
				continue
			}
			if w.slot >= 0 {
				heap.Remove(&ws.next, int(w.slot))
			}
			w.held, w.noted = false, false
			heap.Push(&ws.next, w)
		}
		of.held = nil
		return true
	})
}

// linked reports whether a run is one of its job's, and not doomed.
func (ws *waitingRuns) linked(w *waitingRun) bool {
	of := ws.byJob[w.job]
	return of != nil && (of.first == w || w.prev != nil)
}

// nextAt returns when something is to be done about a run that waits, and whether there is such an instant.
func (ws *waitingRuns) nextAt() (at int64, ok bool) {
	if ws.throttled() {
		return 0, false
	}
	if len(ws.next) > 0 {
		at, ok = ws.next[0].wakesAt(), true
	}
	if len(ws.holding) > 0 && (!ok || ws.lookAt < at) {
		at, ok = ws.lookAt, true
	}
	return at, ok
}

// pending reports whether a run is to be ended.
func (ws *waitingRuns) pending() bool { return len(ws.wishes)+len(ws.doomed) > 0 && !ws.throttled() }
