package shard

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// simKeys are the keys that runs were asked for with, and the bucket KEY.
type simKeys struct {
	w        *world
	bucket   map[string]simStored
	accepted map[string][]journal.KeyedRun // by key, the latest last
	requests map[job.RunID]*simKeyed
	looks    []*simKeyed // that have read KEY, and not submitted yet
	again    int         // how often a key meant a run that was there
	freed    int         // how often a key made a further run
}

// simStored is what KEY has for a key, since when, and what it had before.
type simStored struct {
	journal.KeyedRun
	at     int64
	before *journal.KeyedRun
}

// simKeyed is a request with a key.
type simKeyed struct {
	bus.TriggerRequest
	o    *owner
	look KeyLookup
	at   int64 // of the look-up
}

func newSimKeys(w *world) *simKeys {
	return &simKeys{w: w, bucket: map[string]simStored{}, accepted: map[string][]journal.KeyedRun{}, requests: map[job.RunID]*simKeyed{}}
}

// lookUp begins a request with a key: what KEY has for it is read, perhaps from a leader that was deposed.
func (ks *simKeys) lookUp() {
	w, o := ks.w, ks.anOwner()
	if o == nil {
		return
	}
	name := w.names[w.rng.IntN(min(len(w.names), 2))]
	r := &simKeyed{o: o, at: w.clock, TriggerRequest: bus.TriggerRequest{
		RunID: job.FireRunID(name, w.clock, job.Cause("key"+strconv.Itoa(len(ks.requests)+len(ks.looks)))), Job: name, Cause: job.CauseAPI, Key: strconv.Itoa(w.rng.IntN(2)),
	}}
	if ids := slices.Sorted(maps.Keys(ks.requests)); w.chance(20) && len(ids) > 0 { // the answer was lost
		r.TriggerRequest = ks.requests[ids[w.rng.IntN(len(ids))]].TriggerRequest
		if w.clock-r.RunID.Time().UnixMilli() > AskedFor.Milliseconds()/2 {
			return
		}
	} else {
		r.Reset = w.chance(30)
		if w.chance(40) {
			r.Due = instant(w.clock + w.rng.Int64N(300*w.scale.unit.Milliseconds()) - 20*w.scale.unit.Milliseconds())
		}
		if w.chance(20) {
			r.Params = json.RawMessage(`{"n":1}`)
		}
	}
	r.look.Request = journal.KeyOf(&r.TriggerRequest)
	if s, ok := ks.bucket[r.look.Request.Key]; ok {
		r.look.Stored = &s.KeyedRun
		if w.chance(30) && s.at > w.clock-20_000 {
			r.look.Stored = s.before
		}
	}
	if s := r.look.Stored; s != nil && s.Until.UnixMilli() <= w.clock {
		r.look.Stored = nil
	}
	if w.chance(60) {
		ks.submit(r)
	} else {
		ks.looks = append(ks.looks, r)
	}
}

// goOn goes on with a request whose key was looked up a while ago.
func (ks *simKeys) goOn() {
	if len(ks.looks) == 0 {
		return
	}
	i := ks.w.rng.IntN(len(ks.looks))
	r := ks.looks[i]
	ks.looks = slices.Delete(ks.looks, i, i+1)
	ks.submit(r)
}

func (ks *simKeys) submit(r *simKeyed) {
	w := ks.w
	owns := r.o == w.owner
	if w.clock-r.at > 60_000 || !owns && !slices.Contains(w.zombies, r.o) {
		return
	}
	done, behind, err := r.o.m.Requests.SubmitKeyed(r.TriggerRequest, r.look)
	if err != nil || behind != "" {
		return
	}
	if done != nil {
		all := ks.accepted[r.look.Request.Key]
		if owns && r.o.batch == nil && (len(all) == 0 || !slices.ContainsFunc(all, func(k journal.KeyedRun) bool { return k.RunID == done.Reply().RunID })) {
			fail("key %s of %s means run %s; its runs are %+v", r.Key, r.Job, done.Reply().RunID, all)
		}
		ks.again++
		return
	}
	w.say("a run of %s is asked for with key %s, due %s, reset %v", r.Job, r.Key, r.Due, r.Reset)
	ks.requests[r.RunID] = r
	w.asked[r.RunID] = false
	if later := job.LaterRunID(r.RunID, r.Due.UnixMilli()); !r.Due.IsZero() && w.later[later] == nil {
		w.later[later] = &simLater{TriggerRequest: r.TriggerRequest, id: later}
	}
}

// store has KEY take some of what an owner wants it to have, which may not hear of that.
func (ks *simKeys) store() {
	o := ks.anOwner()
	if o == nil {
		return
	}
	ids, refused := map[job.RunID]bool{}, ks.w.chance(10)
	for _, k := range o.m.Keys.Unstored() {
		if ks.w.chance(30) {
			continue
		}
		old, is := ks.bucket[k.Key]
		if is && !old.Since.Before(k.Since) {
			ids[k.RunID] = true
			continue
		}
		s := simStored{KeyedRun: k, at: ks.w.clock}
		if is {
			s.before = &old.KeyedRun
		}
		if k.Until.UnixMilli() > ks.w.clock {
			ks.bucket[k.Key] = s
		}
		ids[k.RunID] = true
	}
	if ks.w.chance(80) {
		o.m.Keys.Stored(ids, refused)
	}
}

// check holds the runs that a batch has made for keys against those before.
func (ks *simKeys) check(b *stored) {
	w := ks.w
	for key, s := range ks.bucket {
		if s.Until.UnixMilli() <= w.clock {
			delete(ks.bucket, key)
		}
	}
	for _, item := range b.deferred {
		if item.Kind != journal.DeferredAsked {
			continue
		}
		for _, a := range item.Asked {
			if a.Key == nil {
				continue
			}
			r, all := ks.requests[a.ID], ks.accepted[a.Key.Key]
			if r == nil || a.Key.RunID != a.RunID {
				fail("run %s is made for a key, by request %s", a.RunID, a.ID)
			}
			if len(all) > 0 {
				last := all[len(all)-1]
				switch {
				case !r.Reset && last.Until.UnixMilli() > r.at:
					fail("key %s of %s has run %s until %s, and makes run %s", r.Key, r.Job, last.RunID, last.Until, a.RunID)
				case ks.isAlive(last.RunID):
					fail("key %s of %s has run %s, which is alive, and makes run %s", r.Key, r.Job, last.RunID, a.RunID)
				case !last.Since.Before(a.Key.Since):
					fail("run %s of a key is accepted at %s, after run %s at %s", a.RunID, a.Key.Since, last.RunID, last.Since)
				}
				ks.freed++
			}
			ks.accepted[a.Key.Key] = append(all, *a.Key)
		}
	}
	for key, all := range ks.accepted {
		last := all[len(all)-1]
		if last.Until.UnixMilli() > w.clock && ks.bucket[key].RunID != last.RunID && !ks.isNoted(last.RunID) && !ks.isAlive(last.RunID) {
			fail("run %s of key %s is in no note, no item and not in KEY", last.RunID, key)
		}
	}
}

// isAlive reports whether a run with a key waits or is watched, as far as the stream tells.
func (ks *simKeys) isAlive(id job.RunID) bool {
	return ks.hasItem(func(d *journal.Deferred) bool {
		return d.Key != nil && d.Key.RunID == id || d.Wish != nil && d.Wish.Key != nil && d.Wish.Key.RunID == id
	})
}

// isNoted reports whether a note lists the run of a key.
func (ks *simKeys) isNoted(id job.RunID) bool {
	return ks.hasItem(func(d *journal.Deferred) bool {
		return slices.ContainsFunc(d.Asked, func(a journal.Asked) bool { return a.Key != nil && a.Key.RunID == id })
	})
}

func (ks *simKeys) hasItem(is func(*journal.Deferred) bool) bool {
	for seq, d := range ks.w.trig.deferred {
		if !ks.w.trig.released[seq] && is(d) {
			return true
		}
	}
	return false
}

// anOwner returns the owner, or at times one that believes to be it; nil: there is none.
func (ks *simKeys) anOwner() *owner {
	if zs := ks.w.zombies; len(zs) > 0 && ks.w.chance(25) {
		return zs[ks.w.rng.IntN(len(zs))]
	}
	return ks.w.owner
}

// week lets so much time pass that keys are forgotten.
func (ks *simKeys) week() {
	if ks.w.chance(10) && ks.w.scale.downtime >= 12*time.Hour {
		ks.w.clock += bus.KeyFor.Milliseconds()
	}
}

func TestRandomHistoriesComeAcrossKeys(t *testing.T) {
	again, freed := 0, 0
	for _, w := range playedWorlds(t) {
		again, freed = again+w.runKeys.again, freed+w.runKeys.freed
	}
	if worlds := len(playedWorlds(t)); again < worlds || freed < worlds/15 {
		t.Errorf("only %d times a key meant a run that was there, and %d times a further one was made", again, freed)
	}
}
