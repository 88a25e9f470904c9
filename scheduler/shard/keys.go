package shard

import (
	"fmt"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/journal"
)

// Keys are the keys for which jobs have made runs, as far as the bucket KEY may not have them, or not for long enough:
// those of recent requests, of runs that wait, and of runs that are alive. All others are in KEY alone.
type Keys struct {
	known    map[string]*runKey // by key; they are in a batch
	pending  map[string]*runKey // asked for, and not committed
	unstored []*runKey          // committed, and maybe not in KEY
	silent   bool               // KEY takes none
	passed   func() int64       // milliseconds since the machine was made
}

// runKey is a key, and the run that it stands for.
type runKey struct {
	journal.KeyedRun
	keys     *Keys
	request  job.RunID // which makes it
	status   job.Status
	reason   string
	alive    int   // how many know it because the run waits or is watched
	notes    int   // how many notes list it
	stored   bool  // KEY has it, or a later run for the key
	storedAt int64 // as [Keys.passed]
}

const (
	// maxUnstored is how many keys of a shard may wait to be stored.
	maxUnstored = 1000
	// storedFor is how long a note is kept after KEY has its keys, in milliseconds: a server that was cut off
	// may take itself for the leader of KEY for 20 s, and lacks them.
	storedFor = 60_000
)

func newKeys(passed func() int64) *Keys {
	return &Keys{known: map[string]*runKey{}, pending: map[string]*runKey{}, passed: passed}
}

// KeyLookup is what is known of the key of a request before the machine gets it.
type KeyLookup struct {
	// Request has the key, and what requests with the same one are compared by.
	Request *journal.KeyedRun
	// Stored is the run that the bucket KEY has for the key; nil: it has none that still counts. It was read from the
	// leader while the shard was owned, and within the last minutes.
	Stored *journal.KeyedRun
	// NoRoom is why the group may have no further key; nil: it may.
	NoRoom error
}

// SubmitKeyed is [Requests.Submit] for a request with a key, which makes one run however often the key comes. If
// another request with the key is not committed yet, SubmitKeyed returns that, and is to be called again when it
// is. Errors are also job.ErrConflict for a key that cannot be reset, and job.ErrUnavailable while no further keys can
// be stored.
func (q *Requests) SubmitKeyed(r bus.TriggerRequest, key KeyLookup) (done *Asked, behind job.RunID, err error) {
	if asked, ok := q.recent.runs[r.RunID]; ok {
		return &asked, "", nil
	}
	if q.asked[r.RunID] {
		return nil, "", nil
	}
	if p := q.keys.pending[key.Request.Key]; p != nil {
		return nil, p.request, nil
	}
	made := q.keys.known[key.Request.Key]
	if made == nil && key.Stored != nil {
		made = &runKey{KeyedRun: *key.Stored}
	}
	if made != nil && !r.Reset {
		return made.answer(r.RunID, key.Request), "", nil
	}
	if err := made.mayReset(&r); err != nil {
		return nil, "", err
	}
	if err := q.keys.mayKeep(key.NoRoom); err != nil {
		return nil, "", err
	}
	if done, err = q.Submit(r); done != nil || err != nil {
		return done, "", err
	}
	k := &runKey{KeyedRun: *key.Request, keys: q.keys, request: r.RunID}
	if made != nil {
		k.Since = made.Since // for now: the new one is later, whatever the clock says
	}
	q.keys.pending[k.Key] = k
	q.commands[len(q.commands)-1].key = k
	return nil, "", nil
}

// RunOf returns the run that stands for a key.
func (ks *Keys) RunOf(key KeyLookup) (id job.RunID, ok bool) {
	if k := ks.known[key.Request.Key]; k != nil {
		return k.RunID, true
	}
	if key.Stored != nil {
		return key.Stored.RunID, true
	}
	return "", false
}

// answer returns what is answered to a request with the same key.
func (k *runKey) answer(request job.RunID, of *journal.KeyedRun) *Asked {
	return &Asked{RunID: request, Of: k.RunID, Version: k.Version, Status: k.status, Reason: k.reason, Differs: k.Differs(of)}
}

// mayReset returns a job.ErrConflict if the key does not stand for another run on request.
func (k *runKey) mayReset(r *bus.TriggerRequest) error {
	switch {
	case k == nil:
		return nil
	case k.alive > 0:
		return fmt.Errorf("%w: %s", job.ErrConflict, refusal.KeyRunAlive.With(k.RunID))
	case r.OwnKey && k.By != r.By:
		return fmt.Errorf("%w: %s", job.ErrConflict, refusal.KeyOfAnother.With(k.RunID))
	}
	return nil
}

// mayKeep returns an error if there may be no further key.
func (ks *Keys) mayKeep(noRoom error) error {
	switch {
	case noRoom != nil:
		return noRoom
	case ks.silent || len(ks.unstored)+len(ks.pending) >= maxUnstored:
		return fmt.Errorf("%w: %s", job.ErrUnavailable, refusal.NoRoomForKeys.String())
	}
	return nil
}

// accept makes k stand for its key, from a batch on that is being built.
func (ks *Keys) accept(b *builder, k *runKey, id job.RunID, version int32, due int64) {
	if k == nil {
		return
	}
	k.RunID, k.Version = id, int(version)
	after := k.Since.Add(1)
	if k.Since = b.now; k.Since.Before(after) {
		k.Since = after
	}
	k.Until = instant(max(due, b.now.UnixMilli())).Add(bus.KeyFor)
	ks.put(k)
}

// put enters a run that is the latest for its key.
func (ks *Keys) put(k *runKey) {
	if old := ks.known[k.Key]; old != nil {
		old.stored = true
	}
	ks.known[k.Key] = k
}

// committed notes that a run is stored with a note, so KEY must have its key, if it has one, before the note goes.
func (ks *Keys) committed(a *Asked) {
	k := a.key
	if k == nil {
		return
	}
	k.status, k.reason = a.Status, a.Reason
	delete(ks.pending, k.Key)
	ks.unstored = append(ks.unstored, k)
}

// restore returns the run for a key that a stored item tells of, nil for nil. It is not in KEY for certain if a note
// does.
func (ks *Keys) restore(of *journal.KeyedRun, noted bool) *runKey {
	if of == nil {
		return nil
	}
	k := ks.known[of.Key]
	if k == nil || k.RunID != of.RunID {
		later := k == nil || of.Since.After(k.Since)
		k = &runKey{KeyedRun: *of, keys: ks, status: job.StatusQueued, stored: true, storedAt: -storedFor}
		if later {
			ks.put(k)
		}
	}
	if noted && k.stored && ks.known[k.Key] == k {
		k.stored = false
		ks.unstored = append(ks.unstored, k)
	}
	return k
}

// hold notes that the run waits, or is watched.
func (k *runKey) hold() {
	if k != nil {
		k.alive++
	}
}

// release is the inverse of hold.
func (k *runKey) release() {
	if k != nil {
		k.alive--
		k.forget()
	}
}

// forget removes a run that KEY has, and that nobody here needs.
func (k *runKey) forget() {
	if k.alive == 0 && k.notes == 0 && k.stored && k.keys.known[k.Key] == k {
		delete(k.keys.known, k.Key)
	}
}

// isSafe reports whether KEY has the run for so long that no leader of it lacks it.
func (k *runKey) isSafe(passed int64) bool { return k.stored && k.storedAt+storedFor <= passed }

// mark returns what is stored of the run, nil for nil.
func (k *runKey) mark() *journal.KeyedRun {
	if k == nil {
		return nil
	}
	return &k.KeyedRun
}

// Unstored returns runs that the bucket KEY is to have, unless it has a later one for the key. The owner stores them,
// and says so with [Keys.Stored].
func (ks *Keys) Unstored() []journal.KeyedRun {
	all := make([]journal.KeyedRun, 0, len(ks.unstored))
	for _, k := range ks.unstored {
		if !k.stored {
			all = append(all, k.KeyedRun)
		}
	}
	return all
}

// Stored reports which runs KEY has now, and whether it has refused others. While it does, there are no further ones.
func (ks *Keys) Stored(ids map[job.RunID]bool, refused bool) {
	ks.silent = refused
	kept := ks.unstored[:0:0]
	for _, k := range ks.unstored {
		if !k.stored && !ids[k.RunID] {
			kept = append(kept, k)
			continue
		}
		k.stored, k.storedAt = true, ks.passed()
		k.forget()
	}
	ks.unstored = kept
}
