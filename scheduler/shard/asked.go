package shard

import (
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// AskedFor is how long it is remembered that a run was made on command. Servers send no id whose time
// is older than five minutes, so that none comes that was forgotten.
const AskedFor = 7 * time.Minute

// Asked is what became of a run that somebody asked for.
type Asked struct {
	RunID   job.RunID
	Version int
	Status  job.Status // pending, queued or skipped
	Reason  string
}

// recentRuns remembers the runs made on command lately, so that a request that comes
// again, because its answer was lost, makes no second run. All that one batch has made
// is in one deferred item, from which a successor knows it.
type recentRuns struct {
	runs   map[job.RunID]Asked
	notes  []askedNote // the oldest first
	seen   int64       // the clock when it was looked at last; 0: never
	passed int64       // milliseconds that have passed since the machine was made, see pass
}

// askedNote is what one batch has made on command.
type askedNote struct {
	item *item
	at   int64 // when, as recentRuns.passed; 0 for what an earlier owner has made
	runs []job.RunID
}

// add remembers runs that are stored.
func (r *recentRuns) add(runs []Asked) {
	if r.runs == nil {
		r.runs = map[job.RunID]Asked{}
	}
	for _, a := range runs {
		r.runs[a.RunID] = a
	}
}

// committed remembers the runs of a batch that is stored.
func (q *Requests) committed(asked []Asked) {
	q.recent.add(asked)
	for _, a := range asked {
		delete(q.asked, a.RunID)
	}
}

// note adds the item that says what the batch has made on command. There is room
// for it.
func (q *Requests) note(b *builder) {
	if len(b.Asked) == 0 {
		return
	}
	note := askedNote{at: q.recent.passed}
	d := &bus.Deferred{Kind: bus.DeferredAsked, Since: b.now}
	for _, a := range b.Asked {
		note.runs = append(note.runs, a.RunID)
		d.Asked = append(d.Asked, bus.TriggerReply{RunID: a.RunID, Version: a.Version, Status: a.Status, Reason: a.Reason})
	}
	note.item = b.deferred(q.cfg.Shard, d)
	q.recent.notes = append(q.recent.notes, note)
}

// restore remembers what an earlier owner has made on command.
func (q *Requests) restore(d *bus.Deferred, seq uint64) {
	note := askedNote{item: &item{seq: seq}}
	for _, a := range d.Asked {
		note.runs = append(note.runs, a.RunID)
		q.recent.add([]Asked{{RunID: a.RunID, Version: a.Version, Status: a.Status, Reason: a.Reason}})
	}
	q.recent.notes = append(q.recent.notes, note)
}

// pass lets time go on to now. A machine steps at least every [IdleAfter], so more than that
// between two steps is a clock that was set, and counts as no more: what was made a minute
// ago is not forgotten because a clock was wrong. One that goes back counts as nothing.
func (r *recentRuns) pass(now int64) {
	if r.seen != 0 {
		r.passed += min(max(now-r.seen, 0), IdleAfter)
	}
	r.seen = now
}

// age forgets what was made on command long ago.
func (q *Requests) age(now int64) {
	r := &q.recent
	r.pass(now)
	for len(r.notes) > 0 && r.notes[0].at+AskedFor.Milliseconds() <= r.passed {
		for _, id := range r.notes[0].runs {
			delete(r.runs, id)
		}
		q.items.release(r.notes[0].item)
		r.notes = r.notes[1:]
	}
}
