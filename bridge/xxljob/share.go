package xxljob

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
)

// table is what this bridge has heard of the fleet. It decides what the bridge is to do, and does
// nothing itself. Instants are those at which something was heard here: no other clock counts.
type table struct {
	me        string
	bridges   map[string]map[string]time.Time // when they were heard last, by group and id
	instances map[string]*known               // by key
	beats     map[string]*heardBeat
	// settled is since when news have come without a gap. What was not heard of before says nothing.
	settled time.Time
	polled  time.Time
}

// known is an instance as it is stored.
type known struct {
	state.Instance
	revision uint64
	// free is since when nobody serves it; zero while somebody does.
	free time.Time
	// quiet is since when it has been offline without anybody who registers.
	quiet time.Time
	// tried is when we last tried to attach it.
	tried time.Time
}

type heardBeat struct {
	state.Beat
	at time.Time
}

func newTable(me string) *table {
	return &table{me: me, bridges: map[string]map[string]time.Time{}, instances: map[string]*known{}, beats: map[string]*heardBeat{}}
}

// gap is how long news may be missing. After a longer gap, silence counts from its end.
const gap = 2 * time.Second

// polledAt records that all news up to now have been heard.
func (t *table) polledAt(now time.Time) {
	if t.polled.IsZero() || now.Sub(t.polled) > gap {
		t.settled = now
	}
	t.polled = now
}

// apply applies news.
func (t *table) apply(c state.Change, now time.Time) {
	switch {
	case c.Bridge != nil:
		if t.bridges[c.Bridge.Group] == nil {
			t.bridges[c.Bridge.Group] = map[string]time.Time{}
		}
		t.bridges[c.Bridge.Group][c.Bridge.ID] = now
	case c.Beat != nil:
		t.beats[c.Beat.Key()] = &heardBeat{*c.Beat, now}
	case c.Instance != nil:
		k := t.instances[c.Instance.Key()]
		if k == nil {
			k = &known{}
			t.instances[c.Instance.Key()] = k
		}
		if c.Revision >= k.revision {
			k.Instance, k.revision = *c.Instance, c.Revision
		}
	case c.Gone.ID != "":
		delete(t.bridges[c.Gone.Group], c.Gone.ID)
	case c.Removed != "":
		delete(t.instances, c.Removed)
	}
}

// everyGroup stands for all groups, in what a bridge says that serves them all. It is no group's name.
const everyGroup = "_all"

// alive reports whether a bridge of a group lives, as far as can be known.
func (t *table) alive(group, id string, now time.Time) bool {
	if id == t.me {
		return true
	}
	heard := t.bridges[group][id]
	if all := t.bridges[everyGroup][id]; all.After(heard) {
		heard = all
	}
	if heard.IsZero() {
		return false
	}
	if heard.Before(t.settled) { // it could not be heard
		heard = t.settled
	}
	return now.Sub(heard) <= state.DeadAfter
}

// registered returns the beat of an instance that counts: of an executor that is there, or has just
// said that it leaves. Nil is none.
func (t *table) registered(key string, now time.Time) *heardBeat {
	b := t.beats[key]
	if b == nil {
		return nil
	}
	at := b.at
	if at.Before(t.settled) {
		at = t.settled
	}
	if now.Sub(at) > state.Registered {
		return nil
	}
	return b
}

// preferred returns the bridge that should serve an instance: among the live bridges of its group,
// the one with the greatest hash of bridge and instance. So if a bridge dies, the others share its
// instances.
func (t *table) preferred(key, group string, now time.Time) string {
	best, most := "", uint64(0)
	ids := slices.AppendSeq(slices.Collect(maps.Keys(t.bridges[group])), maps.Keys(t.bridges[everyGroup]))
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if !t.alive(group, id, now) {
			continue
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(id + "|" + key)) // never fails
		if sum := mix(h.Sum64()); best == "" || sum > most {
			best, most = id, sum
		}
	}
	return best
}

// mix spreads the bits of a hash: FNV changes the high ones little for texts that end alike.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// act is something that this bridge is to do about an instance.
type act int

const (
	adopt   act = iota // take it over: who served it is gone
	attach             // an executor has registered whom nobody serves
	forget             // it has left after it was drained, and may come again
	release            // another bridge is to serve it
	bury               // nobody has registered at its address for long
)

// dueAct is an act that is due for the instance of a key.
type dueAct struct {
	act act
	key string
}

// buryAfter is how long an instance is remembered whose executor is gone: addresses of containers do not
// come again.
const buryAfter = 10 * time.Minute

// How long an instance without a server waits for the bridge that is to serve it before any other
// takes it, and how often one is tried that cannot be reached.
const (
	waitForPreferred = 4 * time.Second
	attachEvery      = 5 * time.Second
)

// dueActs returns the acts that are due now, in a fixed order.
func (t *table) dueActs(now time.Time) []dueAct {
	var all []dueAct
	for key, k := range t.instances {
		beat := t.registered(key, now)
		present := beat != nil && !beat.Removed
		first := t.preferred(key, k.Group, now)
		if k.Holder != "" && t.alive(k.Group, k.Holder, now) {
			k.free = time.Time{}
			if k.Holder == t.me && first != t.me {
				all = append(all, dueAct{release, key})
			}
			continue
		}
		if k.free.IsZero() {
			k.free = now
		}
		if t.settled.IsZero() || first != t.me && (first == "" || now.Sub(k.free) < waitForPreferred) || !t.serves(k.Group) {
			continue
		}
		if !k.Offline || present {
			k.quiet = time.Time{}
		} else if k.quiet.IsZero() {
			k.quiet = now
		}
		switch {
		case !k.Offline:
			all = append(all, dueAct{adopt, key})
		case !k.quiet.IsZero() && now.Sub(k.quiet) > buryAfter:
			all = append(all, dueAct{bury, key})
		case k.Drained && !present:
			all = append(all, dueAct{forget, key})
		case present && !k.Drained && now.Sub(k.tried) >= attachEvery:
			k.tried = now
			all = append(all, dueAct{attach, key})
		}
	}
	for key, b := range t.beats {
		if t.instances[key] == nil && !b.Removed && t.registered(key, now) != nil && t.preferred(key, b.Group, now) == t.me {
			all = append(all, dueAct{attach, key})
		}
	}
	slices.SortFunc(all, func(a, b dueAct) int { return cmp.Or(cmp.Compare(a.act, b.act), cmp.Compare(a.key, b.key)) })
	return all
}

// serves reports whether this bridge serves a group.
func (t *table) serves(group string) bool {
	_, mine := t.bridges[group][t.me]
	_, all := t.bridges[everyGroup][t.me]
	return mine || all
}

// tidy forgets bridges and executors that have been silent for a long time.
func (t *table) tidy(now time.Time) {
	for _, of := range t.bridges {
		maps.DeleteFunc(of, func(id string, heard time.Time) bool { return id != t.me && now.Sub(heard) > time.Minute })
	}
	maps.DeleteFunc(t.beats, func(_ string, b *heardBeat) bool { return now.Sub(b.at) > 2*state.Registered })
}
