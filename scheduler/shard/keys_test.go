package shard

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// keyBench is a bench with the bucket KEY.
type keyBench struct {
	*bench
	bucket map[string]journal.KeyedRun
	asked  int
}

func newKeyBench(t *testing.T, change func(*job.Version)) (*keyBench, *job.Version) {
	t.Helper()
	b := &keyBench{bench: newBench(t), bucket: map[string]journal.KeyedRun{}}
	return b, b.put(0, 1, change)
}

// keyed submits a request of its own with a key, looking KEY up first.
func (b *keyBench) keyed(key string, change func(*bus.TriggerRequest)) (done *Asked, behind job.RunID, err error) {
	b.asked++
	r := bus.TriggerRequest{RunID: job.NewRunID(noon.Add(time.Duration(b.asked) * time.Millisecond)), Job: "g/a", Cause: job.CauseAPI, Key: key, By: "ann"}
	change(&r)
	look := KeyLookup{Request: journal.KeyOf(&r)}
	if stored, ok := b.bucket[look.Request.Key]; ok {
		look.Stored = &stored
	}
	return b.m.Requests.SubmitKeyed(r, look)
}

// made submits a request that makes a run, and returns its id once it is committed.
func (b *keyBench) made(key string, after time.Duration, change func(*bus.TriggerRequest)) job.RunID {
	b.t.Helper()
	if done, behind, err := b.keyed(key, change); done != nil || behind != "" || err != nil {
		b.t.Fatalf("answered %+v, %s, %v", done, behind, err)
	}
	batch := b.m.Step(noon.Add(after).UnixMilli(), bus.MaxBatch)
	b.m.Committed(b.trig.publish(batch.Messages).first)
	return batch.Asked[len(batch.Asked)-1].Reply().RunID
}

// same checks that a request means a run that is there.
func (b *keyBench) same(key string, id job.RunID, change func(*bus.TriggerRequest)) *Asked {
	b.t.Helper()
	done, behind, err := b.keyed(key, change)
	if done == nil || done.Of != id || behind != "" || err != nil {
		b.t.Fatalf("answered %+v, %s, %v; want run %s", done, behind, err, id)
	}
	return done
}

// store has KEY take what it is to have.
func (b *keyBench) store() {
	ids := map[job.RunID]bool{}
	for _, k := range b.m.Keys.Unstored() {
		ids[k.RunID] = true
		if old, ok := b.bucket[k.Key]; !ok || old.Since.Before(k.Since) {
			b.bucket[k.Key] = k
		}
	}
	b.m.Keys.Stored(ids, false)
}

// idle has the machine step without anything to do, every half minute.
func (b *keyBench) idle(from, to time.Duration) {
	for after := from; after <= to; after += IdleAfter * time.Millisecond {
		b.step(after, bus.MaxBatch)
	}
}

// notes returns how many notes the stream has.
func (b *keyBench) notes() (n int) {
	for seq, d := range b.trig.deferred {
		if d.Kind == journal.DeferredAsked && !b.trig.released[seq] {
			n++
		}
	}
	return n
}

func anyJob(*job.Version) {}

func TestAKeyMakesARunOnceThroughoutTheLifeOfTheRun(t *testing.T) {
	b, v := newKeyBench(t, anyJob)
	in := func(r *bus.TriggerRequest) { r.Due = noon.Add(time.Hour) }
	id := b.made("order 42", time.Second, in)
	if done := b.same("order 42", id, in); done.Status != job.StatusQueued || done.Reply().RunID != id {
		t.Errorf("while it waits: %+v", done)
	}
	b.same("order 42", id, func(r *bus.TriggerRequest) { r.Due, r.Expires = noon.Add(2*time.Hour), noon.Add(3*time.Hour) }) // the first stands
	b.store()
	b.takeOver(v)
	b.same("order 42", id, in)
	s := b.publish(time.Hour)
	if len(s.triggers) != 1 || s.triggers[0].RunID != id || !s.triggers[0].Keyed {
		t.Fatalf("triggered %+v", s.triggers)
	}
	b.takeOver(v)
	b.store() // what the successor has read of the note
	b.idle(time.Hour, time.Hour+10*time.Minute)
	if n := b.notes(); n != 0 {
		t.Errorf("%d notes are left", n)
	}
	b.bucket = map[string]journal.KeyedRun{} // after 7 days
	if done := b.same("order 42", id, in); done.Status == "" {
		t.Errorf("while it is alive: %+v", done)
	}
	seq := uint64(0)
	b.ends(&seq, 2*time.Hour, job.StatusSucceeded, s.triggers...)
	b.publish(2 * time.Hour)
	if other := b.made("order 42", 2*time.Hour+time.Second, asIs); other == id {
		t.Error("the key stands for a run that has ended, and that KEY has forgotten")
	}
	if len(b.m.Keys.pending) != 0 || len(b.m.Keys.known) != 1 {
		t.Errorf("known %v, pending %v", b.m.Keys.known, b.m.Keys.pending)
	}
}

func TestAKeyIsOfOneJob(t *testing.T) {
	b, _ := newKeyBench(t, anyJob)
	b.put(0, 1, func(v *job.Version) { v.Job.Job = "g/b" })
	id := b.made("k", time.Second, asIs)
	if other := b.made("k", time.Second, func(r *bus.TriggerRequest) { r.Job = "g/b" }); other == id {
		t.Errorf("both jobs have run %s", id)
	}
	deleted := b.put(time.Minute, 2, func(v *job.Version) { v.Deleted = true })
	b.step(time.Minute, bus.MaxBatch)
	if _, _, err := b.keyed("other", asIs); !errors.Is(err, job.ErrNotFound) {
		t.Errorf("of a deleted job: %v", err)
	}
	b.put(2*time.Minute, deleted.Version+1, func(*job.Version) {})
	b.same("k", id, asIs)
}

func TestAnotherRequestWithAKeyIsRefusedByTheFieldsThatDiffer(t *testing.T) {
	b, v := newKeyBench(t, anyJob)
	given := func(params string, labels job.Labels) func(*bus.TriggerRequest) {
		return func(r *bus.TriggerRequest) { r.Params, r.Labels = json.RawMessage(params), labels }
	}
	id := b.made("k", time.Second, given(`{"a":1,"b":[2,3]}`, job.Labels{"zone": "eu"}))
	check := func() {
		t.Helper()
		for _, c := range []struct {
			params string
			labels job.Labels
			want   string
		}{
			{` {"b": [2, 3], "a": 1} `, job.Labels{"zone": "eu"}, ""},
			{`{"a":1,"b":[3,2]}`, job.Labels{"zone": "eu"}, "params"},
			{`{"a":1,"b":[2,3]}`, job.Labels{"zone": "us"}, "labels"},
			{``, nil, "params, labels"},
		} {
			if got := b.same("k", id, given(c.params, c.labels)).Reply().Differs; got != c.want {
				t.Errorf("%s, %v differ in %q, want %q", c.params, c.labels, got, c.want)
			}
		}
	}
	check()
	b.store()
	b.takeOver(v)
	check()
	text, err := json.Marshal(b.bucket)
	if err != nil || strings.Contains(string(text), "zone") {
		t.Errorf("KEY has %s, %v", text, err)
	}
}

func TestARequestThatIsRefusedTakesNoKey(t *testing.T) {
	b, _ := newKeyBench(t, anyJob)
	for what, change := range map[string]func(*bus.TriggerRequest){
		"due":   func(r *bus.TriggerRequest) { r.Due = noon.Add(400 * 24 * time.Hour) },
		"job":   func(r *bus.TriggerRequest) { r.Job = "g/none" },
		"cause": func(r *bus.TriggerRequest) { r.Cause = job.CauseTest },
		"long":  func(r *bus.TriggerRequest) { r.Key = strings.Repeat("k", bus.MaxKey+1) },
		"bytes": func(r *bus.TriggerRequest) { r.Key = "\xff" },
	} {
		if done, behind, err := b.keyed("k", change); done != nil || behind != "" || err == nil {
			t.Errorf("%s: %+v, %s, %v", what, done, behind, err)
		}
	}
	b.made("k", time.Second, asIs)
}

func TestWhatBecameOfTheRunOfAKeyIsRemembered(t *testing.T) {
	b, _ := newKeyBench(t, func(v *job.Version) { v.Overlap = job.Overlap{Policy: job.OverlapSkip, Limit: 1} })
	b.made("first", time.Second, asIs)
	skipped := b.made("second", time.Second, asIs)
	missed := b.made("third", time.Minute, func(r *bus.TriggerRequest) { r.Expires = noon.Add(time.Second) })
	cancelled := b.made("fourth", time.Minute, func(r *bus.TriggerRequest) { r.Due = noon.Add(time.Hour) })
	b.m.Cancels.Add(cancelled, "not any more", false)
	b.step(2*time.Minute, bus.MaxBatch)
	for key, want := range map[string]struct {
		id     job.RunID
		status job.Status
	}{"second": {skipped, job.StatusSkipped}, "third": {missed, job.StatusMissed}, "fourth": {cancelled, job.StatusQueued}} {
		if done := b.same(key, want.id, asIs); done.Status != want.status {
			t.Errorf("%s: %+v", key, done)
		}
	}
}

func TestAResetFreesTheKeyOfARunThatHasEnded(t *testing.T) {
	b, v := newKeyBench(t, anyJob)
	reset := func(r *bus.TriggerRequest) { r.Reset = true }
	first := b.made("k", time.Second, reset) // there is nothing to free
	if _, _, err := b.keyed("k", reset); !errors.Is(err, job.ErrConflict) || !strings.Contains(err.Error(), string(first)) {
		t.Errorf("while it is alive: %v", err)
	}
	seq := uint64(0)
	b.ends(&seq, 2*time.Second, job.StatusFailed, &bus.Trigger{RunID: first, Job: "g/a", Attempt: 1, Version: 1})
	b.step(2*time.Second, bus.MaxBatch)
	if _, _, err := b.keyed("k", func(r *bus.TriggerRequest) { r.Reset, r.OwnKey, r.By = true, true, "ben" }); !errors.Is(err, job.ErrConflict) {
		t.Errorf("of another: %v", err)
	}
	second := b.made("k", time.Second, func(r *bus.TriggerRequest) { // by a clock that goes back
		r.Reset, r.OwnKey, r.Params = true, true, json.RawMessage(`{"n":2}`)
	})
	if second == first {
		t.Fatalf("run %s again", first)
	}
	check := func() {
		t.Helper()
		b.same("k", second, func(r *bus.TriggerRequest) { r.Params = json.RawMessage(`{"n":2}`) })
	}
	check()
	b.takeOver(v)
	check()
	b.store()
	check()
	b.idle(time.Minute, 10*time.Minute)
	b.takeOver(v)
	check()
	if got := b.bucket[journal.KeyOf(&bus.TriggerRequest{Job: "g/a", Key: "k"}).Key]; got.RunID != second {
		t.Errorf("KEY has %+v", got)
	}
}

func TestANoteIsKeptUntilTheBucketHasItsKeys(t *testing.T) {
	b, v := newKeyBench(t, anyJob)
	id := b.made("k", time.Second, func(r *bus.TriggerRequest) { r.Due = noon.Add(2 * time.Second) })
	seq := uint64(0)
	b.ends(&seq, 4*time.Second, job.StatusSucceeded, b.publish(3*time.Second).triggers...)
	b.idle(time.Minute, 20*time.Minute)
	b.takeOver(v)
	b.idle(20*time.Minute, 40*time.Minute)
	if b.notes() != 1 {
		t.Fatal("the note is gone, and KEY has no key")
	}
	b.same("k", id, asIs)
	b.store()
	b.idle(40*time.Minute, 40*time.Minute+30*time.Second)
	if b.notes() != 1 {
		t.Error("the note is gone at once, which a deposed leader of KEY may lack")
	}
	b.idle(41*time.Minute, 42*time.Minute)
	if n := b.notes(); n != 0 || len(b.m.Keys.known) != 0 {
		t.Errorf("%d notes are left, and %v", n, b.m.Keys.known)
	}
	if done := b.same("k", id, asIs); done.Status != "" {
		t.Errorf("from KEY: %+v", done)
	}
}

func TestARequestWaitsForAnotherWithItsKeyThatIsNotStored(t *testing.T) {
	b, _ := newKeyBench(t, anyJob)
	var first job.RunID
	if _, _, err := b.keyed("k", func(r *bus.TriggerRequest) { first = r.RunID }); err != nil {
		t.Fatal(err)
	}
	if done, behind, err := b.keyed("k", asIs); done != nil || behind != first || err != nil {
		t.Errorf("answered %+v, %s, %v", done, behind, err)
	}
	b.step(time.Second, bus.MaxBatch)
	b.same("k", first, asIs)
}

func TestNoKeyIsTakenThatCannotBeKept(t *testing.T) {
	b, _ := newKeyBench(t, anyJob)
	id := b.made("k", time.Second, asIs)
	b.m.Keys.Stored(nil, true)
	if _, _, err := b.keyed("other", asIs); !errors.Is(err, job.ErrUnavailable) || !strings.Contains(err.Error(), "no room for further keys") {
		t.Errorf("while KEY takes none: %v", err)
	}
	b.same("k", id, asIs)
	b.store()
	for n := range maxUnstored {
		b.made(fmt.Sprint("k", n), time.Second, asIs)
	}
	if _, _, err := b.keyed("other", asIs); !errors.Is(err, job.ErrUnavailable) {
		t.Errorf("with %d keys that are not stored: %v", maxUnstored, err)
	}
	b.store()
	b.made("other", time.Second, asIs)
}
