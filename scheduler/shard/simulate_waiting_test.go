package shard

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// simLater is a run that was asked for at an instant, as what is stored tells of it.
type simLater struct {
	bus.TriggerRequest
	id       job.RunID
	accepted int  // the job's version by then; 0: it is not
	gone     bool // has been admitted, or has ended
	wished   bool // somebody has asked to cancel it
	forgot   bool // its job was forgotten meanwhile
}

// askLater asks for a run at an instant.
func (w *world) askLater() {
	if w.owner == nil {
		return
	}
	name := w.names[w.rng.IntN(len(w.names))]
	r := bus.TriggerRequest{
		RunID: job.FireRunID(name, w.clock, job.Cause(strconv.Itoa(len(w.asked)))), Job: name, Cause: job.CauseAPI,
		Due: instant(w.clock + w.rng.Int64N(300*w.scale.unit.Milliseconds()) - 20*w.scale.unit.Milliseconds()),
	}
	if w.chance(30) {
		r.Cause = job.CauseManual
	}
	if w.chance(30) {
		r.Expires = r.Due.Add(time.Millisecond + time.Duration(w.rng.Int64N(int64(40*w.scale.unit))).Truncate(time.Millisecond))
	}
	if w.chance(30) {
		r.Params = json.RawMessage(simCustomers[w.rng.IntN(len(simCustomers))])
	}
	if _, err := w.owner.m.Requests.Submit(r); err != nil {
		return
	}
	later := job.LaterRunID(r.RunID, r.Due.UnixMilli())
	w.say("run %s of %s is asked for at %s, expires %v (%s)", later, r.Job, r.Due.Format("02 15:04:05.000"), r.Expires, r.Cause)
	w.asked[r.RunID] = false
	w.later[later] = &simLater{TriggerRequest: r, id: later}
	w.asking = append(w.asking, simRequest{TriggerRequest: r, at: w.clock})
}

// cancelLater cancels a run that waits for its instant.
func (w *world) cancelLater() {
	if w.owner == nil || len(w.owner.m.waiting.byID) == 0 {
		return
	}
	ids := slices.Sorted(maps.Keys(w.owner.m.waiting.byID))
	id := ids[w.rng.IntN(len(ids))]
	if !w.owner.m.Cancels.Add(id, "not any more", false) {
		fail("run %s waits, and cannot be cancelled", id)
	}
	w.later[id].wished = true
	w.say("run %s is not to wait any more", id)
}

// checkWaiting holds a line about a run that waits for its instant against the rules. It returns false for one about any
// other run, and for the line that admits it: from then on it is a run like others.
func (w *world) checkWaiting(l journal.Decided, d delivery) (waits bool) {
	r := w.later[l.RunID]
	if r == nil {
		return false
	}
	if !l.FireTime.Equal(r.Due) || l.Cause != r.Cause || l.Job != r.Job {
		fail("run %s of %s is asked for at %s by %s; the record says %+v", r.id, r.Job, r.Due, r.Cause, l)
	}
	if r.accepted == 0 {
		if l.Status != job.StatusQueued || !strings.HasPrefix(l.Reason, "it waits until ") {
			fail("run %s of %s is %s (%s), and was never accepted", r.id, r.Job, l.Status, l.Reason)
		}
		if r.Due.UnixMilli() <= d.now {
			fail("run %s of %s is to wait until %s, and it is %s", r.id, r.Job, r.Due, instant(d.now))
		}
		r.accepted = l.Version
		return true
	}
	if r.gone {
		return false
	}
	paused := w.pausedFor(l.Job, d)
	if l.Status == job.StatusQueued && strings.Contains(l.Reason, "paused") {
		if r.Cause == job.CauseManual || r.Due.UnixMilli() > d.now || !paused {
			fail("run %s of %s, due %s by %s, waits at %s since %q", r.id, r.Job, r.Due, r.Cause, instant(d.now), l.Reason)
		}
		return true
	}
	r.gone = true
	expired := !r.Expires.IsZero() && r.Expires.UnixMilli() <= d.now
	deleted := w.deletedFor(r, d)
	switch l.Status { //nolint:exhaustive // it begins with any other
	case job.StatusCancelled:
		if !r.wished && !deleted {
			fail("run %s of %s is cancelled (%s), and nobody has asked for that", r.id, r.Job, l.Reason)
		}
		return true
	case job.StatusMissed:
		if !expired {
			fail("run %s of %s is missed at %s, and expires at %s", r.id, r.Job, instant(d.now), r.Expires)
		}
		return true
	default:
		switch {
		case r.Due.UnixMilli() > d.now:
			fail("run %s of %s is %s at %s, and due at %s", r.id, r.Job, l.Status, instant(d.now), r.Due)
		case expired:
			fail("run %s of %s is %s at %s, and expired at %s", r.id, r.Job, l.Status, instant(d.now), r.Expires)
		case deleted && !r.forgot:
			fail("run %s of %s is %s, and the job was deleted", r.id, r.Job, l.Status)
		case paused && r.Cause == job.CauseAPI:
			fail("run %s of %s is %s, and the job is paused", r.id, r.Job, l.Status)
		}
		return l.Status == job.StatusSkipped
	}
}

// pausedFor reports whether a job is paused for one who knows of d.
func (w *world) pausedFor(name job.Name, d delivery) bool {
	versions := d.known.jobs[name]
	if len(versions) == 0 {
		return false
	}
	v := versions[len(versions)-1]
	return v.Paused || v.PausedUntil != nil && d.now < v.PausedUntil.UnixMilli() || d.known.held(name, d.now) != ""
}

// deletedFor reports whether the job of a run was deleted since it was accepted, for one who knows of d.
func (w *world) deletedFor(r *simLater, d delivery) bool {
	versions := d.known.jobs[r.Job]
	return r.forgot || len(versions) == 0 || slices.ContainsFunc(versions, func(v heardVersion) bool { return v.Deleted && v.Version.Version > r.accepted })
}

// forgetLater notes that a job is forgotten, with which its runs end that wait.
func (w *world) forgetLater(name job.Name) {
	for _, r := range w.later {
		r.forgot = r.forgot || r.Job == name
	}
}

// checkWaitingItems holds the items of runs that wait against what the records say: one each while it waits, and none after.
func (w *world) checkWaitingItems() {
	items := map[job.RunID]int{}
	for seq, d := range w.trig.deferred {
		if d.Kind == journal.DeferredWaiting && !w.trig.released[seq] {
			items[d.RunID]++
		}
	}
	for id, r := range w.later {
		want := 0
		if r.accepted != 0 && !r.gone {
			want = 1
		}
		if items[id] != want {
			fail("run %s of %s has %d items, and should have %d", id, r.Job, items[id], want)
		}
		delete(items, id)
	}
	for id := range items {
		fail("run %s waits, and nobody asked for it", id)
	}
}

// checkWaitingEnd looks at the runs that still wait once everything has come to rest.
func (w *world) checkWaitingEnd() {
	for id, r := range w.later {
		if r.accepted == 0 || r.gone || r.Due.UnixMilli() > w.clock {
			continue
		}
		paused := r.Cause == job.CauseAPI // everything is, in the end
		if !paused || !r.Expires.IsZero() && r.Expires.UnixMilli() <= w.clock {
			fail("run %s of %s was due at %s and expires at %s, and still waits", id, r.Job, r.Due, r.Expires)
		}
	}
}

// checkWaitingResumed looks that no run waits that is due, but for those that a pause holds.
func (w *world) checkWaitingResumed(d delivery) {
	for id, r := range w.later {
		if r.accepted != 0 && !r.gone && r.Due.UnixMilli() <= w.clock && (r.Cause == job.CauseManual || !w.pausedFor(r.Job, d)) {
			fail("run %s of %s was due at %s, is not held by a pause, and still waits", id, r.Job, r.Due)
		}
	}
}
