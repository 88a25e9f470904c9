package shard

import (
	"encoding/json"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// condemn cancels a run whose trigger is there, also if it counts as missed. The owner has found no end of
// it, but one may be stored before the machine hears, and its trigger not be acknowledged yet. What an
// executor reports later is anything.
func (w *world) condemn() {
	if w.owner == nil || len(w.live) == 0 || w.owner.evt != w.evt {
		return
	}
	r, known := w.live[w.rng.IntN(len(w.live))], w.evt.last()
	if w.chance(30) {
		w.finish(r)
		if w.chance(50) {
			w.feed(w.owner, int(w.evt.last()))
		}
	}
	if w.owner.m.Events.Seq() > known {
		return // the owner looks again
	}
	if w.owner.m.Cancels.Condemn(r.trigger, "called off by ann") {
		w.say("attempt %d of run %s of %s is cancelled while an executor has it", r.trigger.Attempt, r.trigger.RunID, r.trigger.Job)
	}
}

// noteCondemned notes which attempts end as cancelled from a batch on. A run that nobody watched is
// watched from then on.
func (ls *lives) noteCondemned(b *stored) {
	for _, d := range b.deferred {
		if d.Kind != journal.DeferredAlive || d.Reason == "" {
			continue
		}
		var t bus.Trigger
		if err := json.Unmarshal(d.Trigger, &t); err != nil {
			fail("decode the trigger of a run that was cancelled: %v", err)
		}
		r := ls.byRun[t.RunID]
		if r == nil {
			ls.queued++
			r = &life{
				id: t.RunID, job: t.Job, attempt: t.Attempt, status: job.StatusPending, order: ls.queued,
				cause: t.Cause, fire: t.FireTime.UnixMilli(), version: t.Version,
			}
			ls.byRun[t.RunID] = r
		}
		if !r.forgotten && (r.status != job.StatusPending || r.attempt != t.Attempt) {
			fail("attempt %d of run %s is cancelled, and attempt %d is %s", t.Attempt, t.RunID, r.attempt, r.status)
		}
		ls.condemned[t.RunID] = t.Attempt
	}
}

// isCondemned reports whether the end of a run's attempt counts as cancelled.
func (ls *lives) isCondemned(r *life) bool { return ls.condemned[r.id] == r.attempt }
