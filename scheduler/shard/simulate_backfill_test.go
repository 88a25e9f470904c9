package shard

import (
	"fmt"
	"maps"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// simBackfills is what the world knows of backfills: those that were stored.
type simBackfills struct {
	asked  int
	stored map[string]*simBackfill
	of     map[job.RunID]*simBackfill // by the runs that they owe
}

type simBackfill struct {
	job      job.Name
	list     *job.Backfill
	progress *job.Backfill
	gone     bool // with its job
}

func newSimBackfills() *simBackfills {
	return &simBackfills{stored: map[string]*simBackfill{}, of: map[job.RunID]*simBackfill{}}
}

// fillSome asks for a backfill, maybe twice, or calls one off.
func (w *world) fillSome() {
	if w.owner == nil {
		return
	}
	m := w.owner.m
	if w.chance(20) {
		for _, id := range sortedKeys(w.backfills.stored) {
			if f := w.backfills.stored[id]; w.chance(30) && m.Backfills.Cancel(f.job, id, "called off") == nil {
				w.say("backfill %s is called off", id)
				return
			}
		}
		return
	}
	w.backfills.asked++
	r := journal.BackfillRequest{ID: fmt.Sprintf("b%d", w.backfills.asked), Job: w.names[w.rng.IntN(len(w.names))], AtOnce: 1 + w.rng.IntN(4)}
	for at := w.start - 1 - w.rng.Int64N(50); len(r.Fires) < 1+w.backfills.asked%12; at += 1 + w.rng.Int64N(3) {
		r.Fires = append(r.Fires, at)
	}
	for range 1 + w.rng.IntN(2) {
		if done, err := m.Backfills.Ask(r); err != nil || done != nil {
			return
		}
	}
	w.say("backfill %s of %s, %d fires, %d at once", r.ID, r.Job, len(r.Fires), r.AtOnce)
}

// checkBackfills takes in what a batch says of backfills.
func (w *world) checkBackfills(b *stored) {
	for _, d := range b.deferred {
		switch d.Kind { //nolint:exhaustive // others are looked at elsewhere
		case journal.DeferredBackfill:
			f := &simBackfill{job: d.Job, list: d.Backfill}
			if w.backfills.stored[d.Backfill.ID] != nil {
				fail("backfill %s is stored twice", d.Backfill.ID)
			}
			w.backfills.stored[d.Backfill.ID] = f
			for _, at := range d.Backfill.Fires {
				w.backfills.of[job.BackfillRunID(d.Job, at, d.Backfill.ID)] = f
			}
		case journal.DeferredBackfilled:
			f := w.backfills.stored[d.Backfill.ID]
			if f == nil {
				fail("backfill %s goes on, but has no list", d.Backfill.ID)
			}
			if f.progress != nil && (d.Backfill.Begun < f.progress.Begun || f.progress.Cancelled != "" && d.Backfill.Begun > f.progress.Begun) {
				fail("backfill %s goes from %+v to %+v", d.Backfill.ID, f.progress, d.Backfill)
			}
			f.progress = d.Backfill
		}
	}
}

// checkFill holds a line about a run of a backfill against that.
func (w *world) checkFill(l journal.Decided) {
	f := w.backfills.of[l.RunID]
	if f == nil {
		fail("run %s of %s, which no backfill owes", l.RunID, l.Job)
	}
	if !slices.Contains(f.list.Fires[:f.progress.Begun], l.FireTime.UnixMilli()) {
		fail("run %s of %s has begun, and its backfill says %+v", l.RunID, l.Job, f.progress)
	}
}

// checkFilling holds the runs that are alive against what may be.
func (w *world) checkFilling() {
	alive := map[*simBackfill]int{}
	active := map[job.Name]*simBackfill{}
	for _, r := range w.lives.byRun {
		f := w.backfills.of[r.id]
		if f == nil || r.status.Final() || f.gone {
			continue
		}
		if alive[f]++; alive[f] > f.list.AtOnce {
			fail("%d runs of backfill %s are alive", alive[f], f.list.ID)
		}
		if other := active[r.job]; other != nil && other != f {
			fail("backfills %s and %s of %s are at work", f.list.ID, other.list.ID, r.job)
		}
		active[r.job] = f
		if !f.progress.EndedAt.IsZero() {
			fail("run %s of backfill %s is alive, which has ended", r.id, f.list.ID)
		}
	}
}

// checkBackfillsEnd looks at the whole, once everything has come to rest.
func (w *world) checkBackfillsEnd() {
	for _, id := range sortedKeys(w.backfills.stored) {
		f := w.backfills.stored[id]
		if f.gone {
			continue
		}
		if f.progress == nil || f.progress.EndedAt.IsZero() || f.progress.Cancelled == "" && f.progress.Begun != len(f.list.Fires) {
			fail("backfill %s of %s has not ended: %+v", id, f.job, f.progress)
		}
		for i, at := range f.list.Fires {
			run := job.BackfillRunID(f.job, at, id)
			if begun := w.lives.lines[run]; begun != (i < f.progress.Begun) {
				fail("run %s of backfill %s: begun is %v, but the backfill says %+v", run, id, begun, f.progress)
			}
		}
	}
}

// forget forgets the backfills of a job whose versions are gone.
func (b *simBackfills) forget(name job.Name) {
	for _, f := range b.stored {
		if f.job == name {
			f.gone = true
		}
	}
}

func sortedKeys(m map[string]*simBackfill) []string {
	return slices.Sorted(maps.Keys(m))
}
