package scheduler_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// keyed asks for a run of g/a with a key.
func (w *world) keyed(key string, change func(*bus.TriggerRequest)) (bus.TriggerReply, error) {
	w.t.Helper()
	r := bus.TriggerRequest{RunID: job.NewRunID(time.Now()), Job: "g/a", Cause: job.CauseAPI, Key: key, By: "ann"}
	change(&r)
	var reply bus.TriggerReply
	err := w.conn.Shards().AskOwner(w.t.Context(), "g/a", "trigger", 0, r, &reply, 5*time.Second)
	return reply, err
}

func (w *world) wantKeyed(key string, change func(*bus.TriggerRequest), existed bool, id job.RunID) job.RunID {
	w.t.Helper()
	reply, err := w.keyed(key, change)
	if err != nil || reply.Existed != existed || id != "" && reply.RunID != id {
		w.t.Errorf("key %q: %+v, %v; want existed %v, run %s", key, reply, err, existed, id)
	}
	return reply.RunID
}

func TestAKeyMakesOneRunUnderOwnersThatChange(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{})
		time.Sleep(time.Second)
		now := func(*bus.TriggerRequest) {}
		in := func(r *bus.TriggerRequest) { r.Due = time.Now().Add(5 * time.Minute) }
		id := w.wantKeyed("order 42 ü", now, false, "")
		later := w.wantKeyed("order 43", in, false, "")
		w.killNode("a") // before it has stored the keys, or after
		w.startNode("b")
		time.Sleep(time.Minute)
		w.wantKeyed("order 42 ü", now, true, id)
		time.Sleep(shard.AskedFor + time.Minute) // no note is left
		w.wantKeyed("order 42 ü", now, true, id)
		w.wantKeyed("order 43", in, true, later)
		w.stopNode("b")
		w.startNode("c")
		time.Sleep(time.Minute)
		if reply, err := w.keyed("order 42 ü", func(r *bus.TriggerRequest) { r.Params = json.RawMessage(`{"n":1}`) }); err != nil || reply.Differs != "params" || reply.RunID != id {
			w.t.Errorf("with other params: %+v, %v", reply, err)
		}
		w.wantDecided("g/a 00:00:31 pending api", "g/a 00:05:31 queued api", "g/a 00:05:31 pending api")
	})
}

func TestTheOwnerKnowsTheRunOfAKey(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{})
		time.Sleep(time.Second)
		id := w.wantKeyed("k", func(r *bus.TriggerRequest) { r.Due = time.Now().Add(time.Minute) }, false, "")
		find := func(key string) (reply bus.KeyReply, err error) {
			err = w.conn.Shards().AskOwner(w.t.Context(), "g/a", bus.VerbKey, 0, bus.KeyRequest{Job: "g/a", Key: key}, &reply, 5*time.Second)
			return reply, err
		}
		for range 2 {
			if reply, err := find("k"); err != nil || reply.RunID != id {
				w.t.Errorf("%+v, %v; want %s", reply, err, id)
			}
			if _, err := find("other"); !errors.Is(err, job.ErrNotFound) {
				w.t.Errorf("another key: %v", err)
			}
			time.Sleep(20 * time.Minute) // only the bucket knows it then
		}
	})
}

func TestOfTwoRequestsWithAKeyAtOnceOneMakesARun(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{})
		time.Sleep(time.Second)
		replies := make(chan bus.TriggerReply, 20)
		for range cap(replies) {
			go func() {
				reply, err := w.keyed("k", func(*bus.TriggerRequest) {})
				if err != nil {
					w.t.Error(err)
				}
				replies <- reply
			}()
		}
		made, ids := 0, map[job.RunID]bool{}
		for range cap(replies) {
			reply := <-replies
			ids[reply.RunID] = true
			if !reply.Existed {
				made++
			}
		}
		if made != 1 || len(ids) != 1 {
			w.t.Errorf("%d requests made runs %v", made, ids)
		}
	})
}

func TestNoKeyIsTakenWhileTheBucketTakesNone(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{})
		time.Sleep(time.Second)
		kv, err := w.conn.JS.Stream(w.t.Context(), "KV_"+bus.BucketKey)
		if err != nil {
			w.t.Fatal(err)
		}
		cfg := kv.CachedInfo().Config
		cfg.MaxBytes = 1 // nothing fits
		if _, err := w.conn.JS.UpdateStream(w.t.Context(), cfg); err != nil {
			w.t.Fatal(err)
		}
		now := func(*bus.TriggerRequest) {}
		id := w.wantKeyed("k", now, false, "")
		time.Sleep(shard.AskedFor + time.Minute)
		if _, err := w.keyed("other", now); !errors.Is(err, job.ErrUnavailable) {
			w.t.Errorf("while KEY is full: %v", err)
		}
		w.wantKeyed("k", now, true, id) // the note is kept for it
		cfg.MaxBytes = 1 << 20
		if _, err := w.conn.JS.UpdateStream(w.t.Context(), cfg); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(time.Minute)
		w.wantKeyed("other", now, false, "")
		stored, err := cluster.RunKeysOf(w.conn).Get(w.t.Context(), journal.KeyOf(&bus.TriggerRequest{Job: "g/a", Key: "k"}).Key)
		if err != nil || stored == nil || stored.RunID != id {
			w.t.Errorf("KEY has %+v, %v", stored, err)
		}
	})
}
