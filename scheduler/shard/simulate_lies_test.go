package shard

import (
	"encoding/json"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// executeAgain has an attempt executed once more whose trigger was delivered twice: the second
// end comes late, after that of a later attempt maybe, and says something else.
func (w *world) executeAgain() {
	if len(w.past) == 0 {
		return
	}
	r := w.past[len(w.past)-1]
	if w.chance(50) {
		r = w.past[w.rng.IntN(len(w.past))]
	}
	if w.chance(30) {
		w.tell(bus.EventOf(r.trigger, bus.EventStarted, instant(w.clock)))
	}
	w.finish(r)
}

// lie has an executor report what is false about an attempt that it has, or had.
func (w *world) lie() {
	all := w.live
	if len(all) == 0 || w.chance(50) {
		all = w.past
	}
	if len(all) == 0 {
		return
	}
	r := all[w.rng.IntN(len(all))]
	kinds := []bus.EventKind{bus.EventFinished, bus.EventFinished, bus.EventStarted, bus.EventProgress, bus.EventHeld}
	e := bus.EventOf(r.trigger, kinds[w.rng.IntN(len(kinds))], instant(w.clock))
	if e.Kind == bus.EventFinished {
		e.Status = w.someStatus()
	}
	for range 1 + w.rng.IntN(3) {
		w.falsify(e)
	}
	heard, err := w.heard(r, e)
	if err != nil {
		return // a dead letter, or nothing that can be sent
	}
	if t := r.trigger; heard.Job != t.Job || heard.RunID != t.RunID || heard.Attempt != t.Attempt || heard.Piece != t.Piece || heard.Kind == bus.EventHeld {
		fail("who was given attempt %d of run %s of %s, piece %+v, is believed to say %+v", t.Attempt, t.RunID, t.Job, t.Piece, heard)
	}
	w.say("a lie: %s, another attempt follows: %v", heard.Kind, heard.Retry)
	w.tell(heard)
}

// falsify changes one of the things that an event says.
func (w *world) falsify(e *bus.Event) {
	switch w.rng.IntN(12) {
	case 0:
		e.Attempt += w.rng.IntN(3) - 1
	case 1:
		e.Index += w.rng.IntN(3) - 1
	case 2:
		e.Total += w.rng.IntN(3) - 1
	case 3:
		if len(w.live) > 0 {
			e.RunID = w.live[w.rng.IntN(len(w.live))].trigger.RunID
		}
	case 4:
		e.Job = w.names[w.rng.IntN(len(w.names))]
	case 5, 6:
		e.Retry = !e.Retry
	case 7:
		e.Status = []job.Status{job.StatusMissed, job.StatusSkipped, job.StatusQueued, job.StatusPending, "done", ""}[w.rng.IntN(6)]
	case 8:
		e.ExitCode = new(w.rng.IntN(3) - 1)
	case 9:
		e.Result = json.RawMessage([]string{`[1,2,3]`, `[]`, `{"a":1}`, `"x"`, `[null]`}[w.rng.IntN(5)])
	case 10:
		e.Version, e.Shard, e.Delivery = e.Version+w.rng.IntN(3)-1, e.Shard+1, w.rng.IntN(5)-1
		e.Cause = job.Causes[w.rng.IntN(len(job.Causes))]
	default:
		off := time.Duration(w.rng.Int64N(int64(2*w.scale.downtime))) - w.scale.downtime
		e.At, e.StartedAt, e.FinishedAt = e.At.Add(off), e.At.Add(-off), e.At.Add(-2*off)
	}
}
